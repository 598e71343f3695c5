//! A child that `fork` has made of a process that has started the library.
#![cfg(unix)]

use std::ffi::c_void;
use std::ptr;

use liboffload::library::Library;
use liboffload::runtime::safe::result;
use liboffload::sys::{ol_device_handle_t, ol_errc_t, ol_queue_handle_t};
use liboffload::{Error, entry};

unsafe extern "C" fn take(device: ol_device_handle_t, found: *mut c_void) -> bool {
    // SAFETY: the test passes such a pointer.
    unsafe { found.cast::<ol_device_handle_t>().write(device) };
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

/// The last device.
fn device() -> Result<ol_device_handle_t, Error> {
    let mut found: ol_device_handle_t = ptr::null_mut();
    // SAFETY: `take` takes a place for a device, which outlives the call.
    unsafe { result(entry::iterate_devices::<Library>(Some(take), (&raw mut found).cast(), ptr::null())) }?;
    Ok(found)
}

/// Waits for what is in a queue, of which there is nothing.
fn sync(queue: ol_queue_handle_t) -> Result<(), Error> {
    // SAFETY: a handle is a number that is looked up.
    unsafe { result(entry::sync_queue::<Library>(queue, ptr::null())) }
}

fn is_refused<T>(result: Result<T, Error>) -> bool {
    result.is_err_and(|error| error.code == ol_errc_t::OL_ERRC_UNINITIALIZED && error.details().contains("forked"))
}

/// One test: the library is one for the whole process.
#[test]
fn a_forked_child_is_refused_by_every_function_and_the_parent_goes_on() {
    init().unwrap();
    assert!(!device().unwrap().is_null());
    // SAFETY: the child calls what refuses at once, and ends without running anything else.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: a child that hangs is ended by the system.
        unsafe { libc::alarm(60) };
        let refused =
            is_refused(device()) && is_refused(init()) && is_refused(sync(ptr::without_provenance_mut(1))) && is_refused(shut_down());
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = 0;
    // SAFETY: the child just made, an out parameter.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert!(!device().unwrap().is_null());
    shut_down().unwrap();
}
