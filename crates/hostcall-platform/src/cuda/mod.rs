//! NVIDIA GPUs through the CUDA driver, which is opened while the program runs: no CUDA is needed to build or start
//! it.
//!
//! A device is its *primary* context. The CUDA runtime and cudarc use the same one, so pointers, streams and events
//! can be exchanged with them ([`crate::Device::from_raw_cuda_context`] and its neighbours; with the feature `cudarc`
//! also in the types of a cudarc of whatever CUDA version). Users should know these choices:
//!
//! * **Modules are loaded eagerly.** Under lazy loading the first launch of a kernel waits for the context to fall
//!   idle, and a kernel that waits for the host never lets it. So `CUDA_MODULE_LOADING=EAGER` is set before the driver
//!   is initialised, unless it is set already, and every kernel of a program is loaded with it.
//! * **Releases wait for kernels.** The driver's `cuMemFree` blocks until the device is idle. Memory and programs
//!   dropped while a kernel runs are freed when no kernel runs, by a thread of this crate.
//! * **Waiting** polls for 50 µs and then sleeps.
//! * **Reset** destroys the primary context, and with it everything that other code in the process has on that device.
//!   Host memory allocated on it must have been dropped. Everything else that was made from the old device answers
//!   [`crate::Error::DeviceLost`].

mod context;
mod device;
mod driver;
mod event;
mod fault;
pub mod flat;
mod flight;
mod graph;
mod image;
mod memory;
mod module;
#[cfg(target_os = "linux")]
mod pages;
mod quiet;
mod raw;
mod release;
mod stream;
pub mod sys;
mod watch;
mod window;

#[cfg(feature = "cudarc")]
mod interop;

pub use device::CudaInfo;
pub(crate) use device::CudaPlugin;
pub use device::arch;
pub use raw::{Limit, info, limit, set_limit};
