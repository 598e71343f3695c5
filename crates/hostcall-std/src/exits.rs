//! What runs when the process exits: functions that C's programs and libraries have named (`atexit`), the last first,
//! then those that are marked (`destructor`), and then what C's streams have in their buffers.

use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A function that was named.
#[derive(Clone, Copy)]
enum Function {
    Plain(extern "C" fn()),
    With(extern "C" fn(*mut c_void), *mut c_void),
}

struct Named {
    function: Function,
    next: *mut Named,
}

/// The last that was named and has not run.
static LAST: AtomicPtr<Named> = AtomicPtr::new(null_mut());
/// What runs behind them all, as a number; 0 for none.
static END: AtomicUsize = AtomicUsize::new(0);

fn name(function: Function) -> c_int {
    let new = Box::into_raw(Box::new(Named { function, next: null_mut() }));
    let mut next = LAST.load(Ordering::Relaxed);
    loop {
        // SAFETY: nobody else knows of it yet.
        unsafe { (*new).next = next };
        // Release pairs with the acquire in `take`: what was written is seen.
        match LAST.compare_exchange_weak(next, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return 0,
            Err(other) => next = other,
        }
    }
}

/// The last that was named and has not run.
fn take() -> Option<Function> {
    let mut last = LAST.load(Ordering::Acquire);
    loop {
        if last.is_null() {
            return None;
        }
        // SAFETY: made by `name`. It is never freed, so a thread that exits at the same time may look at it, too.
        let Named { function, next } = unsafe { &*last };
        match LAST.compare_exchange_weak(last, *next, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => return Some(*function),
            Err(other) => last = other,
        }
    }
}

/// Runs what was named, and what those functions name meanwhile; then the end.
pub(crate) fn run() {
    while let Some(function) = take() {
        match function {
            Function::Plain(function) => function(),
            Function::With(function, argument) => function(argument),
        }
    }
    #[cfg(all(hostcall_device, not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
    crate::constructors::destroy();
    // Acquire pairs with the release in `sys_at_end`.
    let end = END.load(Ordering::Acquire);
    if end != 0 {
        // SAFETY: the number came from such a function.
        unsafe { core::mem::transmute::<usize, extern "C" fn()>(end)() };
    }
}

/// Names a function that runs when the process exits: 0.
#[unsafe(no_mangle)]
pub extern "C" fn libc_atexit(function: extern "C" fn()) -> c_int {
    name(Function::Plain(function))
}

/// As [`libc_atexit`], for a function with an argument: what C++ names destructors of statics by.
#[unsafe(no_mangle)]
pub extern "C" fn libc___cxa_atexit(function: extern "C" fn(*mut c_void), argument: *mut c_void, _library: *const c_void) -> c_int {
    name(Function::With(function, argument))
}

/// Names the one function that runs behind all others: C's streams then write what is in their buffers.
#[unsafe(no_mangle)]
pub extern "C" fn sys_at_end(function: extern "C" fn()) {
    END.store(function as usize, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn the_last_that_was_named_runs_first_and_the_end_last() {
        static SEEN: AtomicU32 = AtomicU32::new(0);
        fn note(digit: u32) {
            SEEN.store(SEEN.load(Ordering::Relaxed) * 10 + digit, Ordering::Relaxed);
        }
        extern "C" fn one() {
            note(1);
            // Named while others run: it is next.
            libc_atexit(two);
        }
        extern "C" fn two() {
            note(2);
        }
        extern "C" fn with(argument: *mut c_void) {
            note(argument as usize as u32);
        }
        extern "C" fn end() {
            note(9);
        }
        sys_at_end(end);
        libc_atexit(one);
        libc___cxa_atexit(with, 3 as *mut c_void, core::ptr::null());
        run();
        assert_eq!(SEEN.load(Ordering::Relaxed), 3129);
        assert!(take().is_none());
    }
}
