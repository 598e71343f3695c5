
; A thread's stack: where it ends (its last frame begins there), and how far down it may come.
@hostcall_stack = internal addrspace(3) global [LANES x [2 x ptr]] undef, align 16
; How far down the memory of a lane's own, which holds return addresses and registers, may come. Of each kind of GPU are @hostcall_stack_place, where a lane's
; two words are, @hostcall_own_address, of an address in that memory a number that falls as more of it is used, @hostcall_own_bytes, how much there is, or 0,
; and @hostcall_stack_check.
@hostcall_floor = internal addrspace(3) global i64 undef, align 8

define internal ptr @hostcall_stack_top() alwaysinline convergent nounwind {
  %place = call ptr addrspace(3) @hostcall_stack_place()
  %top = load ptr, ptr addrspace(3) %place, align 16
  ret ptr %top
}

define internal void @hostcall_stack_restore(ptr %top) alwaysinline convergent nounwind {
  %place = call ptr addrspace(3) @hostcall_stack_place()
  store ptr %top, ptr addrspace(3) %place, align 16
  ret void
}

define internal ptr @hostcall_stack_take(ptr %top, i64 %bytes) alwaysinline convergent nounwind {
  %place = call ptr addrspace(3) @hostcall_stack_place()
  %second = getelementptr i8, ptr addrspace(3) %place, i32 8
  %limit = load ptr, ptr addrspace(3) %second, align 8
  %end = ptrtoint ptr %top to i64
  %start = ptrtoint ptr %limit to i64
  %room = sub i64 %end, %start
  %over = icmp ugt i64 %bytes, %room
  br i1 %over, label %overflow, label %fits

fits:
  %more = add i64 %bytes, 15
  %rounded = and i64 %more, -16
  %down = sub i64 0, %rounded
  %frame = getelementptr i8, ptr %top, i64 %down
  store ptr %frame, ptr addrspace(3) %place, align 16
  ret ptr %frame

overflow:
  call void @hostcall_stack_full()
  unreachable
}

define internal ptr @hostcall_stack_take_aligned(ptr %top, i64 %bytes, i64 %align) alwaysinline convergent nounwind {
  %more = add i64 %bytes, %align
  %frame = call ptr @hostcall_stack_take(ptr %top, i64 %more)
  %at = ptrtoint ptr %frame to i64
  %negative = sub i64 0, %at
  %mask = add i64 %align, -1
  %gap = and i64 %negative, %mask
  %aligned = getelementptr i8, ptr %frame, i64 %gap
  ret ptr %aligned
}

; Without parameters, because nearly every function calls one of these.
define internal void @hostcall_stack_full() cold noinline noreturn convergent nounwind minsize optsize {
  call void @hostcall_stack_over(i32 0)
  unreachable
}

define internal void @hostcall_own_full() cold noinline noreturn convergent nounwind minsize optsize {
  call void @hostcall_stack_over(i32 1)
  unreachable
}

define internal void @hostcall_stack_over(i32 %which) cold noinline noreturn convergent nounwind minsize optsize {
  %place = call ptr addrspace(3) @hostcall_stack_place()
  %second = getelementptr i8, ptr addrspace(3) %place, i32 8
  store ptr null, ptr addrspace(3) %second, align 8
  store i64 0, ptr addrspace(3) @hostcall_floor, align 8
  %top = load ptr, ptr addrspace(3) %place, align 16
  call void @__hostcall_stack_overflow(i32 %which, ptr %top)
  call void @llvm.trap()
  unreachable
}

; %own is memory of the lane's own, aligned to 16: what the runtime answers with, and behind that a first stack.
define internal void @hostcall_stack_begin(ptr %own, i64 %bytes, i32 %thread) alwaysinline convergent nounwind {
  %place = call ptr addrspace(3) @hostcall_stack_place()
  %second = getelementptr i8, ptr addrspace(3) %place, i32 8
  %top = getelementptr i8, ptr %own, i64 %bytes
  %first_limit = getelementptr i8, ptr %own, i64 32
  store ptr %top, ptr addrspace(3) %place, align 16
  store ptr %first_limit, ptr addrspace(3) %second, align 8
  store i64 0, ptr addrspace(3) @hostcall_floor, align 8
  %near = ptrtoint ptr %own to i64
  %near_there = call i64 @hostcall_own_address(ptr %own)
  %own_bytes = call i64 @hostcall_own_bytes()
  call void @__hostcall_stack_begin(ptr %own, i64 %near, i64 %near_there, i64 %own_bytes, i32 %thread)
  %end = load i64, ptr %own, align 16
  %limit_at = getelementptr i8, ptr %own, i64 8
  %limit = load i64, ptr %limit_at, align 8
  %floor_at = getelementptr i8, ptr %own, i64 16
  %floor = load i64, ptr %floor_at, align 16
  store i64 %floor, ptr addrspace(3) @hostcall_floor, align 8
  %nothing = icmp eq i64 %end, 0
  br i1 %nothing, label %done, label %move

move:
  %new_top = inttoptr i64 %end to ptr
  store ptr %new_top, ptr addrspace(3) %place, align 16
  %new_limit = inttoptr i64 %limit to ptr
  store ptr %new_limit, ptr addrspace(3) %second, align 8
  br label %done

done:
  ret void
}
