//! Threads that start and end the library.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use liboffload::library::Library;
use liboffload::runtime::safe::result;
use liboffload::sys::{ol_device_handle_t, ol_errc_t};
use liboffload::{Error, entry};

unsafe extern "C" fn count(_device: ol_device_handle_t, data: *mut c_void) -> bool {
    // SAFETY: the test passes such a pointer. Relaxed: read after the call, by the same thread.
    unsafe { &*data.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
    true
}

fn init() -> Result<(), Error> {
    // SAFETY: null is allowed.
    unsafe { result(entry::init::<Library>(ptr::null(), ptr::null())) }
}

fn shut_down() -> Result<(), Error> {
    // SAFETY: no arguments.
    unsafe { result(entry::shut_down::<Library>(ptr::null())) }
}

fn devices() -> Result<usize, Error> {
    let found = AtomicUsize::new(0);
    // SAFETY: `count` takes a counter, which outlives the call.
    unsafe { result(entry::iterate_devices::<Library>(Some(count), (&raw const found).cast_mut().cast(), ptr::null())) }?;
    Ok(found.into_inner())
}

/// One test: the library is one for the whole process.
#[test]
fn threads_start_and_end_the_library_and_each_finds_it_started() {
    assert_eq!(shut_down().unwrap_err().code, ol_errc_t::OL_ERRC_UNINITIALIZED);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..200 {
                    init().unwrap();
                    assert!(devices().unwrap() >= 1);
                    shut_down().unwrap();
                }
            });
        }
    });
    assert_eq!(devices().unwrap_err().code, ol_errc_t::OL_ERRC_UNINITIALIZED);
    assert_eq!(shut_down().unwrap_err().code, ol_errc_t::OL_ERRC_UNINITIALIZED, "as many ends as starts");
}
