//! What C++'s compiler calls by itself: `new` and `delete`, and guards of variables that are made when a function is
//! first called. The names are mangled as the Itanium C++ ABI has it (sections 3.3 and 5.1), and the guards are its.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, Ordering};

use hostcall_device::__runtime as device;

use crate::memory::{libc_aligned_alloc, libc_free, libc_malloc};

/// What a block of no bytes has all the same: an address of its own.
fn or_one(size: usize) -> usize {
    size.max(1)
}

/// Nobody could catch `std::bad_alloc`.
fn there(block: *mut u8, size: usize) -> *mut u8 {
    assert!(!block.is_null(), "operator new: the heap has no {size} bytes: give the program more with `--heap BYTES`");
    block
}

macro_rules! new {
    ($($plain:ident $aligned:ident $nothrow:ident $both:ident),*) => {$(
        /// `operator new`, for an object or an array.
        #[unsafe(no_mangle)]
        pub extern "C" fn $plain(size: usize) -> *mut u8 {
            there(libc_malloc(or_one(size)), size)
        }

        /// The same, at an alignment.
        #[unsafe(no_mangle)]
        pub extern "C" fn $aligned(size: usize, align: usize) -> *mut u8 {
            there(libc_aligned_alloc(align, or_one(size)), size)
        }

        /// As `operator new`, or null.
        #[unsafe(no_mangle)]
        pub extern "C" fn $nothrow(size: usize, _nothrow: *const u8) -> *mut u8 {
            libc_malloc(or_one(size))
        }

        /// The same, at an alignment.
        #[unsafe(no_mangle)]
        pub extern "C" fn $both(size: usize, align: usize, _nothrow: *const u8) -> *mut u8 {
            libc_aligned_alloc(align, or_one(size))
        }
    )*};
}

new!(
    libc__Znwm libc__ZnwmSt11align_val_t libc__ZnwmRKSt9nothrow_t libc__ZnwmSt11align_val_tRKSt9nothrow_t,
    libc__Znam libc__ZnamSt11align_val_t libc__ZnamRKSt9nothrow_t libc__ZnamSt11align_val_tRKSt9nothrow_t
);

macro_rules! delete {
    ($($name:ident($($more:ty),*)),*) => {$(
        /// `operator delete`, with what some forms are told besides.
        ///
        /// # Safety
        /// `block` is null or came from an `operator new`, and is not used again.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(block: *mut u8, $(_: $more),*) {
            // SAFETY: the caller's.
            unsafe { libc_free(block) };
        }
    )*};
}

delete!(
    libc__ZdlPv(),
    libc__ZdaPv(),
    libc__ZdlPvm(usize),
    libc__ZdaPvm(usize),
    libc__ZdlPvSt11align_val_t(usize),
    libc__ZdaPvSt11align_val_t(usize),
    libc__ZdlPvmSt11align_val_t(usize, usize),
    libc__ZdaPvmSt11align_val_t(usize, usize)
);

/// A guard: the ABI's first byte, which compiled code looks at, and one of ours.
#[repr(C, align(8))]
pub struct Guard {
    /// Whether the variable is there.
    made: AtomicU8,
    /// Whether a thread is making it.
    making: AtomicU8,
}

/// Whether the caller is to make the variable: 1, and then it says when it has; 0: it is there.
#[unsafe(no_mangle)]
pub extern "C" fn libc___cxa_guard_acquire(guard: &Guard) -> c_int {
    let mut attempt = 0;
    loop {
        // Acquire, both: pair with the releases below, so that the variable is seen, or what one that gave up has left.
        if guard.made.load(Ordering::Acquire) != 0 {
            return 0;
        }
        if guard.making.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // It may have been made in between.
            if guard.made.load(Ordering::Acquire) == 0 {
                return 1;
            }
            guard.making.store(0, Ordering::Release);
            return 0;
        }
        device::end_if_ending();
        attempt += 1;
        device::pause(attempt);
    }
}

/// The variable has been made.
#[unsafe(no_mangle)]
pub extern "C" fn libc___cxa_guard_release(guard: &Guard) {
    guard.made.store(1, Ordering::Release);
    guard.making.store(0, Ordering::Release);
}

/// The variable has not been made: whoever comes next makes it.
#[unsafe(no_mangle)]
pub extern "C" fn libc___cxa_guard_abort(guard: &Guard) {
    guard.making.store(0, Ordering::Release);
}

/// A call of a method that its class has not.
///
/// # Panics
/// Always.
#[unsafe(no_mangle)]
pub extern "C" fn libc___cxa_pure_virtual() {
    panic!("a pure virtual method was called");
}

/// What destructors are told that they belong to: there is one library.
#[unsafe(no_mangle)]
pub static libc___dso_handle: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_threads_one_makes_a_variable_and_the_others_find_it() {
        static GUARD: Guard = Guard { made: AtomicU8::new(0), making: AtomicU8::new(0) };
        static MADE: AtomicU8 = AtomicU8::new(0);
        // One that gives up leaves it to another.
        assert_eq!(libc___cxa_guard_acquire(&GUARD), 1);
        libc___cxa_guard_abort(&GUARD);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    if libc___cxa_guard_acquire(&GUARD) == 1 {
                        // Nothing orders this but the guard.
                        MADE.store(MADE.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        libc___cxa_guard_release(&GUARD);
                    }
                    assert_eq!(MADE.load(Ordering::Relaxed), 1);
                });
            }
        });
    }
}
