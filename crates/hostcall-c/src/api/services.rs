//! Services, and what handlers call.

use std::ffi::{c_char, c_void};

use hostcall::{CallError, Failure, ServiceHandle};
use hostcall_abi::Callee;

use super::Server;
use crate::boundary::{self, DropFn, User, give, handle, place, place_for, take, text_of};
use crate::definition::{CDefinition, Defined};
use crate::handler::{CCall, Code, Handler, InHand};
use crate::status::{Error, Status, enter, quietly};

/// `hc_service`.
#[derive(Debug)]
pub struct Service(ServiceHandle);

/// The service that a definition and a handler make.
///
/// # Safety
/// `definition` is as the header says, and `handler` keeps to it.
unsafe fn service(definition: *const CDefinition, run: u32, handler: Option<Handler>, user: User) -> Result<hostcall::Service, Error> {
    // SAFETY: the caller's.
    let defined = unsafe { Defined::read(definition) }?;
    let handler = handler.ok_or_else(|| boundary::null("handler"))?;
    Code::service(run, defined, handler, user)
}

/// What [`hc_register`] registers, for a server of Rust. Fails with the text for people.
///
/// # Errors
/// As `hc_register`.
#[doc(hidden)]
pub unsafe fn service_of(
    definition: *const CDefinition,
    run: u32,
    handler: Option<Handler>,
    user: *mut c_void,
    drop: DropFn,
) -> Result<hostcall::Service, String> {
    // SAFETY: the caller's, for both.
    unsafe { service(definition, run, handler, User::new(user, drop)) }.map_err(|error| error.text)
}

/// Registers a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_register(
    server: *mut Server,
    definition: *const CDefinition,
    run: u32,
    handler: Option<Handler>,
    user: *mut c_void,
    drop: DropFn,
    out: *mut *mut Service,
) -> i32 {
    enter(|| {
        // SAFETY: the caller's. First, so that it is dropped whatever is wrong.
        let user = unsafe { User::new(user, drop) };
        // SAFETY: the caller's.
        let out = if out.is_null() { None } else { Some(unsafe { place_for(out) }?) };
        // SAFETY: the caller's.
        let server = unsafe { handle(server, "server") }?;
        // SAFETY: the caller's.
        let service = unsafe { service(definition, run, handler, user) }?;
        let registered = server.0.with(|server| Ok(server.register(service)?))?;
        if let Some(out) = out {
            *out = give(Service(registered));
        }
        Ok(())
    })
}

/// Unregisters a service.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_unregister(service: *mut *mut Service) {
    quietly(|| {
        // SAFETY: the caller's.
        if let Ok(Some(service)) = unsafe { take(service, "service") } {
            service.0.unregister();
        }
    });
}

/// A service's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_service_number(service: *const Service, number: *mut u32) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (number, service) = unsafe { (place(number, 0, "number")?, handle(service, "service")?) };
        *number = service.0.number().into();
        Ok(())
    })
}

/// A service as an argument of a kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_service_callee(service: *const Service, callee: *mut Callee) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (callee, service) = unsafe { (place(callee, Callee::default(), "callee")?, handle(service, "service")?) };
        *callee = service.0.callee();
        Ok(())
    })
}

/// The number of the service of a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_number(server: *mut Server, name: *const c_char, number: *mut u32) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (number, server, name) = unsafe { (place(number, 0, "number")?, handle(server, "server")?, text_of(name, "name")?) };
        let service = server.0.with(|server| {
            let missing = || Error::new(Status::NotFound, format!("no service `{name}` is registered: hc_register it first"));
            server.service_handle(name).ok_or_else(missing)
        })?;
        *number = service.number().into();
        Ok(())
    })
}

/// A call that is in the hands of the application.
///
/// # Safety
/// `call` is null, or a call that the application may use, on one thread at a time.
unsafe fn in_hand<'a>(call: *mut CCall) -> Result<&'a mut InHand<'a>, Error> {
    // SAFETY: the caller's: what was given to a handler as a call.
    let in_hand = unsafe { call.cast::<InHand<'a>>().as_mut() }.ok_or_else(|| boundary::null("call"))?;
    in_hand.check_origin()?;
    Ok(in_hand)
}

/// A lane's string or slice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_bytes_in(call: *mut CCall, lane: u32, variable: u32, bytes: *mut *const c_void, count: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (bytes, count) = unsafe { (place(bytes, std::ptr::null(), "bytes")?, place(count, 0, "count")?) };
        // SAFETY: the caller's.
        let (start, length) = unsafe { in_hand(call) }?.call().bytes_in(lane, variable)?;
        (*bytes, *count) = (start.cast(), length);
        Ok(())
    })
}

/// Room for what comes back of a lane's slice.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_bytes_out(call: *mut CCall, lane: u32, variable: u32, bytes: *mut *mut c_void, count: *mut usize) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let (bytes, count) = unsafe { (place(bytes, std::ptr::null_mut(), "bytes")?, place(count, 0, "count")?) };
        // SAFETY: the caller's.
        let (start, length) = unsafe { in_hand(call) }?.call().bytes_out(lane, variable)?;
        (*bytes, *count) = (start.cast(), length);
        Ok(())
    })
}

/// Fewer bytes of a lane's slice come back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_bytes_returned(call: *mut CCall, lane: u32, variable: u32, count: usize) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { in_hand(call) }?.call().bytes_returned(lane, variable, count))
}

/// A lane's call has no result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_fail(call: *mut CCall, lane: u32, code: u32, message: *const c_char) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        let message = unsafe { boundary::bytes_of(message) }.map_or("the handler gave no message".into(), String::from_utf8_lossy);
        // SAFETY: the caller's.
        unsafe { in_hand(call) }?.call().fail(lane, &Failure::HandlerFailed { code, message: message.into_owned() })
    })
}

/// The host's policy does not allow a lane's call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_refuse(call: *mut CCall, lane: u32, code: u32) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { in_hand(call) }?.call().fail(lane, &Failure::Refused { code }))
}

/// A lane's units are no values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_malformed(call: *mut CCall, lane: u32) -> i32 {
    // SAFETY: the caller's.
    enter(|| unsafe { in_hand(call) }?.call().fail(lane, &Failure::Status(CallError::Malformed)))
}

/// Answers a deferred call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hc_complete(call: *mut CCall) -> i32 {
    enter(|| {
        // SAFETY: the caller's.
        if matches!(unsafe { in_hand(call) }?, InHand::Now(_)) {
            return Err(Error::invalid("only calls of HC_DEFERRED services are completed: others are answered when their handler returns"));
        }
        // SAFETY: from `Code::defer`, and given back this once.
        if let InHand::Later(kept) = *unsafe { Box::from_raw(call.cast::<InHand<'static>>()) } {
            kept.complete();
        }
        Ok(())
    })
}
