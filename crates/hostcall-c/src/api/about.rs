//! About the library.

use std::ffi::c_char;

use crate::status::{self, Status};

/// `HC_API_VERSION`.
const API_VERSION: u32 = 1;

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn hc_api_version() -> u32 {
    API_VERSION
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn hc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The name of a status.
#[unsafe(no_mangle)]
pub extern "C" fn hc_status_string(status: i32) -> *const c_char {
    Status::name(status).as_ptr()
}

/// This thread's last text.
#[unsafe(no_mangle)]
pub extern "C" fn hc_last_error() -> *const c_char {
    status::last()
}
