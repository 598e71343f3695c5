//! Code that runs on a GPU calls the host it runs beside, while the kernel is still running.
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
    builtin::{Builtins, Console, ConsoleError, Sink},
    completion::Completion,
    hostcall_abi::{CallError, Geometry, Plain, Status},
    hostcall_macros::{Plain, service},
    invocation::{Invocation, OutSlice, RawOut, RawSlice, StagedRegion},
    policy::{Access, DirGrant, GrantError, Limits, Policy},
    registry::{RegisterError, ServiceHandle},
    report::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, Report},
    server::{Awake, BufferHandle, Server, ServerBuilder, ServerError, WaitError},
    service::{Definition, Failure, HandlerError, HandlerResult, IntoReply, Service},
    stats::{Latency, ServiceStats, Stats},
};

#[cfg(all(not(hostcall_device), feature = "test-utils"))]
pub mod test_utils;

#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub mod __private;
