//! Attachments: memory through which a program calls, as long as it is attached.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use hostcall::BufferHandle;
use hostcall_abi::Descriptor;
use hostcall_abi::descriptor::{ABI_SYMBOL, DESCRIPTOR_SYMBOL, SERVICE_PREFIX, SIGNATURE_PREFIX};
use offload::backend::GlobalInfo;
use offload::{Device, Memory, Program};

use crate::boundary::User;
use crate::server::Shared;
use crate::status::Error;

/// What an `hc_attachment` is.
#[derive(Debug)]
pub(crate) struct Attachment {
    shared: Arc<Shared>,
    pub(crate) buffer: BufferHandle,
    /// Whether the buffer goes with it.
    owned: bool,
    /// The descriptor in device memory, if there is one. Given back after the buffer.
    _descriptor: Option<Memory<u8>>,
}

impl Attachment {
    /// Attaches a program to a server.
    pub(crate) fn of_program(shared: &Arc<Shared>, program: &Program) -> Result<Self, Error> {
        let buffer = shared.with(|server| Ok(server.attach(program)?))?;
        Ok(Self { shared: shared.clone(), buffer, owned: true, _descriptor: None })
    }

    /// Memory to call through, for kernels that take it as an argument: new memory, or `other`'s. In device memory if
    /// `placed`.
    pub(crate) fn of_descriptor(shared: &Arc<Shared>, other: Option<&Attachment>, placed: bool) -> Result<(Self, Option<u64>), Error> {
        let device = &shared.opened.device;
        let buffer = match other {
            Some(other) if Arc::ptr_eq(&other.shared, shared) => other.buffer.clone(),
            Some(_) => return Err(Error::invalid("`shared_with` is an attachment to another server")),
            None => shared.with(|server| Ok(server.allocate(device)?))?,
        };
        let mut attachment = Self { shared: shared.clone(), buffer, owned: other.is_none(), _descriptor: None };
        if placed {
            let memory = device.alloc::<u8>(size_of::<Descriptor>())?;
            // SAFETY: as many bytes as were allocated just now; no kernel knows of them.
            unsafe { device.backend().write(memory.address(), attachment.buffer.descriptor().as_bytes()) }?;
            attachment._descriptor = Some(memory);
        }
        let address = attachment._descriptor.as_ref().map(Memory::address);
        Ok((attachment, address))
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if self.owned
            && let Some(server) = self.shared.running().server()
        {
            // In an inline handler of the server's nothing is removed: the server lets go of it when it ends.
            if let Err(error) = server.remove_buffer(&self.buffer) {
                offload::overdue::tell(&error);
            }
        }
    }
}

/// `hc_address_of`.
pub(crate) type AddressOf = unsafe extern "C" fn(user: *mut c_void, symbol: *const std::ffi::c_char) -> u64;

/// A program whose globals the application finds.
pub(crate) fn program_of_symbols(device: &Device, name: &str, address_of: AddressOf, user: User) -> Program {
    let find = move |symbol: &str| {
        let (size, symbol) = (size_of_global(symbol)?, CString::new(symbol).ok()?);
        // SAFETY: the application's function, as the header says; the name lives until it returns.
        let address = unsafe { address_of(user.pointer(), symbol.as_ptr()) };
        (address != 0).then_some(GlobalInfo { address, size, writable: true })
    };
    // SAFETY: the header says that the addresses are the program's globals of these names, whose sizes the wire fixes,
    // until it is detached.
    unsafe { Program::from_symbols(device, name, find) }
}

/// Bytes of a program's global that servers look for. Of a signature only the hash: how long its text is, the name does
/// not say.
fn size_of_global(symbol: &str) -> Option<usize> {
    match symbol {
        DESCRIPTOR_SYMBOL => Some(size_of::<Descriptor>()),
        ABI_SYMBOL => Some(4),
        _ if symbol.starts_with(SIGNATURE_PREFIX) => Some(8),
        _ if symbol.starts_with(SERVICE_PREFIX) => Some(4),
        _ => None,
    }
}
