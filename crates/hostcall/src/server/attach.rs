//! Bringing a loaded program and a server together: version, signatures, service numbers, descriptor.
//!
//! Everything here talks to the driver, and runs on the thread that attaches or registers.

use std::ptr::NonNull;
use std::sync::Arc;

use hostcall_abi::descriptor::{ABI_SYMBOL, DESCRIPTOR_SYMBOL, FirstPoll, SERVICE_PREFIX, SIGNATURE_PREFIX};
use hostcall_abi::llvm_rpc::{CLIENT_SYMBOL, Layout, RECOMPILED_CLIENT_BYTES};
use hostcall_abi::{ABI_VERSION, Geometry};
use hostcall_error::Forked;
use offload::{Device, DeviceInfo, DeviceKind, Global, Program};

use super::RemoveError;
use crate::builtin::Builtins;
use crate::builtin::llvm_libc::Libc;
use crate::rpc::{Extent, Memory, Rpc, Shape};
use crate::service::Definition;
use crate::service::registry::{Registered, Registry};
use crate::serving::Served;
use crate::serving::ports::LOT;
use crate::wire::{BufferError, PortBuffer, RawWindow, open_window};

/// Why a program is not served.
#[derive(thiserror::Error)]
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
    /// It has no version word: it makes no calls, or links no hostcall. Nor has it a client of LLVM's wire.
    #[error("program `{program}` has no `{ABI_SYMBOL}`: it was not built with hostcall, or makes no calls")]
    NoAbi {
        /// The program's name.
        program: String,
    },
    /// Its client of LLVM's wire is of no version that is known.
    #[error(
        "program `{program}` has a `{CLIENT_SYMBOL}` of {bytes} bytes, which no version of LLVM's `rpc.h` has that this server knows ({}): build it with \
         one of those",
        known_clients()
    )]
    RpcClient {
        /// The program's name.
        program: String,
        /// The client's size.
        bytes: usize,
    },
    /// Another program's client of LLVM's wire is served with this port buffer.
    #[error(
        "program `{program}` has a `{CLIENT_SYMBOL}`, and the port buffer serves another program's already: give it a buffer of its own, by `attach`"
    )]
    RpcShared {
        /// The program's name.
        program: String,
    },
    /// A server serves it already: this one, or another that lives.
    #[error(
        "program `{program}` is attached already, to {}: take it off with `remove_buffer` first, or load the program once more",
        if *here { "this server" } else { "another server" }
    )]
    Attached {
        /// The program's name.
        program: String,
        /// Whether it is this server.
        here: bool,
    },
    /// It was built with another definition of a service.
    #[error(
        "program `{program}` was built with another definition of service `{service}`: {}; rebuild both sides from the same source",
        definitions(theirs, ours)
    )]
    Signature {
        /// The program's name.
        program: String,
        /// The service.
        service: String,
        /// The program's.
        theirs: Signature,
        /// The host's.
        ours: Signature,
    },
    /// The system gave no thread for what blocks.
    #[error("cannot start a thread of the server: {0}")]
    Thread(#[source] std::io::Error),
    /// An inline handler asked for it.
    #[error(transparent)]
    InHandler(#[from] super::InHandler),
    /// The server belongs to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// The port buffer cannot be made.
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

hostcall_error::readable!(AttachError);

impl From<RemoveError> for AttachError {
    fn from(error: RemoveError) -> Self {
        match error {
            RemoveError::InHandler(error) => error.into(),
            RemoveError::Forked(error) => error.into(),
        }
    }
}

/// A definition of a service, as one side has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its hash, which both sides compare.
    pub hash: u64,
    /// Itself: `fn(f32) -> f32`. Empty where a program does not say it.
    pub text: String,
}

/// How two definitions differ.
fn definitions(theirs: &Signature, ours: &Signature) -> String {
    match (&*theirs.text, &*ours.text) {
        ("", _) | (_, "") => format!("its signature is {:#018x}, here it is {:#018x}", theirs.hash, ours.hash),
        (there, here) if there == here => format!("both say `{here}`, and a type in it differs in size"),
        (there, here) => format!("`{there}` there, `{here}` here"),
    }
}

/// The sizes of clients that are known, for people.
fn known_clients() -> String {
    Layout::KNOWN.map(|layout| layout.client_bytes.to_string()).join(" and ")
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
    /// The sizes of a port buffer on such a device.
    fn geometry(&self, info: &DeviceInfo, threads: usize) -> Geometry {
        // At least a lot for each thread, so that none is idle by construction.
        // And one more than waves can be resident: each may keep one, and the last is never kept.
        let ports = self.ports.unwrap_or_else(|| (info.resident_waves + 1).max((threads * LOT) as u32).min(Geometry::MAX_PORTS));
        let geometry = Geometry { window: self.window, ..Geometry::new(ports, info.wave_size) };
        match self.staging {
            Some((slots, slot_bytes)) => Geometry { slots, slot_bytes, ..geometry },
            None => geometry,
        }
    }

    /// Whether port buffers of these sizes can be had on a device at all.
    ///
    /// # Errors
    /// The first size that cannot work, by the name of the builder's function.
    pub(crate) fn check(&self, info: &DeviceInfo, threads: usize) -> Result<(), BufferError> {
        let geometry = self.geometry(info, threads);
        geometry.validate()?;
        let bytes = (self.heap as u64).saturating_add(geometry.device_layout().bytes as u64);
        if bytes > info.memory_bytes {
            let (device, heap, available) = (info.name.clone(), self.heap as u64, info.memory_bytes);
            return Err(BufferError::Heap { device, heap, available });
        }
        Ok(())
    }

    /// Memory for a client of LLVM's wire on a device, and the client's bytes. What the client polls lies in a window
    /// into the device's memory, if one is wanted and the device has one.
    fn rpc_memory(&self, device: &Device, layout: &Layout, shares: usize) -> Result<(Memory, Vec<u8>), AttachError> {
        let info = device.info();
        // Each resident wave can have a port. What is compiled for the processor has waves of one lane.
        let ports = self.ports.unwrap_or(info.resident_waves).clamp(1, layout.most_ports.min(MOST_RPC_PORTS));
        let lanes = if info.kind == DeviceKind::Sim { 1 } else { info.wave_size };
        let shape = Shape { ports, lanes, shares: shares as u32 };
        let extent = Extent::of(layout, shape);
        let host = device.alloc_host::<u8>(extent.bytes)?;
        let window = if self.window { open_window(device, 4 * ports as usize).map_err(BufferError::Window)? } else { None };
        let mut addresses = layout.areas(ports, lanes).at(host.address() + extent.areas as u64);
        if let Some(window) = &window {
            addresses.inbox = window.address();
        }
        let mut client = vec![0; layout.client_bytes];
        layout.write_client(ports, &addresses, &mut client);
        let raw = window.as_ref().map(RawWindow::of);
        let base = NonNull::new(host.as_ptr()).expect("host memory has an address");
        // SAFETY: fresh, zeroed memory of that size, aligned to a page, and a zeroed window with a word for each port;
        // both are kept with it, and their other user is the device.
        Ok((unsafe { Memory::new(base, layout, shape, raw, Box::new((host, window))) }, client))
    }

    /// The same for a port buffer through which nobody calls: each turn of the serving threads looks at its ports.
    pub(crate) fn of_nobody(&self, threads: usize) -> Self {
        let ports = ((threads * LOT) as u32).min(Geometry::MAX_PORTS);
        Self { window: false, ports: Some(ports), staging: Some((0, 0)), ..self.clone() }
    }

    /// Allocates a port buffer on a device.
    pub(crate) fn allocate(&self, device: &Device, threads: usize) -> Result<PortBuffer, AttachError> {
        self.check(device.info(), threads)?;
        let geometry = self.geometry(device.info(), threads);
        let mut buffer = PortBuffer::on_device(device, geometry, self.heap)?;
        buffer.descriptor_mut().first_poll = self.first_poll;
        Ok(buffer)
    }
}

/// The text of a [`SignatureWord`](hostcall_abi::descriptor::SignatureWord), as far as it is one. A definition is not
/// longer than a page.
fn text_behind_hash(word: &Global) -> Result<String, offload::Error> {
    let mut bytes = vec![0; word.size().min(4096)];
    word.read(&mut bytes)?;
    Ok(hostcall_abi::failure::text(bytes.get(8..).unwrap_or_default()).to_owned())
}

/// The most ports of a client of LLVM's wire, if nothing is said: all of their mailboxes are looked at in each turn.
const MOST_RPC_PORTS: u32 = 4096;

/// How services of clients that were recompiled are called.
const RECOMPILED: &str = "LlvmRpc__";
/// A service that only the device library in Rust calls.
const OF_RUST: &str = "Process__panicked";

/// A program that is attached, and its port buffer. Holds the program, so that services registered later can be
/// numbered.
#[derive(Debug)]
pub(crate) struct Attached {
    program: Program,
    served: Arc<Served>,
    /// Whether it speaks our own wire: it may speak LLVM's only.
    speaks: bool,
    /// Its client of LLVM's wire, and how that lies.
    client: Option<(Global, Layout)>,
}

impl Attached {
    /// Checks that the program speaks our version, and that nobody serves it.
    pub(crate) fn new(program: &Program, served: &Arc<Served>, ours: &[Arc<Served>]) -> Result<Self, AttachError> {
        let name = || program.name().to_owned();
        if let Some(other) = program.kept::<Served>().filter(|other| other.closing.get().is_none()) {
            return Err(AttachError::Attached { program: name(), here: ours.iter().any(|live| Arc::ptr_eq(live, &other)) });
        }
        let client = match program.find_global(CLIENT_SYMBOL)? {
            None => None,
            Some(client) => match Layout::of_client(client.size()) {
                None if client.size() == RECOMPILED_CLIENT_BYTES => None,
                Some(layout) => Some((client, layout)),
                None => return Err(AttachError::RpcClient { program: name(), bytes: client.size() }),
            },
        };
        let word = program.find_global(ABI_SYMBOL)?;
        if word.is_none() && client.is_none() {
            return Err(AttachError::NoAbi { program: name() });
        }
        if let Some(word) = &word {
            let mut theirs = [0; 4];
            word.read(&mut theirs)?;
            let theirs = u32::from_ne_bytes(theirs);
            if theirs != ABI_VERSION {
                return Err(AttachError::Version { program: name(), theirs, ours: ABI_VERSION });
            }
        }
        Ok(Self { program: program.clone(), served: served.clone(), speaks: word.is_some(), client })
    }

    /// Whether the program speaks LLVM's wire and not ours.
    pub(crate) fn only_llvm(program: &Program) -> Result<bool, offload::Error> {
        Ok(program.find_global(ABI_SYMBOL)?.is_none() && program.find_global(CLIENT_SYMBOL)?.is_some())
    }

    /// Checks that the program, if it calls the service at all, was built with the same definition.
    pub(crate) fn check(&self, service: &Definition) -> Result<(), AttachError> {
        let Some(word) = self.program.find_global(&format!("{SIGNATURE_PREFIX}{}", service.name))? else { return Ok(()) };
        let mut hash = [0; 8];
        word.read(&mut hash)?;
        let hash = u64::from_ne_bytes(hash);
        if hash == service.signature {
            return Ok(());
        }
        Err(AttachError::Signature {
            program: self.program.name().to_owned(),
            service: service.name.to_string(),
            theirs: Signature { hash, text: text_behind_hash(&word)? },
            ours: Signature { hash: service.signature, text: service.text.to_string() },
        })
    }

    /// Numbers the services that the program calls or posts to and nobody has registered, so that their messages reach
    /// the server, which says so.
    pub(crate) fn number_unknown(&self, registry: &Registry) -> Result<(), AttachError> {
        for name in self.program.services() {
            let Some(number) = registry.reserve(name) else { continue };
            if let Some(word) = self.program.find_global(&format!("{SERVICE_PREFIX}{name}"))? {
                word.write(&u32::from(number).to_ne_bytes())?;
            }
        }
        Ok(())
    }

    /// Writes the service's number into the program, if it calls it.
    pub(crate) fn number(&self, slot: &Registered) -> Result<(), AttachError> {
        if let Some(word) = self.program.find_global(&format!("{SERVICE_PREFIX}{}", slot.name()))? {
            word.write(&u32::from(slot.number).to_ne_bytes())?;
        }
        Ok(())
    }

    /// Whether the program has a client of LLVM's wire.
    pub(crate) fn has_rpc(&self) -> bool {
        self.client.is_some()
    }

    /// Whether the program has a client of LLVM's `rpc.h` that was recompiled over our own wire.
    pub(crate) fn has_recompiled(&self) -> bool {
        self.calls(RECOMPILED)
    }

    /// Whether the program has a word for the number of a service whose name begins so.
    fn calls(&self, name: &str) -> bool {
        self.program.services().iter().any(|known| known.starts_with(name))
    }

    /// Serves such a client.
    pub(crate) fn serve_recompiled(&self, builtins: &Builtins) {
        let descriptor = self.served.memory.descriptor();
        // The device library in Rust has the heap itself.
        let heap = if self.calls(OF_RUST) { (0, 0) } else { (descriptor.heap, descriptor.heap_bytes) };
        builtins.serve_recompiled(&self.served, heap);
    }

    /// Fills the program's client of LLVM's wire, if it has one, and serves it, in so many shares.
    pub(crate) fn serve_rpc(&self, plan: &BufferPlan, builtins: &Builtins, shares: usize) -> Result<(), AttachError> {
        let Some((client, layout)) = &self.client else { return Ok(()) };
        let (memory, bytes) = plan.rpc_memory(self.program.device(), layout, shares)?;
        let descriptor = self.served.memory.descriptor();
        // A program that speaks our wire has the heap itself.
        let heap = if self.speaks { (0, 0) } else { (descriptor.heap, descriptor.heap_bytes) };
        if !self.served.serve_rpc(Rpc::new(memory, Libc::new(builtins, &self.served, heap, shares))) {
            return Err(AttachError::RpcShared { program: self.program.name().to_owned() });
        }
        Ok(client.write(&bytes)?)
    }

    /// Tells the program where its port buffer is. The program keeps the buffer's memory from now on.
    pub(crate) fn describe(&self) -> Result<(), AttachError> {
        let descriptor = if self.speaks { Some(self.program.global(DESCRIPTOR_SYMBOL)?) } else { None };
        // Before its address is known there.
        self.program.keep(self.served.clone());
        if let Some(descriptor) = descriptor {
            descriptor.write(self.served.memory.descriptor().as_bytes())?;
        }
        self.program.tell_if_launched_elsewhere(&self.served);
        self.served.report.used_by(self.program.name());
        self.program.answered();
        Ok(())
    }

    /// Whether it uses this buffer.
    pub(crate) fn uses(&self, served: &Arc<Served>) -> bool {
        Arc::ptr_eq(&self.served, served)
    }
}
