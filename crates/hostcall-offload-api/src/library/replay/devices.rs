//! Which devices there are here, and which of them stand for those of a recording.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::str::FromStr;

use crate::library::recording::format::Object;
use crate::runtime::{Error, safe};
use crate::sys::*;
use crate::{Api, entry};

/// A device that was chosen: `host`, `cuda`, `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceChoice {
    backend: ol_platform_backend_t,
    ordinal: u32,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceChoice, String> {
        let (word, ordinal) = text.split_once(':').unwrap_or((text, "0"));
        let backend = ol_platform_backend_t::ALL.iter().find(|backend| word_of(**backend).eq_ignore_ascii_case(word));
        match (backend, ordinal.parse()) {
            (Some(backend), Ok(ordinal)) => Ok(DeviceChoice { backend: *backend, ordinal }),
            _ => Err(format!("`{text}` is no device: write host, cuda, or cuda:1 for the second one")),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", word_of(self.backend), self.ordinal)
    }
}

/// A back end's word.
fn word_of(backend: ol_platform_backend_t) -> String {
    backend.to_string().trim_start_matches("OL_PLATFORM_BACKEND_").to_lowercase()
}

/// A device that is here.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) handle: u64,
    pub(super) platform: u64,
    pub(super) backend: ol_platform_backend_t,
    pub(super) ordinal: u32,
    pub(super) name: String,
}

impl Device {
    pub(super) fn is_host(&self) -> bool {
        self.backend == ol_platform_backend_t::OL_PLATFORM_BACKEND_HOST
    }
}

unsafe extern "C" fn take(device: ol_device_handle_t, list: *mut c_void) -> bool {
    // SAFETY: `all` passes a list.
    unsafe { &mut *list.cast::<Vec<ol_device_handle_t>>() }.push(device);
    true
}

/// All devices that there are here.
pub(super) fn all<A: Api>() -> Result<Vec<Device>, Error> {
    let mut handles: Vec<ol_device_handle_t> = Vec::new();
    // SAFETY: `take` gets what it expects.
    unsafe { safe::result(entry::iterate_devices::<A>(Some(take), (&raw mut handles).cast(), ptr::null())) }?;
    let mut devices: Vec<Device> = Vec::new();
    for handle in handles {
        let (name, platform, none) = (ol_device_info_t::OL_DEVICE_INFO_NAME, ol_device_info_t::OL_DEVICE_INFO_PLATFORM, ptr::null());
        // SAFETY: the closures write as many bytes as they are given room for; any bytes are an address or a number.
        let (name, platform, backend) = unsafe {
            let name = safe::bytes(
                |size| entry::get_device_info_size::<A>(handle, name, size, none),
                |size, to| entry::get_device_info::<A>(handle, name, size, to, none),
            );
            let platform: ol_platform_handle_t = safe::property(|size, to| entry::get_device_info::<A>(handle, platform, size, to, none))?;
            let backend = ol_platform_info_t::OL_PLATFORM_INFO_BACKEND;
            let backend: u32 = safe::property(|size, to| entry::get_platform_info::<A>(platform, backend, size, to, none))?;
            (name, platform, ol_platform_backend_t(backend))
        };
        let ordinal = devices.iter().filter(|device| device.backend == backend).count() as u32;
        let name = name.map_or_else(|error| error.to_string(), |name| safe::text(&name));
        devices.push(Device { handle: handle.addr() as u64, platform: platform.addr() as u64, backend, ordinal, name });
    }
    Ok(devices)
}

/// The device for one of a recording: the chosen one, or that at the same place of the same back end.
pub(super) fn stand_in<'a>(devices: &'a [Device], recorded: &Object, choice: Option<DeviceChoice>) -> Result<&'a Device, String> {
    let wanted = choice.unwrap_or(DeviceChoice { backend: ol_platform_backend_t(recorded.backend), ordinal: recorded.ordinal });
    let found = devices.iter().find(|device| (device.backend, device.ordinal) == (wanted.backend, wanted.ordinal));
    found.ok_or_else(|| {
        let there: Vec<_> = devices.iter().map(|device| format!("{}:{}", word_of(device.backend), device.ordinal)).collect();
        let (why, there) = (if choice.is_some() { "was chosen" } else { "was recorded" }, there.join(", "));
        format!("{wanted} ({}) {why} and is not here; choose one with --device: {there}", recorded.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_chosen_by_words() {
        let choice = |text: &str| text.parse::<DeviceChoice>().map(|choice| choice.to_string());
        assert_eq!(choice("host").as_deref(), Ok("host:0"));
        assert_eq!(choice("CUDA:3").as_deref(), Ok("cuda:3"));
        assert!(choice("gpu").unwrap_err().contains("`gpu` is no device") && choice("cuda:x").is_err());
    }
}
