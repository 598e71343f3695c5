//! Contexts: devices of one platform, and what is made in them.
//!
//! A context says which devices its queues, programs and memory may be of. Memory also remembers the context: another
//! one does not know it. Nothing of this costs a driver's call, since devices of a platform share one address space and
//! one driver here.

use super::Core;
use super::device::Device;
use super::error::fail;
use super::info::Value;
use super::leaks::Origin;
use crate::runtime::Error;
use crate::sys::{ol_context_info_t, ol_device_handle_t, ol_errc_t};

/// What a context's handle names.
pub(super) struct Context {
    /// At least one; all are of one platform.
    devices: Vec<&'static Device>,
    /// Their handles, as numbers: they are written to callers as an array.
    handles: Vec<usize>,
    pub(super) origin: Origin,
}

impl Context {
    /// A context of these devices.
    pub(super) fn new(library: &Core, handles: &[ol_device_handle_t]) -> Result<Context, Error> {
        let mut devices = Vec::new();
        for handle in handles {
            let Some(device) = library.session.device(handle.cast()) else {
                return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("Devices[{}] is not a device", devices.len()));
            };
            devices.push(device);
        }
        let Some(first) = devices.first() else { return fail(ol_errc_t::OL_ERRC_INVALID_SIZE, "a context has at least one device") };
        if let Some(at) = devices.iter().position(|device| device.platform != first.platform) {
            let text = format!("{} (Devices[{at}]) and {} (Devices[0]) are of different platforms", devices[at].name(), first.name());
            return fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, text);
        }
        Ok(Context { devices, handles: handles.iter().map(|handle| handle.addr()).collect(), origin: Origin::here() })
    }

    /// Refuses a device that is not one of the context's.
    pub(super) fn has(&self, device: &Device) -> Result<(), Error> {
        if self.devices.iter().any(|known| known.is(device)) {
            return Ok(());
        }
        fail(ol_errc_t::OL_ERRC_INVALID_DEVICE, format!("{} is not a device of Context", device.name()))
    }

    /// The value of a property.
    pub(super) fn info(&self, library: &Core, name: ol_context_info_t) -> Result<Value<'_>, Error> {
        Ok(match name {
            ol_context_info_t::OL_CONTEXT_INFO_NUM_DEVICES => Value::Size(self.devices.len()),
            ol_context_info_t::OL_CONTEXT_INFO_DEVICES => Value::Words(&self.handles),
            ol_context_info_t::OL_CONTEXT_INFO_PLATFORM => Value::Pointer(library.session.platform_handle(self.devices[0].platform)),
            other => return fail(ol_errc_t::OL_ERRC_INVALID_ENUMERATION, format!("{} is no property of contexts", other.0)),
        })
    }
}
