//! Code that runs on a GPU calls the host it runs beside, while the kernel is still running.
#![cfg_attr(hostcall_device, no_std)]
#[cfg(hostcall_device)]
pub use hostcall_device::*;
