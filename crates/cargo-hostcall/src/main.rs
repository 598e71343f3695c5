//! The command line: `cargo hostcall …`.
//!
//! Each command is a module with its `Arguments` and a `run` that returns the process's exit code; `main` is the table
//! of them.

mod bench;
mod bindgen;
mod build;
mod cargo;
mod cc;
mod config;
mod demo;
mod device;
mod doctor;
mod environment;
mod exec;
mod kernel;
mod launch;
mod new;
mod options;
mod probe;
mod ptx;
mod run;
mod screen;
mod setup;
mod stream;
mod test;
#[cfg(unix)]
mod top;
mod values;

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What a command ends with: the exit code, or an error that `main` prints.
type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Runs programs and kernels on a GPU, or on a simulated one, and answers their calls to the host
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
    /// Runs a program on a device, or launches a kernel of a kernel crate
    Run(Box<run::Arguments>),
    /// Runs a package's tests on a device
    Test(Box<test::Arguments>),
    /// Builds programs for devices
    Build(Box<build::Arguments>),
    /// Compiles C for devices, as clang does, and links it to a program
    Cc(cc::Arguments),
    /// Makes a new package: a program, or with --kernel a kernel and the program that launches it
    New(new::Arguments),
    /// Prints the settings with which plain `cargo run` and `cargo test` use a device
    Config(Box<config::Arguments>),
    /// Runs an image that `cargo hostcall build` made; cargo calls this, too
    Exec(Box<exec::Arguments>),
    /// Measures what calls cost, and compares it with what the bus costs
    Bench(bench::Arguments),
    /// Writes what other languages need to call services, or to answer them
    Bindgen(bindgen::Arguments),
    /// Runs a program that uses CUDA, and has its kernels tell of what they do, without a changed line
    Probe(Box<probe::Arguments>),
    /// Shows, checks and converts recordings of message streams
    Stream(stream::Arguments),
    /// Shows what the servers of a running process do: programs, services, who waits
    #[cfg(unix)]
    Top(top::Arguments),
    /// Says what this machine has and lacks, and how to fix it
    Doctor(doctor::Arguments),
    /// Installs the device toolchain, which builds for GPUs
    Setup(setup::Arguments),
}

fn main() -> ExitCode {
    // Cargo and rustc know us by other names: then we are a compiler or a linker, and nothing else may be written.
    if let Some(code) = hostcall_build::act_as_tool().or_else(probe::assembler::act) {
        return code;
    }
    if std::env::var_os("HOSTCALL_DEBUG").is_some_and(|value| value != "0" && !value.is_empty()) {
        let log = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG);
        log.with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal()).init();
    }
    let (own, rest) = split(arguments().collect());
    let outcome = match Cli::parse_from(own).command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Run(arguments) => run::run(*arguments, rest),
        Command::Test(arguments) => test::run(*arguments, rest),
        Command::Build(arguments) => build::run(*arguments),
        Command::Cc(arguments) => cc::run(arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Config(arguments) => config::run(*arguments),
        Command::Exec(arguments) => exec::run(*arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Bindgen(arguments) => bindgen::run(arguments),
        Command::Probe(arguments) => probe::run(*arguments),
        Command::Stream(arguments) => stream::run(arguments),
        #[cfg(unix)]
        Command::Top(arguments) => top::run(&arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Setup(arguments) => setup::run(arguments),
    };
    outcome.unwrap_or_else(|error| {
        // A closed pipe is no failure of ours: `doctor | head -1`.
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        let text = error.to_string();
        // The compiler's errors say already what they are.
        let heading = if text.starts_with("error") { "" } else { "error: " };
        eprintln!("{heading}{text}");
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

/// Cuts off what follows the first `--` of commands that hand it to a program: the program's own options are none of
/// ours. `exec` gets its image and all after it in one piece, and the environment's options before.
fn split(mut arguments: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    match arguments.get(1).and_then(|command| command.to_str()) {
        Some("run" | "test") => {
            let Some(at) = arguments.iter().position(|argument| argument == "--") else { return (arguments, Vec::new()) };
            let rest = arguments.split_off(at).into_iter().skip(1).collect();
            (arguments, rest)
        }
        Some("exec") => {
            arguments.splice(2..2, environment::options_from_environment());
            (arguments, Vec::new())
        }
        _ => (arguments, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn what_follows_two_dashes_is_the_programs() {
        assert_eq!(split(words("x run -p a -- --dir -- b")), (words("x run -p a"), vec!["--dir".into(), "--".into(), "b".into()]));
        assert_eq!(split(words("x run crate kernel -1")), (words("x run crate kernel -1"), vec![]));
        assert_eq!(split(words("x bench -- y")), (words("x bench -- y"), vec![]));
    }
}
