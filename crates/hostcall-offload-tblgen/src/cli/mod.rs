//! The command line: that of LLVM's tool, and what ours has besides.
//!
//! One run reads one file of definitions and writes one output. Nothing is written unless everything succeeded; an
//! output file is then replaced in one step. Whatever goes wrong is said once, on the standard error output, and the
//! exit status is 1.

mod action;
mod args;
mod job;
mod report;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use tablegen::Format;
use tablegen::tool::Phases;

use crate::model::Dialect;
use args::{Args, Parsed};
use job::{Output, Product};
use report::Report;

/// Runs the program with its arguments, the first of which is its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match args::parse(arguments) {
        Parsed::Run(args) => args,
        Parsed::Shown(text) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Parsed::Wrong(text) => {
            eprint!("{text}");
            return ExitCode::FAILURE;
        }
    };
    let mut report = Report::default();
    let mut phases = args.common.phases();
    let mut dialect = args.dialect.unwrap_or(args.default_dialect);
    let done = generate(&args, &mut dialect, &mut phases, &mut report);
    let format = match dialect {
        Dialect::Llvm => Format::Llvm,
        Dialect::Hostcall => Format::Rich,
    };
    report.print(args.common.style(format));
    phases.report();
    if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does what was asked for. `None`: it failed, and the report says why. `dialect` becomes the one that the definitions
/// say.
fn generate(args: &Args, dialect: &mut Dialect, phases: &mut Phases, report: &mut Report) -> Option<()> {
    let Product { output, dependencies } = job::produce(args, dialect, phases, report)?;
    let text = match output {
        Output::Text(text) => text,
        Output::Nothing => return Some(()),
    };
    if args.check {
        return check(&args.common.output, &text, report);
    }
    let written = args.common.write(&text, &dependencies);
    phases.end("write the output");
    written.map_err(|message| report.fail::<()>(message)).ok()
}

/// Compares a file with what it should be.
fn check(path: &Path, wanted: &[u8], report: &mut Report) -> Option<()> {
    let found = match std::fs::read(path) {
        Ok(found) => found,
        Err(error) => return report.fail(format!("cannot read `{}` to check it: {error}; generate it without --check", path.display())),
    };
    if found == wanted {
        return Some(());
    }
    let (wanted, found) = (String::from_utf8_lossy(wanted), String::from_utf8_lossy(&found));
    let (mut line, mut ours, mut theirs) = (1, wanted.lines(), found.lines());
    let (wanted, found) = loop {
        match (ours.next(), theirs.next()) {
            (None, None) => break (None, None),
            (a, b) if a == b => line += 1,
            (a, b) => break (a, b),
        }
    };
    let shown = |text: Option<&str>| text.map_or_else(|| "nothing more".to_owned(), |text| format!("`{}`", shortened(text)));
    let message = format!("`{}` is not what its definitions say, from line {line} on", path.display());
    let what = match (wanted, found) {
        (None, None) => "only the ends of lines differ".to_owned(),
        _ => format!("there should be {} and there is {}", shown(wanted), shown(found)),
    };
    report.fail(format!("{message}: {what}; generate it again without --check"))
}

fn shortened(line: &str) -> String {
    const LONGEST: usize = 100;
    if line.chars().count() <= LONGEST { line.to_owned() } else { line.chars().take(LONGEST).chain("…".chars()).collect() }
}
