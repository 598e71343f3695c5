//! `cargo hostcall cc`: compiles C, and links it to a program. `hostcall-cc` and `hostcall-c++`, which `cargo hostcall
//! setup` makes, are this command.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Outcome;

/// What clang is told.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Compile C++ and not C
    #[arg(long)]
    cxx: bool,
    /// The compiler's arguments: clang's, and --target=sim|nvptx|amdgpu:gfxNNN
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    arguments: Vec<OsString>,
}

/// Compiles.
pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { cxx, arguments } = arguments;
    Ok(ExitCode::from(hostcall_build::compile_c(arguments, cxx, |step| eprintln!("{step}"))?))
}
