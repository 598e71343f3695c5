//! Code that runs on a GPU calls the host it runs beside, while the kernel is still running.
//!
//! A *service* is defined once, by [`macro@service`], in a crate that both sides compile. In a kernel it is a function to call; on the host it is a
//! constructor that makes a [`Service`] of a closure. A [`Server`] answers the calls of the programs that are attached to it, on threads of its own,
//! while their kernels run.
//!
//! This crate has two faces under one name: built with `--cfg hostcall_device`, as `hostcall-build` does for kernel crates, it is the device
//! library; otherwise, as here, the host runtime.
//!
//! ```
//! use hostcall::{PortBuffer, Server, test_utils::MockDevice};
//!
//! #[hostcall::service]
//! pub trait Host {
//!     /// A kernel writes `Host::add42(x)?`.
//!     fn add42(x: f32) -> f32;
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // With a GPU or the simulator: `Server::builder(&device)`, then `attach` the program, launch and `wait`.
//! let server = Server::without_device().service(host::add42(|x| x + 42.0)).start()?;
//!
//! // Here a mock device makes the call that a kernel's stub would make, through the same state machine.
//! let geometry = hostcall::Geometry { slots: 0, ..hostcall::Geometry::new(4, 32) };
//! let device = MockDevice::new(server.add_buffer(PortBuffer::in_process(geometry)?));
//! let _looking = server.keep_awake();
//! let first_service = 1;
//! assert_eq!(device.wave(0).call_fixed::<f32, f32>(first_service, &1.0)?, 43.0);
//! # Ok(())
//! # }
//! ```
//!
//! The book is in `docs/`: services and how handlers run, the policy, the protocol.
#![cfg_attr(hostcall_device, no_std)]

#[cfg(hostcall_device)]
pub use hostcall_device::*;

#[cfg(not(hostcall_device))]
pub mod builtin;
#[cfg(not(hostcall_device))]
pub mod policy;
#[cfg(not(hostcall_device))]
mod record;
#[cfg(not(hostcall_device))]
mod server;
#[cfg(not(hostcall_device))]
mod service;
#[cfg(not(hostcall_device))]
mod serving;
#[cfg(not(hostcall_device))]
mod wire;

#[cfg(not(hostcall_device))]
pub use {
    builtin::{Builtins, Console, ConsoleError, Input, Sink},
    hostcall_abi::descriptor::FirstPoll,
    hostcall_abi::{CallError, Geometry, Plain, Status},
    hostcall_macros::{Plain, service},
    policy::{Access, Denial, DirGrant, GrantError, Limits, NetGrant, NetGrantError, Policy},
    record::stats::{Latency, ServiceStats, Stats},
    record::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, Report},
    server::{AttachError, Awake, BufferHandle, Server, ServerBuilder, ServerError, WaitError},
    server::{program_launch, reserve_lane_stacks, reserve_stacks},
    service::registry::{RegisterError, ServiceHandle},
    service::{Arguments, Invocation, Out, OutSlice, RawOut, RawSlice, Written},
    service::{Batch, Calls, Column, DeferredBatch, Requests, Rows, RowsMut},
    service::{Completion, Definition, Failure, HandlerError, HandlerResult, IntoReply, Service},
    service::{DefinitionBuilder, DefinitionError},
    wire::{BufferError, PortBuffer, RawWindow, StagedRegion},
};

#[cfg(all(not(hostcall_device), feature = "test-utils"))]
pub mod test_utils;

#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub mod __private;
