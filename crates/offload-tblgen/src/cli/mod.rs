//! The command line: that of LLVM's tool, and what ours has besides.
//!
//! One run reads one file of definitions and writes one output. Nothing is written unless everything succeeded; an output file is then replaced in
//! one step. Whatever goes wrong is said once, on the standard error output, and the exit status is 1.

mod args;
mod job;
mod report;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use tablegen::tool;

use args::{Args, Parsed};
use report::Report;

/// Runs the program with its arguments, the first of which is its name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut report = Report::default();
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
    let done = generate(&args, &mut report);
    report.print();
    if done.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does what was asked for. `None`: it failed, and the report says why.
fn generate(args: &Args, report: &mut Report) -> Option<()> {
    let (text, dependencies) = job::produce(args, report)?;
    // Some actions only report.
    let Some(text) = text else { return Some(()) };
    if args.check {
        return check(&args.output, &text, report);
    }
    if let Some(depfile) = &args.depfile {
        write(depfile, tool::dependency_file(&args.output, &dependencies).as_bytes(), false, report)?;
    }
    write(&args.output, text.as_bytes(), args.write_if_changed, report)
}

fn write(path: &Path, contents: &[u8], only_if_changed: bool, report: &mut Report) -> Option<()> {
    match tool::write_output(path, contents, only_if_changed) {
        Ok(_) => Some(()),
        // Whoever reads our output may stop when it has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Some(()),
        Err(error) => report.fail(format!("cannot write `{}`: {error}", path.display())),
    }
}

/// Compares a file with what it should be.
fn check(path: &Path, wanted: &str, report: &mut Report) -> Option<()> {
    let found = match std::fs::read(path) {
        Ok(found) => found,
        Err(error) => return report.fail(format!("cannot read `{}` to check it: {error}; generate it without --check", path.display())),
    };
    if found == wanted.as_bytes() {
        return Some(());
    }
    let found = String::from_utf8_lossy(&found);
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
