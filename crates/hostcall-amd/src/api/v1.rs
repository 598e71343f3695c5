//! The functions of v1, the later of AMD's two interfaces.

use std::ffi::{c_char, c_int, c_void};

use super::{ConsumerHandle, check, code, find};
use crate::consumer::Early;
use crate::layout::{self, Form};
use crate::services::{self, Handler, OnError, State};
use crate::{Error, ErrorHandler, ServiceHandler, consumer, tables};

/// The name of an error; `AMD_HOSTCALL_ERROR_UNKNOWN` for any other number.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_error_string(error: c_int) -> *const c_char {
    services::error_string(error).as_ptr()
}

/// Creates a consumer. It does nothing until it is launched.
///
/// Errors: `NULLPTR`, `INCORRECT_ALIGNMENT`; `INTERNAL_ERROR` if no doorbell can be had.
///
/// # Safety
/// `consumer` is null, misaligned, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_hostcall_create_consumer(consumer: *mut *mut ConsumerHandle) -> c_int {
    code(check(consumer.cast()).and_then(|()| {
        // SAFETY: the caller's.
        unsafe { consumer.write(super::create()?) };
        Ok(())
    }))
}

/// Answers what is ready, waits for handlers, ends the threads.
///
/// Errors: `NULLPTR`; `INVALID_REQUEST` if it is no consumer; `CONSUMER_ACTIVE` if a handler of its own asks;
/// `INTERNAL_ERROR` if a handler did not end within the limit. The consumer is gone then too, its waves are refused,
/// and the handler's state must live on.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_destroy_consumer(consumer: *mut ConsumerHandle) -> c_int {
    code(consumer::destroy(consumer.addr()))
}

/// Starts the consumer's threads.
///
/// Errors: `NULLPTR`, `INVALID_REQUEST`, `CONSUMER_ACTIVE` if it serves already, `CONSUMER_LAUNCH_FAILED`,
/// `CONSUMER_INACTIVE` in a forked child.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_launch_consumer(consumer: *mut ConsumerHandle) -> c_int {
    code(find(consumer).and_then(|consumer| consumer.launch()))
}

/// Registers a handler for a service, for all consumers. Service 0 is the default handler; service 1 is taken.
///
/// Errors: `NULLPTR`; `INVALID_REQUEST` if the service has a handler.
///
/// # Safety
/// `handler` is null or such a function. It may be called from several threads, with `state`, as long as any consumer
/// serves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_hostcall_register_service(service: u32, handler: Option<ServiceHandler>, state: *mut c_void) -> c_int {
    code(handler.ok_or(Error::Nullptr).and_then(|handler| tables::add_service(service, Handler::V1(handler, State(state)))))
}

/// Bytes of a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_get_buffer_size(num_packets: u32) -> usize {
    layout::buffer_size(num_packets)
}

/// Alignment of a buffer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_get_buffer_alignment() -> u32 {
    layout::ALIGNMENT as u32
}

/// Lays a buffer out.
///
/// Errors: `NULLPTR`, `INCORRECT_ALIGNMENT`; `INVALID_REQUEST` for no packets, or for a buffer that is registered.
///
/// # Safety
/// `buffer` is null, misaligned, or as many bytes as `amd_hostcall_get_buffer_size` says, which nobody uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_hostcall_initialize_buffer(buffer: *mut c_void, num_packets: u32) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { super::initialize(buffer.cast(), num_packets, Form::Stacks) })
}

/// Lets a consumer serve a buffer, in the form in which this library has laid it out, or of stacks as AMD's library
/// lays them out. Again with the same consumer: nothing happens. A buffer of zeros is served once somebody has laid it
/// out.
///
/// Errors: `NULLPTR`, `INCORRECT_ALIGNMENT`; `INVALID_REQUEST` if it is no consumer, if another one serves the buffer,
/// or if the buffer holds what no initialised one does.
///
/// # Safety
/// `buffer` is null, misaligned, or an initialised buffer that stays until it is deregistered or the consumer
/// destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_hostcall_register_buffer(consumer: *mut ConsumerHandle, buffer: *mut c_void) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { super::register(consumer, buffer.cast(), None, Early::Blank) })
}

/// Ends serving a buffer. What is ready is answered, or after the limit refused. Afterwards the memory is the caller's.
///
/// Errors: `NULLPTR`; `INVALID_REQUEST` if the consumer does not serve it.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_deregister_buffer(consumer: *mut ConsumerHandle, buffer: *mut c_void) -> c_int {
    code(find(consumer).and_then(|consumer| {
        check(buffer.cast())?;
        consumer.deregister(buffer.addr())
    }))
}

/// Registers the function that is told before the process ends because a handler is missing or failed. Once.
///
/// Errors: `NULLPTR`; `INVALID_REQUEST` if there is one.
///
/// # Safety
/// `handler` is null or such a function, fit for any thread with `state`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amd_hostcall_on_error(handler: Option<ErrorHandler>, state: *mut c_void) -> c_int {
    code(handler.ok_or(Error::Nullptr).and_then(|handler| {
        tables::change(|services| {
            if services.on_error.is_some() {
                return Err(Error::InvalidRequest);
            }
            services.on_error = Some(OnError::V1(handler, State(state)));
            Ok(())
        })
    }))
}

/// Writes a line about each packet to standard output from now on.
#[unsafe(no_mangle)]
pub extern "C" fn amd_hostcall_enable_debug() {
    services::enable_debug();
}
