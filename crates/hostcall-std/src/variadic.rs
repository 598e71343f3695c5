//! C's variadic functions, as they are called on each machine.
//!
//! On GPUs the linker lowers a call (`hostcall-build`, `stdlib/variadic.rs`) to the fixed parameters and a pointer to
//! the others, which lie in slots. On the simulator's processor they are in the registers, or places, that more
//! parameters would be in. So the functions are defined with one more parameter here, which stands for what follows.

/// What follows a function's fixed parameters: slots, each as wide as a register. What is narrower has anything above
/// it.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub type More = *const usize;
/// What follows a function's fixed parameters: the first of it.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub type More = usize;

/// The first, which is an `int`.
///
/// # Safety
/// The caller has passed one.
pub(crate) unsafe fn int(more: More) -> i32 {
    #[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
    // SAFETY: the caller's. It is the first half of its slot; where it was passed by an address of a function, the
    // compiler has left no more room for it.
    unsafe {
        more.cast::<i32>().read()
    }
    #[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
    // SAFETY: the caller's. What is above it in its register means nothing.
    unsafe {
        long(more) as i32
    }
}

/// The first, which is a pointer or a `long`.
///
/// # Safety
/// The caller has passed one.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub(crate) unsafe fn long(more: More) -> usize {
    // SAFETY: the caller's.
    unsafe { more.read() }
}

/// The first, which is a pointer or a `long`.
///
/// # Safety
/// The caller has passed one.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub(crate) unsafe fn long(more: More) -> usize {
    more
}
