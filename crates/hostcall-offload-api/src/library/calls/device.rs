//! Platforms and devices.

use std::ffi::c_void;

use super::gone;
use crate::library::Core;
use crate::library::error::fail;
use crate::library::host_calls;
use crate::library::info::Value;
use crate::runtime::Error;
use crate::sys::*;

impl Core {
    /// # Safety
    /// `callback` may be called with `user_data`.
    pub(in crate::library) unsafe fn iterate_devices(&self, callback: ol_device_iterate_cb_t, user_data: *mut c_void) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        for device in self.session.devices() {
            // SAFETY: the caller's function and its data. No lock is held: it may call this library.
            if !unsafe { callback(self.session.device_handle(device).cast(), user_data) } {
                break;
            }
        }
        Ok(())
    }

    /// # Safety
    /// `callback` may be called with `user_data`.
    #[cfg(llvm24)]
    pub(in crate::library) unsafe fn iterate_platforms(
        &self,
        callback: ol_platform_iterate_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        for platform in self.session.platform_handles() {
            // SAFETY: as in `iterate_devices`.
            if !unsafe { callback(platform.cast(), user_data) } {
                break;
            }
        }
        Ok(())
    }

    /// # Safety
    /// There are `size` bytes at `data`, and `callback` may be called with `user_data`.
    #[cfg(llvm24)]
    pub(in crate::library) unsafe fn iterate_compatible_devices(
        &self,
        data: *const c_void,
        size: usize,
        callback: ol_device_iterate_cb_t,
        user_data: *mut c_void,
    ) -> Result<(), Error> {
        let Some(callback) = callback else { return fail(ol_errc_t::OL_ERRC_INVALID_NULL_POINTER, "Callback must not be NULL") };
        // SAFETY: the caller says so. An image that cannot be one is one that no device can load.
        let Ok(image) = (unsafe { super::image(data, size) }) else { return Ok(()) };
        // Looked at by all devices first: the function may do with the image what it likes.
        let fitting: Vec<_> = self.session.devices().into_iter().filter(|device| device.driver.check(image).is_ok()).collect();
        for device in fitting {
            // SAFETY: as in `iterate_devices`.
            if !unsafe { callback(self.session.device_handle(device).cast(), user_data) } {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    pub(in crate::library) fn device_info(&self, device: ol_device_handle_t, name: ol_device_info_t) -> Result<Value<'static>, Error> {
        self.device(device)?.info(&self.session, name)
    }

    pub(in crate::library) fn platform_info<R>(
        &self,
        handle: ol_platform_handle_t,
        name: ol_platform_info_t,
        use_it: impl FnOnce(&Value<'_>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let platform = self.session.platform(handle.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_PLATFORM, "platform"))?;
        let driver = platform.driver;
        let version;
        use_it(&match name {
            ol_platform_info_t::OL_PLATFORM_INFO_NAME => Value::Text(driver.name()),
            ol_platform_info_t::OL_PLATFORM_INFO_VENDOR_NAME => Value::Text(driver.vendor()),
            ol_platform_info_t::OL_PLATFORM_INFO_VERSION => {
                version = driver.version();
                Value::Text(&version)
            }
            #[cfg(llvm24)]
            ol_platform_info_t::OL_PLATFORM_INFO_ACTIVE => Value::Bool(platform.is_active()),
            ol_platform_info_t::OL_PLATFORM_INFO_BACKEND => Value::U32(driver.backend().0),
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of platforms", other.0)),
        })
    }

    pub(in crate::library) fn register_rpc_callback(
        &self,
        platform: ol_platform_handle_t,
        callback: ol_platform_rpc_cb_t,
    ) -> Result<(), Error> {
        let found = self.session.platform(platform.cast());
        host_calls::register(found.ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_PLATFORM, "platform"))?, callback)
    }
}
