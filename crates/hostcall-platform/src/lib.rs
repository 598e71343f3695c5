//! Safe Rust over devices: platforms, devices, queues, programs, kernels, globals, memory and events, on the CPU
//! simulator, on CUDA and on HSA.
//!
//! A [`Device`] makes everything else: [`Queue`]s, in which work is done in order; [`Program`]s, loaded from bundles of
//! images; [`Memory`], [`HostMemory`], and [`Window`]s, which are device memory that the host writes. Plugins drive the
//! devices behind the object-safe traits of [`backend`]: [`sim`] on any machine, with nothing but stable Rust, NVIDIA's
//! GPUs where their driver is found at run time ([`cuda`]), and AMD's where their runtime is ([`hsa`]).
//!
//! [`Device::default_for`] takes the best device that a program has an image for, and says why; [`Device::open`] the
//! one that a user names. A driver that is missing, too old or without a GPU is an [`Error`] that names the remedy.
//!
//! On the simulator a kernel's fault ends that kernel, and the device goes on. On CUDA it ends the use of CUDA by the
//! whole process: see [`Device::reset`].

mod activity;
mod args;
pub mod backend;
mod calls;
pub mod cuda;
mod device;
mod error;
mod graph;
#[doc(hidden)]
pub mod host;
pub mod hsa;
mod library;
mod memory;
#[doc(hidden)]
pub mod overdue;
mod program;
mod queue;
pub mod sim;
mod symbols;
pub mod waits;
mod window;

pub use activity::{LaunchEvent, Subscription, Watch};
pub use args::{Args, Kept, Params};
pub use device::{Device, DeviceInfo, DeviceKind, Help, Helping, Platform};
pub use error::{Error, Fault, FaultKind};
pub use graph::Graph;
pub use memory::{HostMemory, Memory};
#[doc(inline)]
pub use offload_image::{BundleError, Image, ImageKind, ProgramBundle, Sha256, include_program};
pub use program::{Global, Kernel, LaunchedElsewhere, Program};
pub use queue::{Event, Launch, Queue};
pub use sim::{LaneMode, SimConfig};
pub use window::{Effort, Line, LineStore, Litmus, Window, WindowError, WindowProvider};
