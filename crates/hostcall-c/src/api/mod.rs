//! The functions of `hostcall.h`, which says what each of them does.
//!
//! Their parameters have the header's names. What they say of safety is one thing for all: the caller keeps to the
//! header.

#![expect(clippy::missing_safety_doc, reason = "the header says what callers owe, for all functions at once")]

mod about;
mod devices;
mod memory;
mod programs;
mod running;
mod servers;
mod services;

pub use about::*;
pub use devices::*;
pub use memory::*;
pub use programs::*;
pub use running::*;
pub use servers::*;
pub use services::*;
