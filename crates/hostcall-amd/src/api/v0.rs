//! The functions of v0, the earlier interface, whose names in C are v1's: `amd_hostcall.h` maps them if
//! `AMD_HOSTCALL_V0` is defined.
//!
//! In v0 services belong to a consumer, registering one again replaces it, and handlers cannot fail. Some functions
//! have no result. What those cannot do is a line on standard error.
//!
//! Programs that were compiled with AMD's own header of v0 have other names: `packaging/install.sh` makes a second
//! library for them.

use std::ffi::{c_int, c_void};

use super::{ConsumerHandle, code, find};
use crate::consumer::Early;
use crate::services::{self, Handler, OnError, State};
use crate::{Error, ErrorHandlerV0, ServiceHandlerV0, consumer};

/// Says what a function without a result cannot do, and why.
fn tell(function: &str, result: Result<(), Error>) {
    let Err(error) = result else { return };
    let why = match error {
        Error::Nullptr => "a pointer is null",
        Error::IncorrectAlignment => "the buffer's address is no multiple of 8",
        Error::ConsumerActive => "a handler cannot end its own consumer",
        Error::ConsumerInactive => "the consumer is that of the process from which this one was forked",
        Error::Internal => "a handler goes on, or no doorbell can be had: a process has 1024",
        _ => "no such consumer, or another consumer serves the buffer",
    };
    services::say(&format!("hostcall: amd_hostcall_{function} of v0 did nothing: {}: {why}", services::name(error)));
}

/// Creates a consumer; null if no doorbell can be had.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_v0_create_consumer() -> *mut ConsumerHandle {
    super::create().unwrap_or_else(|error| {
        tell("create_consumer", Err(error));
        std::ptr::null_mut()
    })
}

/// As v1's. What it returns there is a line on standard error.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_v0_destroy_consumer(consumer: *mut ConsumerHandle) {
    tell("destroy_consumer", consumer::destroy(consumer.addr()));
}

/// Registers a handler for a service of one consumer, in place of the last one.
///
/// # Safety
/// As for v1's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_v0_register_service(
    consumer: *mut ConsumerHandle,
    service: u32,
    handler: Option<ServiceHandlerV0>,
    state: *mut c_void,
) {
    let registered = find(consumer).and_then(|consumer| {
        let handler = handler.ok_or(Error::Nullptr)?;
        consumer.register_service(service, Handler::V0(handler, State(state)));
        Ok(())
    });
    tell("register_service", registered);
}

/// As v1's. What it returns there is a line on standard error, but that any buffer may be registered before it is laid
/// out, as AMD's library allows: it is served once `amd_hostcall_initialize_buffer` has done that.
///
/// # Safety
/// As for v1's, or 48 bytes which stay as long.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_v0_register_buffer(consumer: *mut ConsumerHandle, buffer: *mut c_void) {
    // SAFETY: the caller's.
    tell("register_buffer", unsafe { super::register(consumer, buffer.cast(), None, Early::Any) });
}

/// Registers the function that is told before the process ends. The last one counts.
///
/// Errors: `NULLPTR`, `INVALID_REQUEST`; `CONSUMER_ACTIVE` if the consumer serves.
///
/// # Safety
/// As for v1's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_v0_on_error(
    consumer: *mut ConsumerHandle,
    handler: Option<ErrorHandlerV0>,
    state: *mut c_void,
) -> c_int {
    code(find(consumer).and_then(|consumer| {
        let handler = handler.ok_or(Error::Nullptr)?;
        consumer.on_error(OnError::V0(handler, State(state)))
    }))
}
