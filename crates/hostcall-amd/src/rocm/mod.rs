//! Ready handlers for what ROCm's device libraries ask for: texts of `printf`, memory, and reports of the address
//! sanitizer.
//!
//! The facts are from the public sources of ROCm: `amd/device-libs/ockl/src/services.cl` in `ROCm/llvm-project` and
//! `rocclr/device/devhc*.cpp` of its runtime. What a kernel sends is checked: a message has a bounded size, memory is
//! released by the address that was handed out, and no text is a format of the C library's.

mod memory;
mod messages;
mod sanitizer;
mod text;

pub use memory::{Allocate, Release};
pub(crate) use memory::{Memory, Source};
pub(crate) use messages::printf;
pub(crate) use sanitizer::report;

/// The service of `printf` and `fprintf`.
pub(crate) const PRINTF: u32 = 2;
/// The service that hands memory out and takes it back.
pub(crate) const MEMORY: u32 = 3;
/// The service of the address sanitizer's reports.
pub(crate) const SANITIZER: u32 = 4;
