//! The wire in this process: the words of a port buffer and how they are moved, its staging area, its memory.
//!
//! Nothing here knows of services, handlers or threads.

mod pages;
mod port_buffer;
mod staging;
mod window;
mod words;

pub use port_buffer::{BufferError, PortBuffer, RawWindow};
pub use staging::StagedRegion;
pub(crate) use staging::Staging;
pub(crate) use words::Doorbells;
#[cfg(feature = "test-utils")]
pub(crate) use words::{load16, store16};
