//! The command line: `cargo hostcall …`.
//!
//! Each command is a module with its `Arguments` and a `run` that returns the process's exit code; `main` is the table of them.

mod bench;
mod demo;
mod device;
mod doctor;
mod run;
mod setup;

use std::error::Error;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a command ends with: the exit code, or an error that `main` prints.
type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Code that runs on a GPU calls the host it runs beside, while the kernel is still running.
#[derive(Parser)]
#[command(name = "cargo hostcall", bin_name = "cargo hostcall", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Counts the words of a file, in a kernel that reads it by hostcalls
    Demo(demo::Arguments),
    /// Builds a kernel crate and launches one of its kernels
    Run(run::Arguments),
    /// Measures what calls cost, next to what the bus costs
    Bench(bench::Arguments),
    /// Says what this machine has and lacks, and what to do about it
    Doctor(doctor::Arguments),
    /// Installs what building for GPUs needs
    Setup(setup::Arguments),
}

fn main() -> ExitCode {
    if std::env::var_os("HOSTCALL_DEBUG").is_some_and(|value| value != "0" && !value.is_empty()) {
        let log = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG);
        log.with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal()).init();
    }
    let outcome = match Cli::parse_from(arguments()).command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Setup(arguments) => setup::run(arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

/// The process's arguments without the `hostcall` that cargo inserts when the program runs as `cargo hostcall`.
fn arguments() -> impl Iterator<Item = OsString> {
    let mut arguments = std::env::args_os();
    let program = arguments.next();
    let mut rest = arguments.peekable();
    rest.next_if(|first| first == "hostcall");
    program.into_iter().chain(rest)
}
