//! Bringing a loaded program and a server together: version, signatures, service numbers, descriptor.
//!
//! Everything here talks to the driver, and runs on the thread that attaches or registers.

use std::sync::Arc;

use hostcall_abi::descriptor::{ABI_SYMBOL, DESCRIPTOR_SYMBOL, FirstPoll, SERVICE_PREFIX, SIGNATURE_PREFIX};
use hostcall_abi::{ABI_VERSION, Geometry};
use offload::{Device, Program};

use crate::service::Definition;
use crate::service::registry::Registered;
use crate::serving::Served;
use crate::serving::ports::LOT;
use crate::wire::{BufferError, PortBuffer};

/// Why a program is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// It was built with another version of the wire.
    #[error(
        "program `{program}` speaks version {theirs} of hostcall's ABI, this server version {ours}: build both with the same version of hostcall"
    )]
    Version {
        /// The program's name.
        program: String,
        /// Its version.
        theirs: u32,
        /// This crate's.
        ours: u32,
    },
    /// It has no version word: it makes no calls, or links no hostcall.
    #[error("program `{program}` has no `{ABI_SYMBOL}`: it was not built with hostcall, or makes no calls")]
    NoAbi {
        /// The program's name.
        program: String,
    },
    /// It was built with another definition of a service.
    #[error(
        "program `{program}` was built with another definition of service `{service}` (signature {theirs:#018x}, here {ours:#018x}): rebuild both sides from the same source"
    )]
    Signature {
        /// The program's name.
        program: String,
        /// The service.
        service: String,
        /// The program's signature.
        theirs: u64,
        /// The host's.
        ours: u64,
    },
    /// The port buffer cannot be made.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

/// Sizes of the port buffers that a server allocates.
#[derive(Clone, Debug)]
pub(crate) struct BufferPlan {
    pub(crate) window: bool,
    pub(crate) ports: Option<u32>,
    pub(crate) heap: usize,
    pub(crate) staging: Option<(u32, u32)>,
    pub(crate) first_poll: FirstPoll,
}

impl Default for BufferPlan {
    fn default() -> Self {
        Self { window: true, ports: None, heap: 0, staging: None, first_poll: FirstPoll::DEFAULT }
    }
}

impl BufferPlan {
    /// Allocates a port buffer on a device.
    pub(crate) fn allocate(&self, device: &Device, threads: usize) -> Result<PortBuffer, AttachError> {
        let info = device.info();
        // At least a lot for each thread, so that none is idle by construction.
        // And one more than waves can be resident: each may keep one, and the last is never kept.
        let ports = self.ports.unwrap_or_else(|| (info.resident_waves + 1).max((threads * LOT) as u32).min(Geometry::MAX_PORTS));
        let mut geometry = Geometry { window: self.window, ..Geometry::new(ports, info.wave_size) };
        if let Some((slots, slot_bytes)) = self.staging {
            geometry = Geometry { slots, slot_bytes, ..geometry };
        }
        let mut buffer = PortBuffer::on_device(device, geometry, self.heap)?;
        buffer.descriptor_mut().first_poll = self.first_poll;
        Ok(buffer)
    }
}

/// A program that is attached. Holds it, so that services registered later can be numbered.
#[derive(Debug)]
pub(crate) struct Attached(Program);

impl Attached {
    /// Checks that the program speaks our version.
    pub(crate) fn new(program: &Program) -> Result<Self, AttachError> {
        let name = || program.name().to_owned();
        let word = program.find_global(ABI_SYMBOL)?.ok_or_else(|| AttachError::NoAbi { program: name() })?;
        let mut theirs = [0; 4];
        word.read(&mut theirs)?;
        match u32::from_ne_bytes(theirs) {
            ABI_VERSION => Ok(Self(program.clone())),
            theirs => Err(AttachError::Version { program: name(), theirs, ours: ABI_VERSION }),
        }
    }

    /// Checks that the program, if it calls the service at all, was built with the same definition.
    pub(crate) fn check(&self, service: &Definition) -> Result<(), AttachError> {
        let Some(word) = self.0.find_global(&format!("{SIGNATURE_PREFIX}{}", service.name))? else { return Ok(()) };
        let mut theirs = [0; 8];
        word.read(&mut theirs)?;
        match u64::from_ne_bytes(theirs) {
            theirs if theirs == service.signature => Ok(()),
            theirs => Err(AttachError::Signature {
                program: self.0.name().to_owned(),
                service: service.name.to_string(),
                theirs,
                ours: service.signature,
            }),
        }
    }

    /// Writes the service's number into the program, if it calls it.
    pub(crate) fn number(&self, slot: &Registered) -> Result<(), AttachError> {
        if let Some(word) = self.0.find_global(&format!("{SERVICE_PREFIX}{}", slot.name()))? {
            word.write(&u32::from(slot.number).to_ne_bytes())?;
        }
        Ok(())
    }

    /// Tells the program where its port buffer is. The program keeps the buffer's memory from now on.
    pub(crate) fn describe(&self, served: &Arc<Served>) -> Result<(), AttachError> {
        self.0.keep(served.clone());
        Ok(self.0.global(DESCRIPTOR_SYMBOL)?.write(served.memory.descriptor().as_bytes())?)
    }
}
