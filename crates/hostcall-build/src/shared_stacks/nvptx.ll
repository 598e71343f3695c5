
define internal i32 @hostcall_stack_lane() alwaysinline convergent nounwind {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %nx = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ny = call i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %zy = mul i32 %z, %ny
  %row = add i32 %zy, %y
  %rows = mul i32 %row, %nx
  %lane = add i32 %rows, %x
  ret i32 %lane
}

define internal ptr addrspace(3) @hostcall_stack_place_of(i32 %lane) alwaysinline convergent nounwind {
  %last = add i32 LANES, -1
  %index = and i32 %lane, %last
  %place = getelementptr [2 x ptr], ptr addrspace(3) @hostcall_stack, i32 %index
  ret ptr addrspace(3) %place
}

define internal ptr addrspace(3) @hostcall_stack_place() alwaysinline convergent nounwind {
  %lane = call i32 @hostcall_stack_lane()
  %place = call ptr addrspace(3) @hostcall_stack_place_of(i32 %lane)
  ret ptr addrspace(3) %place
}

define internal i64 @hostcall_own_address(ptr %address) alwaysinline convergent nounwind {
  %own = addrspacecast ptr %address to ptr addrspace(5)
  %at = ptrtoint ptr addrspace(5) %own to i64
  ret i64 %at
}

; The host says so.
define internal i64 @hostcall_own_bytes() alwaysinline convergent nounwind {
  ret i64 0
}

define internal i1 @hostcall_own_is_full() alwaysinline convergent nounwind {
  %at = call i64 asm sideeffect "stacksave.u64 $0;", "=l"()
  %floor = load i64, ptr addrspace(3) @hostcall_floor, align 8
  %full = icmp ult i64 %at, %floor
  ret i1 %full
}

define internal void @hostcall_stack_check() alwaysinline convergent nounwind {
  %full = call i1 @hostcall_own_is_full()
  br i1 %full, label %overflow, label %fits

fits:
  ret void

overflow:
  call void @hostcall_own_full()
  unreachable
}

; Calls %there in the memory of the wave's next lane, on this lane's stack, if there is one that helps a thread: with where the stack ends, below which lies a
; block (`further.rs`).
define internal void @hostcall_go_on(ptr %there) cold noinline convergent nounwind minsize optsize {
  %lane = call i32 @hostcall_stack_lane()
  %place = call ptr addrspace(3) @hostcall_stack_place_of(i32 %lane)
  %top = load ptr, ptr addrspace(3) %place, align 16
  %end = call ptr @hostcall_stack_take(ptr %top, i64 BLOCK)
  %words = load [2 x ptr], ptr addrspace(3) %place, align 16
  %next_lane = add i32 %lane, 1
  %next = call ptr addrspace(3) @hostcall_stack_place_of(i32 %next_lane)
  store [2 x ptr] %words, ptr addrspace(3) %next, align 16
  %went = call i32 @__hostcall_stack_go_on(ptr %there, ptr %top)
  %full = icmp eq i32 %went, 0
  br i1 %full, label %overflow, label %done

done:
  store ptr %top, ptr addrspace(3) %place, align 16
  ret void

overflow:
  call void @hostcall_own_full()
  unreachable
}
