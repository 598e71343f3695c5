//! The command-line program; see `docs/reference/offload-tblgen.md`.

use std::process::ExitCode;

fn main() -> ExitCode {
    offload_tblgen::cli::run(std::env::args_os())
}
