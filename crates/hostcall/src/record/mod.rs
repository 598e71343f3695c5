//! What is written down of what kernels did: reports, caught panics, counts, traces. Everything else writes here; nothing here calls anything else.

mod open_call;
mod panics;
mod report;
pub(crate) mod stats;
pub(crate) mod tally;
pub(crate) mod trace;

pub use open_call::OpenCall;
pub(crate) use panics::{guard, install_hook};
pub(crate) use report::tell;
pub use report::{DevicePanic, HandlerFailure, HandlerPanic, KernelReport, Report, UnknownService};
