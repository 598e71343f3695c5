//! The safe wrappers, over the mock as a library.

use std::ffi::c_void;
use std::ptr;

use liboffload::mock::Mock;
use liboffload::runtime::safe::take_drop_errors;
use liboffload::safe::{Device, Event, Queue};
use liboffload::sys::{ol_device_handle_t, ol_device_info_t, ol_errc_t, ol_event_flags_t, ol_queue_info_t};
use liboffload::{Api, Error, HandleKind, safe};

liboffload::export_entry_points!(Mock);

unsafe extern "C" fn take(device: ol_device_handle_t, found: *mut c_void) -> bool {
    // SAFETY: the test passes such a pointer.
    unsafe { found.cast::<ol_device_handle_t>().write(device) };
    false
}

/// One test: the mock is one for the whole process.
#[test]
fn handles_properties_and_errors_arrive_as_rust_values() {
    let mock = Mock::instance();
    mock.hooks.iterate_devices.replace(|call| {
        let device = Mock::instance().new_handle(HandleKind::Device, None);
        let callback = call.callback.expect("the entry point has checked it");
        // SAFETY: the caller passed this callback with this data.
        unsafe { callback(device.cast(), call.user_data) };
        Ok(())
    });
    mock.hooks.get_device_info_size.replace(|call| {
        // SAFETY: the entry point has checked that it is not null.
        unsafe { call.prop_size_ret.write(5) };
        Ok(())
    });
    mock.hooks.get_device_info.replace(|call| {
        let value: &[u8] = match call.prop_name {
            ol_device_info_t::OL_DEVICE_INFO_NAME => b"mock\0",
            ol_device_info_t::OL_DEVICE_INFO_GLOBAL_MEM_SIZE => &(1u64 << 40).to_ne_bytes(),
            ol_device_info_t::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT => &[1],
            other => return Err(Error::new(ol_errc_t::OL_ERRC_UNSUPPORTED, format!("the mock has no {other}"))),
        };
        assert_eq!(call.prop_size, value.len());
        // SAFETY: the caller says that there is room.
        unsafe { ptr::copy_nonoverlapping(value.as_ptr(), call.prop_value.cast(), value.len()) };
        Ok(())
    });

    // SAFETY: null is allowed.
    unsafe { safe::init(None) }.unwrap();
    let mut raw: ol_device_handle_t = ptr::null_mut();
    // SAFETY: the callback writes a device to where the data points.
    unsafe { safe::iterate_devices(Some(take), (&raw mut raw).cast()) }.unwrap();
    // SAFETY: the library gave this handle.
    let device = unsafe { Device::from_raw(raw) };

    assert_eq!(device.info_name().unwrap(), "mock");
    assert_eq!(device.info_global_mem_size().unwrap(), 1 << 40);
    assert!(device.info_cooperative_launch_support().unwrap());
    let error = device.info_vendor_id().unwrap_err();
    assert_eq!((error.code, &*error.details()), (ol_errc_t::OL_ERRC_UNSUPPORTED, "the mock has no OL_DEVICE_INFO_VENDOR_ID"));

    let queue: Queue = device.create_queue().unwrap();
    mock.hooks.get_queue_info.replace(move |call| {
        assert_eq!(call.prop_name, ol_queue_info_t::OL_QUEUE_INFO_DEVICE);
        let device = Mock::instance().handles.live().into_iter().find(|handle| handle.kind == HandleKind::Device).expect("there is one");
        // SAFETY: the caller says that there is room.
        unsafe { call.prop_value.cast::<usize>().write(device.address) };
        Ok(())
    });
    assert_eq!(queue.info_device().unwrap(), device);
    let event: Event = queue.create_event(ol_event_flags_t::OL_EVENT_FLAGS_NONE).unwrap();
    assert!(!queue.query_queue().unwrap());

    event.destroy().unwrap();
    assert_eq!(mock.handles.live().len(), 2, "device and queue");
    let raw = queue.as_raw();
    drop(queue);
    assert_eq!(take_drop_errors(), []);
    // SAFETY: the library gave this handle; that it is gone is what is tested, and the library notices.
    drop(unsafe { Queue::from_raw(raw) });
    let errors = take_drop_errors();
    assert!(matches!(errors.as_slice(), [error] if error.code == ol_errc_t::OL_ERRC_INVALID_QUEUE), "{errors:?}");

    safe::shut_down().unwrap();
    assert_eq!(device.create_queue().unwrap_err().code, ol_errc_t::OL_ERRC_UNINITIALIZED);
}
