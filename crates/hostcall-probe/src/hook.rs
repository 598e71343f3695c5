//! How a program's calls of the driver come here.
//!
//! Programs find the driver's functions by three ways, and each leads here for the few of [`HOOKS`]:
//!
//! * They are linked to `libcuda.so.1`. This library was loaded before it and has functions of the same names.
//! * They ask [`dlsym`], as CUDA's runtime does. This library has a function of that name as well, which asks the
//!   system's.
//! * They ask `cuGetProcAddress`, as CUDA's runtime does for all further ones: [`crate::driver`] has that function.
//!
//! What hostcall itself asks for, within [`enter`], is the driver's own.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::driver::HOOKS;

thread_local! {
    /// Whether this thread does something of ours.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Until it is dropped, what this thread asks of the driver is asked by us, and comes here no more.
pub(crate) struct Entered(());

/// `None`: this thread is within already.
pub(crate) fn enter() -> Option<Entered> {
    // A thread that ends has no such variable any more, and nothing of ours to do.
    let was = INSIDE.try_with(|inside| inside.replace(true)).unwrap_or(true);
    (!was).then_some(Entered(()))
}

impl Drop for Entered {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

/// A function of the driver that this library has one of the same name of.
pub(crate) struct Hook {
    /// Its name in the driver's library.
    pub(crate) name: &'static CStr,
    /// What `cuGetProcAddress` calls it, for whom it is found there.
    pub(crate) known_as: &'static CStr,
    pub(crate) asked: Asked,
    /// Ours.
    pub(crate) ours: *const c_void,
}

// SAFETY: names and addresses of functions, which stay.
unsafe impl Sync for Hook {}

/// Which of several functions of one name `cuGetProcAddress` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The only one.
    Always,
    /// That for programs whose default stream is each thread's own, or the other.
    PerThread(bool),
    /// That of CUDA's versions from 12.0 on, or the one before.
    SinceTwelve(bool),
}

/// The driver's own function.
pub(crate) struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address; `None`: this machine's driver has none of this name.
    pub(crate) fn get(&self) -> Option<NonNull<c_void>> {
        // Pairs with the store below. Relaxed: an address of code, which whoever loads the driver has made visible.
        if let Some(known) = NonNull::new(self.address.load(Ordering::Relaxed)) {
            return Some(known);
        }
        // SAFETY: a name, and a library that is or becomes loaded; the system's function looks for it there.
        let found = unsafe {
            let library = libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_GLOBAL);
            if library.is_null() { ptr::null_mut() } else { system()(library, self.name.as_ptr()) }
        };
        // Pairs with the load above.
        self.address.store(found, Ordering::Relaxed);
        NonNull::new(found)
    }
}

/// What `dlsym` is.
type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The versions under which GNU's C library has `dlsym`: since 2.34, and before on x86-64 and on AArch64.
const VERSIONS: [&CStr; 3] = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];

/// The system's `dlsym`.
fn system() -> Dlsym {
    static SYSTEM: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    // Pairs with the store below. Relaxed: an address of code that is there from the start.
    let mut address = SYSTEM.load(Ordering::Relaxed);
    if address.is_null() {
        for version in VERSIONS {
            // SAFETY: two names; the next library behind this one that has such a function is the C library.
            address = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
            if !address.is_null() {
                break;
            }
        }
        // Pairs with the load above.
        SYSTEM.store(address, Ordering::Relaxed);
    }
    if address.is_null() {
        let text = b"hostcall-probe: this C library's dlsym is not found: only GNU's, from 2.17 on, is known\n";
        // SAFETY: bytes of this text; and nothing can go on without `dlsym`.
        unsafe {
            libc::write(2, text.as_ptr().cast(), text.len());
            libc::abort()
        }
    }
    // SAFETY: the function of this name.
    unsafe { std::mem::transmute::<*mut c_void, Dlsym>(address) }
}

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
    let inside = INSIDE.try_with(Cell::get).unwrap_or(true);
    // What looks for the next function of a name stands before the driver, too, and knows what it wants.
    // SAFETY: a name that the system's function is given as well.
    if library == libc::RTLD_NEXT || inside || unsafe { hook_of(name) }.is_none() { system() } else { ours }
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

/// What `cuGetProcAddress` is to give in the place of what the driver has found.
///
/// # Safety
/// `name` is null or a C string.
pub(crate) unsafe fn in_place_of(name: *const c_char, version: c_int, flags: u64) -> Option<*const c_void> {
    /// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
    const PER_THREAD: u64 = 2;
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(name) };
    let is_meant = |asked| match asked {
        Asked::Always => true,
        Asked::PerThread(is) => is == (flags & PER_THREAD != 0),
        Asked::SinceTwelve(is) => is == (version >= 12_000),
    };
    HOOKS.iter().find(|hook| hook.known_as == name && is_meant(hook.asked)).map(|hook| hook.ours)
}
