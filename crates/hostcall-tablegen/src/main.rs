//! `tablegen`: evaluates TableGen sources and dumps the records, with the options of `llvm-tblgen`.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};
use tablegen::tool::{self, Common};
use tablegen::{Format, Outcome, Records, Style};

/// Evaluates TableGen sources and prints the records they define.
#[derive(Parser)]
#[command(name = "tablegen", version, about, after_help = "Long options may be written with one dash.")]
struct Cli {
    #[command(flatten)]
    common: Common,
    /// Prints classes and records as text (the default)
    #[arg(long, overrides_with_all = ["print_records", "dump_json", "null_backend"])]
    print_records: bool,
    /// Prints records as JSON
    #[arg(long, overrides_with_all = ["print_records", "dump_json", "null_backend"])]
    dump_json: bool,
    /// Prints nothing: for checking and for measuring
    #[arg(long, overrides_with_all = ["print_records", "dump_json", "null_backend"])]
    null_backend: bool,
}

fn main() -> ExitCode {
    match run(std::env::args_os()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("tablegen: error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> Result<ExitCode, String> {
    let command = Cli::command();
    let arguments = tool::arguments(&command, arguments);
    let format = arguments.first().map(|name| default_format(Path::new(name))).unwrap_or_default();
    let cli = match command.try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(help) if !help.use_stderr() => {
            help.print().map_err(|error| format!("cannot write to the standard output: {error}"))?;
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => {
            eprint!("{error}");
            return Ok(ExitCode::FAILURE);
        }
    };
    cli.common.check()?;
    let mut phases = cli.common.phases();
    let outcome = cli.common.read()?;
    phases.end("read and evaluate");
    report(&outcome, cli.common.style(format));
    let Some(records) = &outcome.records else { return Ok(ExitCode::FAILURE) };
    let output = render(&cli, records).map_err(|error| format!("cannot print the records: {error}"))?;
    phases.end("print");
    cli.common.write(&output, &outcome.dependencies)?;
    phases.end("write the output");
    phases.report();
    Ok(ExitCode::SUCCESS)
}

/// Who calls this program by the name of LLVM's, expects diagnostics as that writes them.
fn default_format(program: &Path) -> Format {
    let is_llvm_s = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm-tblgen"));
    if is_llvm_s { Format::Llvm } else { Format::Rich }
}

fn report(outcome: &Outcome, style: Style) {
    let mut out = std::io::stderr().lock();
    for diagnostic in &outcome.diagnostics {
        // There is nowhere to say that the error stream is closed; the exit code still tells.
        let _ = tablegen::emit(diagnostic, &outcome.sources, style, &mut out);
    }
    let _ = out.flush();
}

fn render(cli: &Cli, records: &Records) -> std::io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if cli.dump_json {
        tablegen::dump_json(records, &mut output)?;
    } else if !cli.null_backend {
        tablegen::print_records(records, &mut output)?;
    }
    Ok(output)
}
