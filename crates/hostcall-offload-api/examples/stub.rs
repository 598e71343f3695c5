//! A C library for the tests: the entry points over the mock, with a few hooks that `stub_install` sets.

use std::ffi::CStr;
use std::ptr;

use liboffload::mock::Mock;
use liboffload::runtime::Error;
use liboffload::{Api, HandleKind, sys};

liboffload::export_entry_points!(Mock);

/// Sets the hooks. Called once, before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn stub_install() {
    let mock = Mock::instance();
    mock.hooks.iterate_devices.replace(|call| {
        let device = Mock::instance().new_handle(HandleKind::Device, None);
        if let Some(callback) = call.callback {
            // SAFETY: the caller passed this callback with this data.
            unsafe { callback(device.cast(), call.user_data) };
        }
        Ok(())
    });
    mock.hooks.get_device_info.replace(|call| {
        const NAME: &CStr = c"stub \"device\"";
        let bytes = NAME.to_bytes_with_nul();
        match call.prop_name {
            sys::ol_device_info_t::OL_DEVICE_INFO_NAME if call.prop_size >= bytes.len() => {
                // SAFETY: the caller says that there is room for `prop_size` bytes.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), call.prop_value.cast(), bytes.len()) };
                Ok(())
            }
            sys::ol_device_info_t::OL_DEVICE_INFO_NAME => {
                // Writes something although it fails: the trace must not show it.
                // SAFETY: as above, and `prop_size` is not zero.
                unsafe { call.prop_value.cast::<u8>().write(b'!') };
                Err(Error::new(sys::ol_errc_t::OL_ERRC_INVALID_SIZE, format!("the name needs {} bytes", bytes.len())))
            }
            sys::ol_device_info_t::OL_DEVICE_INFO_TYPE => {
                // SAFETY: the caller says that there is room for `prop_size` bytes, which the test makes enough.
                unsafe { call.prop_value.cast::<sys::ol_device_type_t>().write_unaligned(sys::ol_device_type_t::OL_DEVICE_TYPE_HOST) };
                Ok(())
            }
            other => Err(Error::new(sys::ol_errc_t::OL_ERRC_UNSUPPORTED, format!("the stub has no {other}"))),
        }
    });
    mock.hooks.get_device_info_size.replace(|call| {
        // SAFETY: the caller says that there is room.
        unsafe { call.prop_size_ret.write(14) };
        Ok(())
    });
    // A call within a call.
    mock.hooks.sync_queue.replace(|call| {
        // SAFETY: the queue is the caller's.
        let result = unsafe { liboffload::entry::query_queue::<Mock>(call.queue, &raw mut BUSY, ptr::null()) };
        if result.is_null() { Ok(()) } else { Err(Error::new(sys::ol_errc_t::OL_ERRC_UNKNOWN, "the inner call failed")) }
    });
    mock.hooks.query_queue.replace(|_| Ok(()));
    mock.hooks.mem_free.replace(|call| panic!("cannot free {:?}", call.address.is_null()));
}

/// Written by no one; a place that the inner call may point to.
static mut BUSY: bool = false;
