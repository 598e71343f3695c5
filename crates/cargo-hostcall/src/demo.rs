//! `cargo hostcall demo`.

use std::path::PathBuf;

use crate::Outcome;

/// What to count, and where.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file whose words are counted [default: the Apache licence]
    file: Option<PathBuf>,
    /// The device: sim, sim:SETTINGS, cuda, cuda:N [default: the first CUDA device, else the simulator]
    #[arg(long)]
    device: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { file: _, device: _ } = arguments;
    Err("the demo is not built yet".into())
}
