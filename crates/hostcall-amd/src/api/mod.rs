//! The entry points in C. Each checks what it is given; no error ends the process but the two that AMD documents.

mod ours;
mod v0;
mod v1;

pub use ours::*;
pub use v0::*;
pub use v1::*;

use std::ffi::c_int;
use std::sync::Arc;

use crate::Error;
use crate::consumer::{self, Consumer, Early};
use crate::layout::{ALIGNMENT, Form};
use crate::mailboxes::Mailboxes;
use crate::memory::{LaidOut, Map};
use crate::tables::{self, Awaited};

/// A consumer, as C sees it: a number that is never dereferenced.
#[repr(C)]
#[derive(Debug)]
pub struct ConsumerHandle {
    _opaque: [u8; 0],
}

fn find(consumer: *mut ConsumerHandle) -> Result<Arc<Consumer>, Error> {
    consumer::find(consumer.addr())
}

/// Null and misaligned pointers.
fn check(buffer: *mut u8) -> Result<(), Error> {
    if buffer.is_null() {
        Err(Error::Nullptr)
    } else if !buffer.addr().is_multiple_of(ALIGNMENT) {
        Err(Error::IncorrectAlignment)
    } else {
        Ok(())
    }
}

/// Creates a consumer and hands its handle out.
fn create() -> Result<*mut ConsumerHandle, Error> {
    consumer::create().map(std::ptr::without_provenance_mut)
}

/// # Safety
/// As for `amd_hostcall_initialize_buffer`.
unsafe fn initialize(buffer: *mut u8, packets: u32, form: Form) -> Result<(), Error> {
    check(buffer)?;
    let awaited = {
        let consumers = tables::consumers();
        let awaited = consumers.awaited.get(&buffer.addr()).copied();
        if consumers.buffers.contains_key(&buffer.addr()) || awaited.is_some_and(|awaited| awaited.form.is_some_and(|asked| asked != form))
        {
            return Err(Error::InvalidRequest);
        }
        awaited
    };
    match form {
        // SAFETY: the caller's.
        Form::Stacks | Form::MaskedStacks => _ = unsafe { Map::initialize(buffer, packets, form) }?,
        // SAFETY: the caller's.
        Form::Mailboxes => unsafe { Mailboxes::initialize(buffer, packets) }?,
    }
    tables::consumers().laid_out.insert(buffer.addr(), LaidOut { packets, form });
    let Some(Awaited { owner, .. }) = awaited else { return Ok(()) };
    let consumer = consumer::find(owner)?;
    // SAFETY: whoever registered it promised that it stays until it is deregistered, and it is laid out now.
    unsafe { consumer.register(buffer, Some(form), Early::Refused) }
}

/// # Safety
/// As for `amd_hostcall_register_buffer`.
unsafe fn register(consumer: *mut ConsumerHandle, buffer: *mut u8, form: Option<Form>, early: Early) -> Result<(), Error> {
    let consumer = find(consumer)?;
    check(buffer)?;
    // SAFETY: the caller's.
    unsafe { consumer.register(buffer, form, early) }
}

/// A result as C's code.
fn code(result: Result<(), Error>) -> c_int {
    Error::code(result)
}
