//! What a function of `olPlatformRegisterRPCCallback` gets: a lane's call of a service that the server does not have.
//!
//! The layout is that of `struct offload_port` in `OffloadPort.h`.

use std::ffi::{CString, c_char, c_void};

use hostcall::{CallError, Failure, HandlerResult, Invocation};
use liboffload::library::host_calls::RpcCallback;

/// `struct offload_port`.
#[repr(C)]
struct Port {
    /// Bytes of this structure: later versions have more at the end.
    size: usize,
    service: *const c_char,
    lane: u32,
    posted: u32,
    request: *const u32,
    request_units: usize,
    reply: *mut u32,
    reply_capacity: usize,
    reply_units: usize,
}

const _: () = assert!(size_of::<Port>() == 64 && std::mem::offset_of!(Port, request) == 24);

/// `OFFLOAD_PORT_HANDLED`, `OFFLOAD_PORT_UNHANDLED`: LLVM's `RPC_SUCCESS` and `RPC_UNHANDLED_OPCODE`.
const HANDLED: u32 = 0;
pub(crate) const UNHANDLED: u32 = 0x1001;

/// Asks the function. What it returns is the call's end: a reply, an unknown service, or a failure with that code.
pub(crate) fn ask(callback: RpcCallback, service: &CString, call: &mut Invocation<'_>) -> HandlerResult {
    let mut reply = vec![0; call.reply_capacity()];
    let request = call.payload();
    let mut port = Port {
        size: size_of::<Port>(),
        service: service.as_ptr(),
        lane: call.lane(),
        posted: call.is_post().into(),
        request: request.as_ptr(),
        request_units: request.len(),
        reply: reply.as_mut_ptr(),
        reply_capacity: if call.is_post() { 0 } else { reply.len() },
        reply_units: 0,
    };
    let port_pointer = (&raw mut port).cast::<c_void>();
    // SAFETY: a port as the header says, all of which lives until the function returns. It has one lane.
    let code = offload::waits::letting_a_device_go_on(|| unsafe { callback.call(port_pointer, 1) });
    match code.unwrap_or(UNHANDLED) {
        HANDLED if port.reply_units > reply.len() => Err(Failure::TooLarge { max: (reply.len() * 4) as u32 }),
        HANDLED => {
            call.reply_units(&reply[..port.reply_units]);
            Ok(())
        }
        UNHANDLED => Err(Failure::Status(CallError::UnknownService)),
        code => {
            let message = format!("the platform's RPC callback returned {code:#x} for {}", service.to_string_lossy());
            Err(Failure::HandlerFailed { code, message })
        }
    }
}
