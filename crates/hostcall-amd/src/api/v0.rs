//! The functions of v0, the earlier interface, whose names in C are v1's: `amd_hostcall.h` maps them if `AMD_HOSTCALL_V0` is defined.
//!
//! In v0 services belong to a consumer, registering one again replaces it, and handlers cannot fail. Functions without a result ignore
//! what they cannot do.

use std::ffi::{c_int, c_void};

use super::{ConsumerHandle, code, find};
use crate::layout::Form;
use crate::services::{Handler, OnError, State};
use crate::{Error, ErrorHandlerV0, ServiceHandlerV0, consumer};

/// Creates a consumer; null if no doorbell can be had.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_v0_create_consumer() -> *mut ConsumerHandle {
    super::create().unwrap_or(std::ptr::null_mut())
}

/// As v1's, without its result.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_v0_destroy_consumer(consumer: *mut ConsumerHandle) {
    let _ = consumer::destroy(consumer.addr());
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
    if let (Ok(consumer), Some(handler)) = (find(consumer), handler) {
        consumer.register_service(service, Handler::V0(handler, State(state)));
    }
}

/// As v1's, without its result.
///
/// # Safety
/// As for v1's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_v0_register_buffer(consumer: *mut ConsumerHandle, buffer: *mut c_void) {
    // SAFETY: the caller's.
    let _ = unsafe { super::register(consumer, buffer.cast(), Form::Stacks) };
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
