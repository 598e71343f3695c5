//! What generated code and the crates beside this one use. Not part of the public interface.

use abi::codec::Fixed;

/// For crates beside this one: port buffers of their own, and arguments where they lie.
pub use crate::{
    record::Report,
    service::{OutSlice, RawOut, RawSlice},
    wire::{PortBuffer, RawWindow, StagedRegion},
};
pub use hostcall_abi::{Geometry, descriptor::FirstPoll};

pub use crate::service::{
    Calls, Completion, Deferred, Definition, Failure, HandlerError, HandlerResult, IntoReply, Invocation, Out, Service,
};
pub use crate::{__if_device as if_device, __if_host as if_host, __if_tokio as if_tokio};
/// For shared crates that are `no_std`.
pub use ::std;
pub use hostcall_abi as abi;

/// Makes threads of a runtime what threads are that run handlers.
#[cfg(feature = "tokio")]
pub fn for_handlers(builder: &mut tokio::runtime::Builder) {
    builder.thread_stack_size(offload::host::stack_bytes(Default::default())).on_thread_start(offload::host::entered);
}

/// A service of fixed-size arguments, a tuple of them, and a fixed-size result.
pub fn typed<A: Fixed + 'static, R: Fixed + 'static>(
    definition: Definition,
    handler: impl Fn(A) -> Result<R, Failure> + Send + Sync + 'static,
) -> Service {
    Service::typed(definition, handler)
}

/// The same for whole messages.
pub fn batch<A: Fixed + 'static, R: Fixed + 'static>(
    definition: Definition,
    handler: impl Fn(&mut Calls<'_, '_, A, R>) + Send + Sync + 'static,
) -> Service {
    Service::batch(definition, move |batch| handler(&mut batch.typed()))
}

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
