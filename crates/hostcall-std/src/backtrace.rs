//! The functions by which crates walk the stack themselves (`backtrace`, and error reports over it). A device has no
//! tables of its frames, so a walk ends before its first one, and a report says that it has none.
//!
//! Names and values are those of the Itanium C++ ABI's exception handling, level I, and of Linux's `link.h`.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

/// `_URC_END_OF_STACK`.
const END_OF_STACK: c_int = 5;

/// Would call `trace` for each frame.
#[unsafe(no_mangle)]
pub extern "C" fn libc__Unwind_Backtrace(_trace: *mut c_void, _argument: *mut c_void) -> c_int {
    END_OF_STACK
}

/// Functions about one frame, of which there is none.
macro_rules! of_a_frame {
    ($($name:ident($($parameter:ty),*)),+) => { $(
        /// About a frame; there is none.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $parameter),*) -> *mut c_void {
            null_mut()
        }
    )+ };
}
of_a_frame!(
    libc__Unwind_GetIP(*mut c_void),
    libc__Unwind_GetIPInfo(*mut c_void, *mut c_int),
    libc__Unwind_GetCFA(*mut c_void),
    libc__Unwind_FindEnclosingFunction(*mut c_void)
);

/// Would call `visit` for each loaded library; there is one program.
#[unsafe(no_mangle)]
pub extern "C" fn libc_dl_iterate_phdr(_visit: *mut c_void, _argument: *mut c_void) -> c_int {
    0
}
