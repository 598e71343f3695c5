//! `cargo hostcall bench`.

use std::path::PathBuf;

use crate::Outcome;

/// What to measure on, and where to put it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long)]
    device: Option<String>,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw plots in this directory
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { device: _, json: _, plot: _ } = arguments;
    Err("this build has no benchmark".into())
}
