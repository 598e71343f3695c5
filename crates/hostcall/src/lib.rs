//! Code that runs on a GPU calls the host it runs beside, while the kernel is still running.
//!
//! A *service* is defined once, by [`macro@service`], in code that both sides compile. In a kernel it is a function to
//! call; on the host it is a constructor that makes a [`Service`] of a closure. A [`Server`] answers the calls of the
//! programs that are attached to it, on threads of its own, while their kernels run.
//!
//! This is a whole program: a service, a kernel that calls it, and the host that launches the kernel and answers.
//!
//! ```no_run
//! # #![allow(unexpected_cfgs, reason = "packages with kernels declare the cfg, documentation tests cannot")]
//! #![cfg_attr(hostcall_device, no_std)]
//!
//! #[hostcall::service]
//! pub trait Host {
//!     /// A kernel writes `Host::add42(x)?`.
//!     fn add42(x: f32) -> f32;
//! }
//!
//! // The device's half.
//! #[cfg(hostcall_device)]
//! mod kernels {
//!     use hostcall::prelude::*;
//!
//!     /// Adds 42 to each element, on the host.
//!     #[kernel]
//!     pub fn demo(y: &mut [f32]) -> Result<(), CallError> {
//!         let i = global_id();
//!         if i < y.len() {
//!             y[i] = super::Host::add42(y[i])?;
//!             println!("lane {i}: {}", y[i]);
//!         }
//!         Ok(())
//!     }
//! }
//!
//! // The host's half.
//! #[cfg(not(hostcall_device))]
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     use hostcall::{Args, Device, Launch, Server};
//!
//!     // What `hostcall_build::program(".").emit()` in `build.rs` has built, for the simulator and for GPUs.
//! #   #[cfg(any())]
//!     let kernels = hostcall::include_program!("first-call");
//! #   let kernels = hostcall::ProgramBundle::new("first-call", Vec::new());
//!     let (device, why) = Device::default_for(&kernels);
//!     println!("{why}");
//!     let program = device.load(&kernels)?;
//!
//!     let server = Server::builder(&device).service(host::add42(|x| x + 42.0)).start()?;
//!     server.attach(&program)?;
//!
//!     let queue = device.queue()?;
//!     let y = device.alloc::<f32>(8)?;
//!     queue.copy_to(&y, 0, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])?;
//!     // SAFETY: the kernel takes one slice of `f32`; `y` is one, and outlives the launch, which `wait` waits for.
//!     unsafe { queue.launch(&program.kernel("demo")?, Launch::threads(8, 32), Args::new().slice(&y))? };
//!     server.wait(&queue)?;
//!     println!("{:?}", queue.read(&y)?);
//!     Ok(())
//! }
//! ```
//!
//! `cargo hostcall new --kernel first-call` makes a package with the `Cargo.toml` and the `build.rs` that it needs, and
//! with a program like it. Pasted over that package's `src/main.rs`, it runs by `cargo run`, on the simulator where
//! there is no GPU.
//!
//! This crate has two faces under one name. Built with `--cfg hostcall_device`, as `hostcall-build` does for kernels,
//! it is the device library, which has the calls, `print!`, files, a heap and the rest of what kernels use; otherwise
//! it is the host runtime, which this page describes.
#![cfg_attr(feature = "docs", doc = "The device library is documented as [`device`].")]
#![cfg_attr(not(feature = "docs"), doc = "The device library is documented as the crate `hostcall_device`.")]
//!
//! The book is in `docs/`: services and how handlers run, the policy, the protocol.
#![cfg_attr(hostcall_device, no_std)]

#[cfg(hostcall_device)]
pub use hostcall_device::*;

#[cfg(not(hostcall_device))]
pub mod builtin;
#[cfg(not(hostcall_device))]
pub mod detached;
#[cfg(not(hostcall_device))]
pub mod fleet;
#[cfg(not(hostcall_device))]
pub mod policy;
#[cfg(not(hostcall_device))]
pub mod rank;
#[cfg(not(hostcall_device))]
mod record;
#[cfg(not(hostcall_device))]
mod rpc;
#[cfg(not(hostcall_device))]
mod server;
#[cfg(not(hostcall_device))]
mod service;
#[cfg(not(hostcall_device))]
mod serving;
#[cfg(not(hostcall_device))]
mod tenant;
#[cfg(not(hostcall_device))]
mod wire;

#[cfg(not(hostcall_device))]
pub use {
    builtin::{Builtins, Console, ConsoleError, Input, RpcSession, Sink},
    fleet::Fleet,
    hostcall_abi::{CallError, Callee, Plain, Status},
    hostcall_error::{Forked, Local, Origin},
    hostcall_macros::{Plain, service, stream},
    policy::{Access, Denial, DirGrant, GrantError, Limits, NetGrant, NetGrantError, Policy},
    rank::{Rank, RankError},
    record::stats::{Latency, ServiceStats, Stats},
    record::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, OpenCall, UnknownService},
    server::placement::{ParsePlacementError, Placement},
    server::std_programs,
    server::{AttachError, Awake, BufferHandle, InHandler, RemoveError, Server, ServerBuilder, ServerError, Signature, WaitError},
    service::registry::{RegisterError, ServiceHandle},
    service::{Arguments, Invocation, Out, Written},
    service::{Batch, Calls, Column, ColumnMut, DeferredBatch, Requests, Rows, RowsMut},
    service::{Completion, Deferred, Definition, Failure, HandlerError, HandlerResult, IntoReply, Service},
    service::{DefinitionBuilder, DefinitionError, Variable, VariableKind},
    wire::BufferError,
};

#[cfg(not(hostcall_device))]
#[doc(inline)]
pub use offload::{
    Args, Device, DeviceInfo, DeviceKind, Event, Global, Graph, HostMemory, Kernel, LaneMode, Launch, Memory, Params, Program,
    ProgramBundle, Queue, SimConfig, include_program,
};

/// All of the crate that devices come from: beside what stands here, its errors, its plugins, and the doors to what
/// other libraries made of CUDA and HSA.
#[cfg(not(hostcall_device))]
pub use offload as platform;

/// The device library: what `hostcall` is in kernels. Here for its documentation only; calls that are made on the host
/// go nowhere.
#[cfg(all(not(hostcall_device), feature = "docs"))]
pub mod device {
    #[doc(inline)]
    pub use hostcall_device::*;
}

#[cfg(all(not(hostcall_device), feature = "test-utils"))]
pub mod test_utils;

/// The device's prelude, as the host sees it: what both sides have, and a `kernel` that says where kernels go.
#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub mod prelude {
    pub use crate::Plain;
    pub use hostcall_abi::{CallError, Callee};
    pub use hostcall_macros::{kernel_on_host as kernel, service};
}

#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub use hostcall_macros::kernel_on_host as kernel;

#[cfg(not(hostcall_device))]
#[doc(hidden)]
pub mod __private;

/// Pages of the book whose examples are whole: they are compiled with the documentation's tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/guide/crates.md")]
    mod crates {}
    #[doc = include_str!("../../../docs/guide/policy.md")]
    mod policy {}
    #[doc = include_str!("../../../docs/guide/porting.md")]
    mod porting {}
    #[doc = include_str!("../../../docs/guide/start.md")]
    mod start {}
}
