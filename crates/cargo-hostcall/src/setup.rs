//! `cargo hostcall setup`: installs what building for GPUs needs.

use std::process::ExitCode;

use crate::Outcome;

/// There is nothing to choose.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Installs what is missing. The exit code says whether all is there now.
pub(crate) fn run(_: Arguments) -> Outcome {
    let report = hostcall_build::setup(|step| eprintln!("  running  {step}"));
    for line in &report.done {
        println!("  ok       {line}");
    }
    for line in &report.failed {
        println!("  missing  {line}");
    }
    Ok(if report.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
