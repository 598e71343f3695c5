//! Error codes, as AMD numbers them.

use std::ffi::{CStr, c_int};

/// What the functions of the interface return. The numbers are AMD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Error {
    /// No error.
    Success = 0,
    /// The consumer serves already, or its own handler asked for what only others may ask.
    ConsumerActive = 1,
    /// The consumer belongs to the process that this one was forked from.
    ConsumerInactive = 2,
    /// No thread could be started.
    ConsumerLaunchFailed = 3,
    /// What was asked for makes no sense: the handle, the buffer or the number is not one that can be used so.
    InvalidRequest = 4,
    /// A packet asked for a service that has no handler. Told to the error handler only.
    ServiceUnknown = 5,
    /// An address is not a multiple of its alignment.
    IncorrectAlignment = 6,
    /// A pointer is null.
    Nullptr = 7,
    /// Anything else: handlers that did not end, a doorbell that could not be made.
    Internal = 8,
}

/// Codes and their names.
const NAMES: [&CStr; 9] = [
    c"AMD_HOSTCALL_SUCCESS",
    c"AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE",
    c"AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE",
    c"AMD_HOSTCALL_ERROR_CONSUMER_LAUNCH_FAILED",
    c"AMD_HOSTCALL_ERROR_INVALID_REQUEST",
    c"AMD_HOSTCALL_ERROR_SERVICE_UNKNOWN",
    c"AMD_HOSTCALL_ERROR_INCORRECT_ALIGNMENT",
    c"AMD_HOSTCALL_ERROR_NULLPTR",
    c"AMD_HOSTCALL_INTERNAL_ERROR",
];

/// The name of a code.
pub(crate) fn name(code: c_int) -> &'static CStr {
    usize::try_from(code).ok().and_then(|code| NAMES.get(code).copied()).unwrap_or(c"AMD_HOSTCALL_ERROR_UNKNOWN")
}

impl Error {
    /// A result as a code.
    pub(crate) fn code(result: Result<(), Error>) -> c_int {
        result.err().unwrap_or(Error::Success) as c_int
    }
}
