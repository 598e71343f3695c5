//! Records of what kernels did: reports, caught panics, counts, traces. Every other module writes here, and this
//! module calls no other.

mod open_call;
mod panics;
mod report;
pub(crate) mod running;
mod spans;
pub(crate) mod stats;
pub(crate) mod tally;
pub(crate) mod trace;

pub(crate) use offload::overdue::tell;
pub use open_call::OpenCall;
pub(crate) use panics::{guard, install_hook};
pub use report::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, Report, UnknownService};
pub(crate) use running::Running;
pub(crate) use spans::Spanned;
