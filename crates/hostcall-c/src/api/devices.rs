//! Devices.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::boundary::{give, handle, place_for, take, tell, text_of};
use crate::device::Opened;
use crate::json;
use crate::status::{enter, quietly};

/// `hc_device`.
#[derive(Debug)]
pub struct Device(pub(super) Arc<Opened>);

/// The GPU of a context of the application's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_device_from_cuda_context(cu_context: *mut c_void, out: *mut *mut Device) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let out = unsafe { place_for(out) }?;
        let device = if cu_context.is_null() {
            // SAFETY: the caller's: the context outlives the device and all that is made from it.
            unsafe { offload::Device::from_current_cuda_context() }
        } else {
            // SAFETY: as above.
            unsafe { offload::Device::from_raw_cuda_context(cu_context.cast()) }
        };
        *out = give(Device(Arc::new(Opened::new(device?))));
        Ok(())
    })
}

/// The device that a text names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_device_open(which: *const c_char, out: *mut *mut Device) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (out, which) = unsafe { (place_for(out)?, text_of(which, "which")?) };
        *out = give(Device(Arc::new(Opened::new(offload::Device::open(which)?))));
        Ok(())
    })
}

/// What a device is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_device_describe(device: *const Device, json: *mut c_char, bytes: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let device = unsafe { handle(device, "device") }?;
        // SAFETY: the caller's.
        unsafe { tell(&json::device(device.0.device.info()).to_string(), json, bytes) }
    })
}

/// Ends a device's handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_device_destroy(device: *mut *mut Device) {
    // SAFETY: the caller's.
    quietly(|| drop(unsafe { take(device, "device") }));
}
