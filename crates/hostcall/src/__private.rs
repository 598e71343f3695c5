//! What generated code and the crates beside this one use. Not part of the public interface.

/// For crates beside this one: port buffers of their own, and arguments where they lie.
pub use crate::{
    record::Report,
    service::{OutSlice, RawOut, RawSlice},
    wire::{PortBuffer, RawWindow, StagedRegion},
};
pub use hostcall_abi::{Geometry, descriptor::FirstPoll};

pub use crate::service::{Completion, Deferred, Definition, Failure, HandlerError, HandlerResult, IntoReply, Invocation, Service};
pub use crate::{__if_device as if_device, __if_host as if_host, __if_tokio as if_tokio};
/// For shared crates that are `no_std`.
pub use ::std;
pub use hostcall_abi as abi;

/// Keeps its input on the device face: here, nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __if_device {
    ($($tokens:tt)*) => {};
}

/// Keeps its input on the host face.
#[doc(hidden)]
#[macro_export]
macro_rules! __if_host {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Keeps its input if the crate has its `tokio` feature.
#[cfg(feature = "tokio")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_tokio {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Keeps its input if the crate has its `tokio` feature: it has not.
#[cfg(not(feature = "tokio"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_tokio {
    ($($tokens:tt)*) => {};
}
