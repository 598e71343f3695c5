//! `cargo hostcall test`: `cargo test`, on a device.

use std::ffi::OsString;

use crate::cargo::{self, Selection, Targets, Verb};
use crate::options::Options;
use crate::{Outcome, exec};

/// What to test, where, and what the tests may do.
#[derive(clap::Args)]
#[command(after_help = "What follows `--` goes to the tests: `cargo hostcall test -- NAME --nocapture`.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    threads: exec::Threads,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    targets: Targets,
    /// Run the tests whose names contain this
    name: Option<String>,
}

/// `rest` is what follows `--` on the command line.
pub(crate) fn run(arguments: Arguments, mut rest: Vec<OsString>) -> Outcome {
    let Arguments { options, threads, selection, targets, name } = arguments;
    rest.splice(0..0, name.map(OsString::from));
    cargo::run(Verb::Test(targets), &options, threads.to_arguments(), &selection, &rest)
}
