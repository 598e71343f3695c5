//! Functions that AMD's library has not.

use std::ffi::{c_int, c_void};

use super::{check, code};
use crate::consumer::Early;
use crate::layout::{Form, QWORDS, buffer_size, size_in};
use crate::rocm::{self, Allocate, Memory, Release, Source};
use crate::services::{Handler, State};
use crate::{Callable, Error, client, doorbell, tables};

/// Allows service 1 to call a function.
///
/// Errors: `NULLPTR`.
///
/// # Safety
/// `function` is null or such a function, fit for any thread and whatever words a kernel sends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_allow_call(function: Option<Callable>) -> c_int {
    code(function.ok_or(Error::Nullptr).and_then(|function| {
        let address = (function as *const ()).expose_provenance() as u64;
        tables::change(|services| {
            services.allowed.insert(address);
            Ok(())
        })
    }))
}

/// Forbids it again. A call that has begun goes on.
///
/// Errors: `NULLPTR`; `INVALID_REQUEST` if it was not allowed.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_forbid_call(function: Option<Callable>) -> c_int {
    code(function.ok_or(Error::Nullptr).and_then(|function| {
        let address = (function as *const ()).addr() as u64;
        tables::change(|services| services.allowed.remove(&address).then_some(()).ok_or(Error::InvalidRequest))
    }))
}

/// Lays a buffer out, if so many bytes are enough for it. The README of AMD's library shows these parameters.
///
/// Errors: those of `amd_hostcall_initialize_buffer`; `INVALID_REQUEST` if the buffer is too small.
///
/// # Safety
/// `buffer` is null, misaligned, or `size` bytes which nobody uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_initialize_buffer(buffer: *mut c_void, size: usize, num_packets: u32) -> c_int {
    code(check(buffer.cast()).and_then(|()| {
        if size < buffer_size(num_packets) {
            return Err(Error::InvalidRequest);
        }
        // SAFETY: the caller's, and the size was compared.
        unsafe { super::initialize(buffer.cast(), num_packets, Form::Stacks) }
    }))
}

/// Bytes of a buffer whose packets travel in this form; 0 if there is no such form.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_form_size(num_packets: u32, form: u32) -> usize {
    Form::from_number(form).map_or(0, |form| size_in(form, num_packets))
}

/// Lays a buffer out in this form, if so many bytes are enough for it. In mailboxes the claims lie in the buffer; who
/// wants them in the memory of a device writes their address into the buffer before it is used.
///
/// Errors: those of `hostcall_amd_initialize_buffer`; `INVALID_REQUEST` if there is no such form.
///
/// # Safety
/// As for `hostcall_amd_initialize_buffer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_initialize_form(buffer: *mut c_void, size: usize, num_packets: u32, form: u32) -> c_int {
    code(check(buffer.cast()).and_then(|()| {
        let form = Form::from_number(form).filter(|form| size >= size_in(*form, num_packets)).ok_or(Error::InvalidRequest)?;
        // SAFETY: the caller's, and the size was compared.
        unsafe { super::initialize(buffer.cast(), num_packets, form) }
    }))
}

/// Lets a consumer serve a buffer whose packets travel in this form. It is deregistered as any other.
///
/// Errors: those of `amd_hostcall_register_buffer`; `INVALID_REQUEST` if there is no such form, or if this library has
/// laid the buffer out in another one.
///
/// # Safety
/// As for `amd_hostcall_register_buffer`, and the buffer was initialised in this form.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_register_form(consumer: *mut super::ConsumerHandle, buffer: *mut c_void, form: u32) -> c_int {
    code(Form::from_number(form).ok_or(Error::InvalidRequest).and_then(|form| {
        // SAFETY: the caller's.
        unsafe { super::register(consumer, buffer.cast(), Some(form), Early::Blank) }
    }))
}

/// Calls a service from a thread of the host, as a wave would: for the lanes of `mask`, eight words each, in and out.
/// Waits for the answer.
///
/// Errors: `NULLPTR`, `INCORRECT_ALIGNMENT`; `INVALID_REQUEST` if the buffer is not registered or has mailboxes, or if
/// the call was refused; `CONSUMER_ACTIVE` if a handler of the buffer's consumer calls, and `HOSTCALL_AMD_SERIAL` is
/// set.
///
/// # Safety
/// `buffer` stays until this returns. `payload` is null, misaligned, or has eight
/// initialised words for each lane up to the highest of `mask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_call(buffer: *mut c_void, service: u32, mask: u64, payload: *mut [u64; QWORDS]) -> c_int {
    code(check(buffer.cast()).and_then(|()| {
        check(payload.cast())?;
        // The lanes up to the highest one: a caller of one lane has no more words.
        let lanes = (u64::BITS - mask.leading_zeros()) as usize;
        // SAFETY: the caller's, for these lanes.
        let lanes = unsafe { std::slice::from_raw_parts_mut(payload, lanes) };
        client::call(buffer.addr(), service, mask, lanes)
    }))
}

/// Rings a doorbell by its handle, as a buffer holds it.
///
/// Errors: `NULLPTR` for 0; `INVALID_REQUEST` if it is no doorbell of this library's.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_ring(doorbell: u64) -> c_int {
    code(doorbell::ring(doorbell))
}

/// Answers `printf` of ROCm's device libraries, for all consumers: their texts go to the C library's standard output
/// and standard error.
///
/// Errors: `INVALID_REQUEST` if service 2 has a handler.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_serve_printf() -> c_int {
    code(tables::add_service(rocm::PRINTF, Handler::Printf))
}

/// Hands memory out to `malloc` of ROCm's device libraries, for all consumers, at most `limit` bytes at a time: that of
/// two functions, or without them that of this process, for devices that reach it.
///
/// Errors: `NULLPTR` if only one of the functions is given; `INVALID_REQUEST` if service 3 has a handler, or if the
/// limit is 0.
///
/// # Safety
/// The functions are fit for any thread with `state`, as long as any consumer serves. What `allocate` returns is 0, or
/// the address of as many bytes with the alignment that it was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hostcall_amd_serve_memory(
    limit: u64,
    allocate: Option<Allocate>,
    release: Option<Release>,
    state: *mut c_void,
) -> c_int {
    let source = match (allocate, release) {
        (None, None) => Ok(Source::Host),
        (Some(allocate), Some(release)) => Ok(Source::User(allocate, release, State(state))),
        _ => Err(Error::Nullptr),
    };
    code(source.and_then(|source| {
        if limit == 0 {
            return Err(Error::InvalidRequest);
        }
        tables::add_service(rocm::MEMORY, Handler::Memory(Box::leak(Box::new(Memory::new(source, limit)))))
    }))
}

/// Writes the reports of the address sanitizer in kernels to standard error, for all consumers. Then the process ends
/// as for a handler that fails, unless the kernel was compiled to recover.
///
/// Errors: `INVALID_REQUEST` if service 4 has a handler.
#[unsafe(no_mangle)]
pub extern "C" fn hostcall_amd_serve_sanitizer() -> c_int {
    code(tables::add_service(rocm::SANITIZER, Handler::Sanitizer))
}
