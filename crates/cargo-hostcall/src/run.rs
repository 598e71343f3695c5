//! `cargo hostcall run`.

use std::path::PathBuf;

use crate::Outcome;

/// What to run, where, and what it may do.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The kernel crate's directory
    kernel_crate: PathBuf,
    /// The kernel
    kernel: String,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { kernel_crate: _, kernel: _ } = arguments;
    Err("not built yet".into())
}
