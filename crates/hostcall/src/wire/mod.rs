//! The wire in this process: the words of a port buffer and how they are moved, its staging area, its memory.
//!
//! Nothing here knows of services, handlers or threads.

mod block;
#[cfg(target_arch = "x86_64")]
mod join;
mod pages;
mod port_buffer;
mod staging;
mod whole;
mod window;
mod words;

pub(crate) use block::{Answer, Block, Lines, Next, Stream};
pub(crate) use port_buffer::open_window;
pub use port_buffer::{BufferError, PortBuffer, RawWindow};
pub use staging::StagedRegion;
pub(crate) use staging::Staging;
#[cfg(feature = "test-utils")]
pub(crate) use whole::{load16, store16};
pub(crate) use words::Doorbells;
#[cfg(feature = "count-loads")]
pub(crate) use words::LOADED;
