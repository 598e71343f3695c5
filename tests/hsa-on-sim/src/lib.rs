//! A stand-in for `libhsa-runtime64.so.1` whose GPUs are this project's CPU simulator, for tests of everything above
//! the instruction set.
//!
//! It exports the functions that `offload::hsa` looks up, and does what the HSA specification and AMD's extension say
//! of them. Images are the simulator's; kernels run when the packet processor takes a packet that points at them. Where
//! the specification leaves a choice, it takes the unpleasant one:
//!
//! * packets behind the last doorbell are not looked at, and doorbells may ring in any order; a packet whose header is
//!   *invalid* stops the queue until the header is published;
//! * packets without the barrier bit run beside those before them;
//! * memory comes full of junk, and copies check that the agent was allowed to reach both sides;
//! * waits return early now and then, and handlers are called last come, first served;
//! * an engine does its copies one after another, and one that waits for a signal holds up those behind it; with
//!   `HSA_ENABLE_SDMA=0` copies wait until no kernel runs;
//! * a kernel that faults stops its queue, and its signals never fire.
//!
//! What is no object of the interface (a destroyed signal, an unknown kernel) ends the process with a sentence, where a
//! real runtime may do anything.
//!
//! `HSA_ON_SIM` lists the GPUs, separated by semicolons: each is a simulator's settings (`offload::SimConfig` as text),
//! with the word `nobar` for one whose memory the host cannot reach, and `counter=HZ` for one whose constant counter
//! has so many ticks a second (0: it does not say). The default is `;nobar;lanes=64`.

pub mod agents;
pub mod code;
pub mod engines;
pub mod memory;
pub mod queues;
pub mod signals;
mod world;

use std::ffi::c_char;

use offload::hsa::sys::hsa_status_t;

/// Ends the process: a caller did what the interface forbids.
pub(crate) fn misuse(what: &str) -> ! {
    eprintln!("hsa-on-sim: {what}");
    std::process::abort()
}

/// `hsa_init`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_init() -> hsa_status_t {
    world::start()
}

/// `hsa_shut_down`. Nothing is undone.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_shut_down() -> hsa_status_t {
    hsa_status_t::SUCCESS
}

/// `hsa_status_string`.
///
/// # Safety
/// `text` is a place for a pointer, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_status_string(status: hsa_status_t, text: *mut *const c_char) -> hsa_status_t {
    let known = match status {
        hsa_status_t::SUCCESS => c"success",
        hsa_status_t::ERROR => c"an error",
        hsa_status_t::INVALID_ARGUMENT => c"an argument makes no sense",
        hsa_status_t::INVALID_ALLOCATION => c"memory of this size cannot be had",
        hsa_status_t::INVALID_AGENT => c"no such agent",
        hsa_status_t::INVALID_SIGNAL => c"no such signal",
        hsa_status_t::INVALID_QUEUE => c"no such queue",
        hsa_status_t::OUT_OF_RESOURCES => c"out of resources",
        hsa_status_t::INVALID_PACKET_FORMAT => c"a packet makes no sense",
        hsa_status_t::INCOMPATIBLE_ARGUMENTS => c"the arguments do not go together",
        hsa_status_t::INVALID_CODE_OBJECT => c"the code object is invalid",
        hsa_status_t::INVALID_SYMBOL_NAME => c"there is no symbol of this name",
        hsa_status_t::EXCEPTION => c"a kernel raised an exception",
        _ => return hsa_status_t::INVALID_ARGUMENT,
    };
    // SAFETY: the caller's; the text is static.
    unsafe { put(text.cast(), known.as_ptr()) }
}

/// Writes a value of an information function.
///
/// # Safety
/// `place` has room for a `T`, or is null.
pub(crate) unsafe fn put<T>(place: *mut std::ffi::c_void, value: T) -> hsa_status_t {
    if place.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    unsafe { place.cast::<T>().write_unaligned(value) };
    hsa_status_t::SUCCESS
}

/// Writes text and its NUL.
///
/// # Safety
/// `place` has room for both, or is null.
pub(crate) unsafe fn put_text(place: *mut std::ffi::c_void, text: &str) -> hsa_status_t {
    if place.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast(), text.len());
        place.cast::<u8>().add(text.len()).write(0);
    }
    hsa_status_t::SUCCESS
}
