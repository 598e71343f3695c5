//! What each action does.

use std::path::{Path, PathBuf};

use tablegen::tool::Phases;
use tablegen::{Diagnostic, Outcome, Records};

use super::action::Action;
use super::args::{Args, LintLevel};
use super::report::Report;
use crate::generate::{Backend, GenError, abi_lock, template};
use crate::ir::Api;
use crate::lint::{self, Rules};
use crate::llvm::{self, Version};
use crate::model::{self, Dialect};

/// What a run made.
#[derive(Debug)]
pub(super) struct Product {
    pub(super) output: Output,
    /// The files that it was made from, besides the first.
    pub(super) dependencies: Vec<PathBuf>,
}

/// What is to be written.
#[derive(Debug)]
pub(super) enum Output {
    Text(Vec<u8>),
    /// The action only reports.
    Nothing,
}

/// Reads the definitions and makes what is to be written. `dialect` becomes the one that the definitions say. `None`:
/// it failed, and the report says why.
pub(super) fn produce(args: &Args, dialect: &mut Dialect, phases: &mut Phases, report: &mut Report) -> Option<Product> {
    let (records, mut dependencies) = records(args, report)?;
    phases.end("read and evaluate");
    *dialect = self::dialect(args, &records, report)?;
    if let Action::Template(path) = &args.action {
        dependencies.push(path.clone());
    }
    let output = output(args, &records, *dialect, report)?;
    phases.end("back end");
    Some(Product { output, dependencies })
}

fn output(args: &Args, records: &Records, dialect: Dialect, report: &mut Report) -> Option<Output> {
    match &args.action {
        Action::PrintRecords => dumped(|out| tablegen::print_records(records, out), report),
        Action::DumpJson => dumped(|out| tablegen::dump_json(records, out), report),
        // What only LLVM's tool has is LLVM's text in every dialect.
        Action::Llvm(action) => llvm_text(args, records, *action, report),
        Action::Either(action, _) if dialect == Dialect::Llvm => llvm_text(args, records, *action, report),
        Action::Either(_, backend) | Action::Own(backend) => own_text(args, records, *backend, report),
        // What there is to say is said when the API is read.
        Action::Lint => api(args, records, dialect, report).map(|_| Output::Nothing),
        Action::Template(path) => {
            let api = api(args, records, Dialect::Hostcall, report)?;
            let source = read(path, report)?;
            made(template::render(&api, &path.display().to_string(), &source), report)
        }
        Action::CheckAbiLock(path) => {
            let api = api(args, records, Dialect::Hostcall, report)?;
            let lock = read(path, report)?;
            match abi_lock::compare(&api, &lock) {
                Ok(changes) => report.changes(path, &changes).map(|()| Output::Nothing),
                Err(error) => report.fail(error.to_string()),
            }
        }
    }
}

fn own_text(args: &Args, records: &Records, backend: Backend, report: &mut Report) -> Option<Output> {
    let api = api(args, records, Dialect::Hostcall, report)?;
    made(backend.generate(&api), report)
}

fn made(text: Result<String, GenError>, report: &mut Report) -> Option<Output> {
    match text {
        Ok(text) => Some(Output::Text(text.into_bytes())),
        Err(error) => report.fail(error.to_string()),
    }
}

fn llvm_text(args: &Args, records: &Records, action: llvm::Action, report: &mut Report) -> Option<Output> {
    let api = api(args, records, Dialect::Llvm, report)?;
    if matches!(action, llvm::Action::Api | llvm::Action::Doc) {
        let errors = model::undescribed(records);
        if !errors.is_empty() {
            errors.into_iter().for_each(|error| report.diagnostic(error));
            return None;
        }
    }
    let known = args.llvm_version.or_else(|| model::llvm_version(records));
    let text = match llvm::generate(&api, action, known.unwrap_or_default()) {
        Ok(text) => text,
        Err(error) => return report.fail(error.to_string()),
    };
    if known.is_none() && llvm::generate(&api, action, Version::V22).as_ref() != Ok(&text) {
        let message = "the definitions do not say whether they are LLVM 22's or 23's, whose texts differ here; this is 23's";
        report.diagnostic(Diagnostic::warning(None, message).with_note("help: say which with --llvm-version"));
    }
    Some(Output::Text(text.into_bytes()))
}

/// Whose text is meant where both dialects have an action.
fn dialect(args: &Args, records: &Records, report: &mut Report) -> Option<Dialect> {
    match model::dialect(records) {
        Ok(said) => Some(args.dialect.or(said).unwrap_or(args.default_dialect)),
        Err(diagnostic) => {
            report.diagnostic(*diagnostic);
            None
        }
    }
}

fn read(path: &Path, report: &mut Report) -> Option<String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) => report.fail(format!("cannot read `{}`: {error}", path.display())),
    }
}

fn records(args: &Args, report: &mut Report) -> Option<(Records, Vec<PathBuf>)> {
    let Outcome { records, diagnostics, sources, dependencies } = match args.common.read() {
        Ok(outcome) => outcome,
        Err(message) => return report.fail(message),
    };
    report.sources(sources);
    for diagnostic in diagnostics {
        report.diagnostic(diagnostic);
    }
    Some((records?, dependencies))
}

fn dumped(dump: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>, report: &mut Report) -> Option<Output> {
    let mut text = Vec::new();
    match dump(&mut text) {
        Ok(()) => Some(Output::Text(text)),
        Err(error) => report.fail(format!("cannot write the records: {error}")),
    }
}

/// The API, when its definitions are sound enough for what is to be made of them.
fn api(args: &Args, records: &Records, dialect: Dialect, report: &mut Report) -> Option<Api> {
    let source = args.common.input.file_name().map_or_else(|| "<stdin>".into(), |name| name.to_string_lossy());
    let api = match model::load(records, &source) {
        Ok(api) => api,
        Err(errors) => {
            for error in errors {
                report.diagnostic(error);
            }
            return None;
        }
    };
    let level = args.lints.unwrap_or(if dialect == Dialect::Llvm { LintLevel::Warn } else { LintLevel::Error });
    if level == LintLevel::Off {
        return Some(api);
    }
    let rules = Rules { types_by_name: dialect == Dialect::Llvm };
    let findings: Vec<_> = lint::check(&api, rules).into_iter().filter(|finding| !args.allowed.contains(&finding.lint)).collect();
    let is_error = |finding: &lint::Finding| level == LintLevel::Error && !finding.lint.is_guess();
    for finding in &findings {
        report.finding(finding, is_error(finding));
    }
    (!findings.iter().any(is_error)).then_some(api)
}
