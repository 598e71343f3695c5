
; A workgroup has one lane.
define internal ptr addrspace(3) @hostcall_stack_place() alwaysinline convergent nounwind {
  ret ptr addrspace(3) @hostcall_stack
}

; A lane's own memory is used upwards, from 0.
define internal i64 @hostcall_own_address(ptr %address) alwaysinline convergent nounwind {
  %own = addrspacecast ptr %address to ptr addrspace(5)
  %at = ptrtoint ptr addrspace(5) %own to i32
  %wide = zext i32 %at to i64
  %left = sub i64 4294967296, %wide
  ret i64 %left
}

; `private_segment_size` of the packet that launched the kernel (HSA Runtime Programmer's Reference Manual, "Kernel dispatch packet").
define internal i64 @hostcall_own_bytes() alwaysinline convergent nounwind {
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %place = getelementptr i8, ptr addrspace(4) %packet, i64 24
  %bytes = load i32, ptr addrspace(4) %place, align 8
  %wide = zext i32 %bytes to i64
  ret i64 %wide
}

define internal void @hostcall_stack_check() alwaysinline convergent nounwind {
  %here = alloca i32, align 4, addrspace(5)
  %near = addrspacecast ptr addrspace(5) %here to ptr
  %at = call i64 @hostcall_own_address(ptr %near)
  %floor = load i64, ptr addrspace(3) @hostcall_floor, align 8
  %full = icmp ult i64 %at, %floor
  br i1 %full, label %overflow, label %fits

fits:
  ret void

overflow:
  call void @hostcall_own_full()
  unreachable
}
