//! Recording calls, each with its data: `OFFLOAD_RECORD=FILE`.
//!
//! A call is written when it begins, with everything that it reads, and again when it has ended, with everything that
//! it wrote. So the file of a program that crashed ends with the call that it crashed in. What is recorded is what the
//! library sees: arguments, images, memory that calls copy or fill, and what they write back. [`replay`](super::replay)
//! makes the calls again.

mod arguments;
pub(super) mod format;
mod own_memory;
mod reader;
mod recorder;

pub(super) use self::recorder::recorder;
pub use reader::{FormatError, Recording};
