//! C's variadic functions, as they are called on each machine.
//!
//! On GPUs the linker has LLVM lower a call (`expand-variadics`) to the fixed parameters and a pointer to the others, which lie in memory one after another,
//! each as its type is aligned. On the simulator's processor they are in the registers, or places, that more parameters would be in. So the functions
//! are defined with one more parameter here, which stands for what follows.

/// What follows a function's fixed parameters.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub type More = *const u8;
/// What follows a function's fixed parameters: the first of it.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub type More = usize;

/// The first, which is an `int`.
///
/// # Safety
/// The caller has passed one.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub(crate) unsafe fn int(more: More) -> i32 {
    // SAFETY: the caller's: it lies at the beginning.
    unsafe { more.cast::<i32>().read() }
}

/// The first, which is a pointer or a `long`.
///
/// # Safety
/// The caller has passed one.
#[cfg(any(target_arch = "nvptx64", target_arch = "amdgpu"))]
pub(crate) unsafe fn long(more: More) -> usize {
    // SAFETY: the caller's: it lies at the beginning.
    unsafe { more.cast::<usize>().read() }
}

/// The first, which is an `int`.
///
/// # Safety
/// The caller has passed one.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub(crate) unsafe fn int(more: More) -> i32 {
    // What is above it in its register means nothing.
    more as i32
}

/// The first, which is a pointer or a `long`.
///
/// # Safety
/// The caller has passed one.
#[cfg(not(any(target_arch = "nvptx64", target_arch = "amdgpu")))]
pub(crate) unsafe fn long(more: More) -> usize {
    more
}
