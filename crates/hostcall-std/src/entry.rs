//! The kernel that runs a program.
//!
//! Launched with one lane in each workgroup: the first runs `main`, every other waits to be a thread. `std`'s own entry, `runtime_entry`, fills
//! the environment in before it calls `main`.

use crate::services::StdSystem;
use crate::{lane, thread};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::c_char;
use core::ptr::null;
use hostcall_device::__runtime::{self as device, Environment};
use hostcall_device::{CallError, wave};

unsafe extern "C" {
    /// `std`'s: runs `main`, and ends the process.
    fn runtime_entry(argc: i32, argv: *const *const c_char, env: *const *const c_char) -> !;
}

/// Bytes that the first call for a text offers room for.
const FIRST: usize = 128;

/// A text whose length is not known, as a C string that lives as long as the program.
fn text(call: impl Fn(&mut [u8]) -> Result<Option<u32>, CallError>) -> Option<*const c_char> {
    let mut room = FIRST;
    loop {
        let mut bytes = vec![0u8; room];
        // A host that does not answer has nothing for us: the program runs without.
        let len = call(&mut bytes).ok()?? as usize;
        if len < room {
            bytes.truncate(len + 1);
            bytes[len] = 0;
            return Some(bytes.leak().as_ptr().cast());
        }
        room = len + 1;
    }
}

/// Texts one after another, and a null.
fn texts(call: impl Fn(u32, &mut [u8]) -> Result<Option<u32>, CallError>) -> Vec<*const c_char> {
    let mut all: Vec<_> = (0..).map_while(|index| text(|into| call(index, into))).collect();
    all.push(null());
    all
}

/// Runs the program: `main` on the first workgroup, threads on the others.
#[cfg(feature = "entry")]
#[hostcall_device::kernel(krate = hostcall_device)]
pub fn hostcall_std() {
    run();
}

/// What the entry kernel does.
pub fn run() {
    if wave::local_index() != 0 {
        return;
    }
    lane::enter();
    let group = wave::group_index();
    if group != 0 {
        return thread::serve(group - 1);
    }
    assert!(
        device::heap_bytes() > 0,
        "the program has no heap: give it one with `--heap BYTES`, or `.heap(bytes)` on the server's builder"
    );
    let [x, y, z] = wave::group_count().map(|n| n as usize);
    thread::prepare(x * y * z - 1);
    let mut arguments = texts(|index, into| Environment::arg(index, into));
    if arguments.len() == 1 {
        arguments.insert(0, c"program".as_ptr());
    }
    let variables = texts(StdSystem::variable);
    let count = arguments.len() as i32 - 1;
    // SAFETY: both are arrays of C strings that end with a null and are never freed; `std` is linked and not yet initialised.
    unsafe { runtime_entry(count, arguments.leak().as_ptr(), variables.leak().as_ptr()) }
}
