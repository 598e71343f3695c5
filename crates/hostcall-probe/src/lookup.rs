//! How a program's calls of the driver come here.
//!
//! Programs find the driver's functions by three ways, and each leads here for the few of [`HOOKS`]:
//!
//! * They are linked to `libcuda.so.1`. This library was loaded before it and has functions of the same names.
//! * They ask [`dlsym`], as CUDA's runtime does. This library has a function of that name as well, which asks the
//!   system's.
//! * They ask `cuGetProcAddress`, as CUDA's runtime does for all further ones: [`crate::driver`] has that function.
//!
//! What hostcall itself asks for, within [`enter`](crate::real::enter), is the driver's own.

use std::ffi::{CStr, c_char, c_void};

use crate::driver::HOOKS;
use crate::real::{Dlsym, Hook, is_inside, system};

/// `dlsym`, for all libraries of the process.
///
/// It jumps to the function that [`chosen`] says, with what it was given: the system's function looks at who called it
/// (`RTLD_NEXT`), and so must be the one that was called.
///
/// # Safety
/// As for the system's.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8", // a call wants the stack aligned to 16 bytes
        "call {chosen}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        chosen = sym chosen,
    )
}

/// `dlsym`, for all libraries of the process.
///
/// It jumps to the function that [`chosen`] says, with what it was given: the system's function looks at who called it
/// (`RTLD_NEXT`), and so must be the one that was called.
///
/// # Safety
/// As for the system's.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "stp x0, x1, [sp, #-32]!",
        "str x30, [sp, #16]",
        "bl {chosen}",
        "mov x16, x0",
        "ldr x30, [sp, #16]",
        "ldp x0, x1, [sp], #32",
        "br x16",
        chosen = sym chosen,
    )
}

/// The function that answers: the system's, or for names of [`HOOKS`] [`ours`].
unsafe extern "C" fn chosen(library: *mut c_void, name: *const c_char) -> Dlsym {
    // What looks for the next function of a name stands before the driver, too, and knows what it wants.
    // SAFETY: a name that the system's function is given as well.
    if library == libc::RTLD_NEXT || is_inside() || unsafe { hook_of(name) }.is_none() { system() } else { ours }
}

/// The hook of a name.
///
/// # Safety
/// `name` is null or a C string.
unsafe fn hook_of(name: *const c_char) -> Option<&'static Hook> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(name) };
    // Nearly all names are of others.
    name.to_bytes().starts_with(b"cu").then(|| HOOKS.iter().find(|hook| hook.name == name)).flatten()
}

/// Ours of a function, where the driver has it.
unsafe extern "C" fn ours(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller's library and name.
    let (real, hook) = unsafe { (system()(library, name), hook_of(name)) };
    match hook {
        Some(hook) if !real.is_null() => hook.ours.cast_mut(),
        _ => real,
    }
}
