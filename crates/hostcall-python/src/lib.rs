//! `hostcall._hostcall`: the Rust half of the Python package `hostcall`.
//!
//! The idea: serving threads never touch Python. They put the messages of a service into its queue and go on. One
//! thread of Python's, the dispatcher, takes what has gathered there, calls the service's function once for all of it,
//! and gives the answers back.
//!
//! | module | it owns |
//! |---|---|
//! | [`define`] | services by their Rust text: what the wire calls them, and their stubs |
//! | [`check`] | values that are none: a `bool` of 2 |
//! | [`queue`] | messages on their way from serving threads to the dispatcher |
//! | [`batch`] | messages that the dispatcher has: arguments out, answers in |
//! | [`variable`] | strings and slices of them |
//! | [`server`], [`device`], [`options`] | the server, what it runs on, how it is set up |
//! | [`in_process`] | calls that this process makes itself, for packages that simulate kernels |
//! | [`attach`], [`module`], [`program`] | programs that call |
//! | [`streams`], [`arrow`] | what kernels send without an answer, and its tables in Arrow's C data interface |
//! | [`console`] | what kernels print |
//! | [`watch`] | the thread that notices a held interpreter lock |
//! | [`report`], [`error`] | what went wrong, for Python |
#![allow(rustdoc::private_intra_doc_links, reason = "who reads this reads the sources: Python sees no module of it")]

mod arrow;
mod attach;
mod batch;
mod check;
mod console;
mod define;
mod device;
mod error;
mod in_process;
mod module;
mod options;
mod program;
mod queue;
mod report;
mod server;
mod streams;
mod variable;
mod watch;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _hostcall {
    #[pymodule_export]
    use super::arrow::RecordBatch;
    #[pymodule_export]
    use super::attach::Attachment;
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::define::{Defined, cuda_source, define, python_source};
    #[pymodule_export]
    use super::in_process::InProcess;
    #[pymodule_export]
    use super::module::SimModule;
    #[pymodule_export]
    use super::options::stack_of_handlers;
    #[pymodule_export]
    use super::program::default_device;
    #[pymodule_export]
    use super::server::Server;
    #[pymodule_export]
    use super::streams::Streams;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
