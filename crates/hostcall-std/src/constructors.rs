//! Functions that run before `main` and behind all others: what C marks `constructor` and `destructor`, and what makes
//! C++'s variables outside of functions.
//!
//! They call what any function of the program calls, so a thread of the program runs them, never who loads its image.
//! This is how the simulator has them, where images are shared libraries; their linker hides both lists from the
//! system's loader (`hostcall-build`, `constructors`, which also writes the calls that GPUs' images have).

use core::ffi::{c_char, c_int};

type Constructor = extern "C" fn(c_int, *const *const c_char, *const *const c_char);
type Destructor = extern "C" fn();

unsafe extern "C" {
    // The linker's: where each list begins and ends.
    static __init_array_start: [Option<Constructor>; 0];
    static __init_array_end: [Option<Constructor>; 0];
    static __fini_array_start: [Option<Destructor>; 0];
    static __fini_array_end: [Option<Destructor>; 0];
}

/// The functions of a list.
///
/// # Safety
/// Between the two addresses are functions of that type, or nulls, and nothing else.
unsafe fn list<F: Copy>(begin: *const [Option<F>; 0], end: *const [Option<F>; 0]) -> &'static [Option<F>] {
    let count = (end.addr() - begin.addr()) / size_of::<Option<F>>();
    // SAFETY: the caller's; images stay while their programs run.
    unsafe { core::slice::from_raw_parts(begin.cast(), count) }
}

/// Runs those that come before `main`, with what it gets.
pub(crate) fn construct(count: c_int, arguments: *const *const c_char, variables: *const *const c_char) {
    // SAFETY: the linker's lists of such functions.
    let all = unsafe { list(&raw const __init_array_start, &raw const __init_array_end) };
    all.iter().flatten().for_each(|constructor| constructor(count, arguments, variables));
}

/// Runs those that come last, the last first.
pub(crate) fn destroy() {
    // SAFETY: the linker's lists of such functions.
    let all = unsafe { list(&raw const __fini_array_start, &raw const __fini_array_end) };
    all.iter().rev().flatten().for_each(|destructor| destructor());
}
