//! AMD's GPUs through HSA, the interface below HIP. The runtime `libhsa-runtime64.so.1` is opened while the program
//! runs, so nothing of ROCm is needed to build or start the program. The variable `HOSTCALL_HSA_LIBRARY` names another
//! library, for tests.
//!
//! **It has never run on hardware**, only on a stand-in for the runtime that runs packets on this project's simulator
//! (`tests/hsa-on-sim`). These are the choices that users should know:
//!
//! * **Queues** are rings of packets in the user's process. Every packet waits for the one before it; copies and events
//!   between them are chained by signals. The plugin has no thread of its own: the runtime calls completions.
//! * **Copies never wait for kernels**, which may be waiting for the host. They go through the PCI window or by copy
//!   engines. Where there is neither, a copy while a kernel runs is an error that says why.
//! * **Stacks.** The compiler does not know how much stack a kernel needs that calls itself or through pointers. Such
//!   kernels get [`stack`] bytes more a lane.
//! * **Faults.** A kernel that traps or touches memory that is not there loses the device: [`crate::Error::DeviceLost`]
//!   from everything made from it. [`crate::Device::reset`] gives a new one.
//! * **Graphs** are not supported.
//! * **Fork.** The runtime does not survive it: a child that was forked after a device had been opened is refused.

mod aql;
mod code;
mod context;
mod copy;
mod device;
mod discover;
mod dispatch;
mod event;
mod fault;
mod flight;
mod job;
mod kernarg;
mod memory;
mod program;
mod queue;
mod raw;
mod runtime;
mod signal;
pub mod sys;
mod target;

pub(crate) use device::HsaPlugin;
pub use raw::{HsaInfo, info, pin, set_stack, stack};
#[doc(hidden)]
pub use runtime::{SYMBOLS, use_library};
