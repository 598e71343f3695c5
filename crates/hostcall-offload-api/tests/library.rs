//! The safe wrappers, over the library itself.

use std::ffi::c_void;
use std::ptr;

use liboffload::library::Library;
use liboffload::runtime::safe::take_drop_errors;
use liboffload::safe::{self, Device};
use liboffload::sys::{ol_alloc_type_t, ol_device_handle_t, ol_device_type_t, ol_errc_t, ol_event_flags_t};

liboffload::export_entry_points!(Library);

unsafe extern "C" fn take_host(device: ol_device_handle_t, found: *mut c_void) -> bool {
    // SAFETY: the library gave this handle.
    let it = unsafe { Device::from_raw(device) };
    let is_host = it.info_type().is_ok_and(|kind| kind == ol_device_type_t::OL_DEVICE_TYPE_HOST);
    if is_host {
        // SAFETY: the test passes such a pointer.
        unsafe { found.cast::<ol_device_handle_t>().write(device) };
    }
    !is_host
}

/// One test: the library is one for the whole process.
#[test]
fn the_safe_wrappers_work_over_the_library() {
    // SAFETY: null is allowed.
    unsafe { safe::init(None) }.unwrap();
    let mut raw: ol_device_handle_t = ptr::null_mut();
    // SAFETY: the callback writes a device to where the data points.
    unsafe { safe::iterate_devices(Some(take_host), (&raw mut raw).cast()) }.unwrap();
    // SAFETY: the library gave this handle.
    let device = unsafe { Device::from_raw(raw) };
    assert!(!device.info_name().unwrap().is_empty());
    assert_eq!(device.info_platform().unwrap().info_name().unwrap(), "HOST");
    assert!(device.info_cooperative_launch_support().unwrap());
    assert!(device.info_memory_clock_rate().unwrap() > 0 && device.info_max_clock_frequency().unwrap() > 0);

    let memory = device.mem_alloc(ol_alloc_type_t::OL_ALLOC_TYPE_MANAGED, 64).unwrap();
    let error = device.mem_alloc(ol_alloc_type_t::OL_ALLOC_TYPE_DEVICE, usize::MAX).unwrap_err();
    assert_eq!(error.code, ol_errc_t::OL_ERRC_OUT_OF_RESOURCES);
    let queue = device.create_queue().unwrap();
    let event = queue.create_event(ol_event_flags_t::OL_EVENT_FLAGS_ENABLE_PROFILING).unwrap();
    event.sync_event().unwrap();
    assert!(event.info_is_complete().unwrap());
    assert_eq!(event.get_event_elapsed_time(&event).unwrap(), 0.0);
    drop((event, queue));
    assert_eq!(take_drop_errors(), []);
    // SAFETY: the library allocated it, and nothing uses it any more.
    unsafe { safe::mem_free(memory) }.unwrap();
    safe::shut_down().unwrap();
    assert_eq!(device.create_queue().unwrap_err().code, ol_errc_t::OL_ERRC_UNINITIALIZED);
}
