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
//! let geometry = hostcall::Geometry { slots: 0, word_form: PortBuffer::word_form(), ..hostcall::Geometry::new(4, 32) };
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

#[cfg(all(not(hostcall_device), feature = "tokio"))]
mod asynchronous;
#[cfg(not(hostcall_device))]
mod attach;
#[cfg(not(hostcall_device))]
mod batch;
#[cfg(not(hostcall_device))]
mod blocking;
#[cfg(not(hostcall_device))]
mod buffer;
#[cfg(not(hostcall_device))]
pub mod builtin;
#[cfg(not(hostcall_device))]
mod completion;
#[cfg(not(hostcall_device))]
mod core;
#[cfg(not(hostcall_device))]
mod invocation;
#[cfg(not(hostcall_device))]
mod live;
#[cfg(not(hostcall_device))]
mod memory;
#[cfg(not(hostcall_device))]
mod panics;
#[cfg(not(hostcall_device))]
pub mod policy;
#[cfg(not(hostcall_device))]
mod registry;
#[cfg(not(hostcall_device))]
mod report;
#[cfg(not(hostcall_device))]
mod serve;
#[cfg(not(hostcall_device))]
mod server;
#[cfg(not(hostcall_device))]
mod service;
#[cfg(not(hostcall_device))]
mod stacks;
#[cfg(not(hostcall_device))]
mod stats;
#[cfg(not(hostcall_device))]
mod sweep;
#[cfg(not(hostcall_device))]
mod trace;
#[cfg(not(hostcall_device))]
mod wake;

#[cfg(not(hostcall_device))]
pub use {
    attach::AttachError,
    buffer::{BufferError, PortBuffer},
    builtin::{Builtins, Console, ConsoleError, Input, Sink},
    completion::Completion,
    hostcall_abi::descriptor::FirstPoll,
    hostcall_abi::{CallError, Geometry, Plain, Status},
    hostcall_macros::{Plain, service},
    invocation::{Invocation, OutSlice, RawOut, RawSlice, StagedRegion},
    policy::{Access, Denial, DirGrant, GrantError, Limits, NetGrant, NetGrantError, Policy},
    registry::{RegisterError, ServiceHandle},
    report::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, Report},
    server::{Awake, BufferHandle, Server, ServerBuilder, ServerError, WaitError},
    service::{Definition, Failure, HandlerError, HandlerResult, IntoReply, Service},
    stacks::{program_launch, reserve_lane_stacks, reserve_stacks},
    stats::{Latency, ServiceStats, Stats},
};

#[cfg(all(not(hostcall_device), feature = "test-utils"))]
pub mod test_utils;

#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub mod __private;
