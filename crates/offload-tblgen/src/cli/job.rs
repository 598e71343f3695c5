//! What each action does.

use std::path::{Path, PathBuf};

use tablegen::{Options, Outcome, Records};

use super::args::{Args, LintLevel};
use super::report::Report;
use crate::generate::{Backend, abi_lock, template};
use crate::ir::Api;
use crate::lint::{self, Rules};
use crate::llvm;
use crate::model::{self, Dialect};

/// What to make.
#[derive(Clone, Debug)]
pub(super) enum Job {
    /// An action by its name, which both dialects may have.
    Named(&'static str),
    /// A template, rendered over the API.
    Template(PathBuf),
    /// A comparison with an ABI lock.
    CheckAbiLock(PathBuf),
}

/// What an action of LLVM's tool does.
#[derive(Clone, Copy, Debug)]
pub(super) enum LlvmJob {
    PrintRecords,
    DumpJson,
    Generate(llvm::Action),
}

/// The actions of LLVM's tool: their names, what they write, and what they are.
pub(super) const ACTIONS: [(&str, &str, LlvmJob); 12] = [
    ("print-records", "Print all records (the default)", LlvmJob::PrintRecords),
    ("dump-json", "Print all records as JSON", LlvmJob::DumpJson),
    ("gen-api", "The C header", LlvmJob::Generate(llvm::Action::Api)),
    ("gen-doc", "Documentation in reStructuredText", LlvmJob::Generate(llvm::Action::Doc)),
    ("gen-func-names", "An X-macro list of the functions", LlvmJob::Generate(llvm::Action::FuncNames)),
    ("gen-impl-func-decls", "C++ declarations of the functions behind the entry points", LlvmJob::Generate(llvm::Action::ImplFuncDecls)),
    ("gen-entry-points", "The entry points", LlvmJob::Generate(llvm::Action::EntryPoints)),
    ("gen-print-header", "A C++ header that prints values", LlvmJob::Generate(llvm::Action::PrintHeader)),
    ("gen-exports", "The linker's list of exported names", LlvmJob::Generate(llvm::Action::Exports)),
    ("gen-errcodes", "An X-macro list of the error codes", LlvmJob::Generate(llvm::Action::Errcodes)),
    ("gen-info", "An X-macro list of the device properties", LlvmJob::Generate(llvm::Action::Info)),
    ("gen-get-info-wrappers", "C++ wrappers that return properties in their types", LlvmJob::Generate(llvm::Action::GetInfoWrappers)),
];

/// The actions of our own dialect, and what they write.
pub(super) fn own_actions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let backends = Backend::ALL.iter().map(|backend| (backend.action(), backend.help().trim_end_matches('.')));
    backends.chain([("lint", "Nothing; only report faults of the definitions")])
}

/// Reads the definitions and makes the text that is to be written, if any. Also the files that it was made from, besides the first.
pub(super) fn produce(args: &Args, report: &mut Report) -> Option<(Option<String>, Vec<PathBuf>)> {
    let (records, dependencies) = records(args, report)?;
    let llvm_job = match &args.job {
        Job::Named(name) => ACTIONS.iter().find(|(known, ..)| known == name).map(|(_, _, job)| *job),
        Job::Template(_) | Job::CheckAbiLock(_) => None,
    };
    let dialect = dialect(args, &records, report)?;
    let text = match llvm_job {
        Some(LlvmJob::PrintRecords) => dumped(|out| tablegen::print_records(&records, out), report)?,
        Some(LlvmJob::DumpJson) => dumped(|out| tablegen::dump_json(&records, out), report)?,
        // What only LLVM's tool has is LLVM's text in every dialect.
        Some(LlvmJob::Generate(action)) if dialect == Dialect::Llvm || !is_ours(&args.job) => {
            let api = api(args, &records, Dialect::Llvm, report)?;
            let version = args.llvm_version.unwrap_or_else(|| model::llvm_version(&records));
            match llvm::generate(&api, action, version) {
                Ok(text) => Some(text),
                Err(error) => return report.fail(error.to_string()),
            }
        }
        _ => {
            let rules = if matches!(args.job, Job::Named("lint")) { dialect } else { Dialect::Hostcall };
            own(args, &api(args, &records, rules, report)?, report)?
        }
    };
    Some((text, dependencies))
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

/// Whether our dialect has an action of that name.
fn is_ours(job: &Job) -> bool {
    matches!(job, Job::Named(name) if Backend::ALL.iter().any(|backend| backend.action() == *name))
}

/// The text of an action that is ours. Nothing for those that only report.
fn own(args: &Args, api: &Api, report: &mut Report) -> Option<Option<String>> {
    let made = match &args.job {
        Job::Named(name) => match Backend::ALL.iter().find(|backend| backend.action() == *name) {
            Some(backend) => backend.generate(api),
            // `lint`: what there is to say was said when the API was read.
            None => return Some(None),
        },
        Job::Template(path) => {
            let source = read(path, report)?;
            template::render(api, &path.display().to_string(), &source)
        }
        Job::CheckAbiLock(path) => {
            let lock = read(path, report)?;
            match abi_lock::compare(api, &lock) {
                Ok(changes) => return report.changes(path, &changes).map(|()| None),
                Err(error) => Err(error),
            }
        }
    };
    match made {
        Ok(text) => Some(Some(text)),
        Err(error) => report.fail(error.to_string()),
    }
}

fn read(path: &Path, report: &mut Report) -> Option<String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) => report.fail(format!("cannot read `{}`: {error}", path.display())),
    }
}

fn records(args: &Args, report: &mut Report) -> Option<(Records, Vec<PathBuf>)> {
    let options = Options { include_dirs: args.include_dirs.clone(), defines: args.defines.clone(), ..Options::default() };
    let Outcome { records, diagnostics, sources, dependencies } = if args.input == Path::new("-") {
        match tablegen::tool::read_stdin() {
            Ok(text) => tablegen::parse_str("<stdin>", &text, &options),
            Err(error) => return report.fail(format!("cannot read the standard input: {error}")),
        }
    } else {
        tablegen::parse_file(&args.input, &options)
    };
    report.sources(sources);
    for diagnostic in diagnostics {
        report.diagnostic(diagnostic);
    }
    Some((records?, dependencies))
}

fn dumped(dump: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>, report: &mut Report) -> Option<Option<String>> {
    let mut text = Vec::new();
    let dumped = dump(&mut text).and_then(|()| String::from_utf8(text).map_err(std::io::Error::other));
    match dumped {
        Ok(text) => Some(Some(text)),
        Err(error) => report.fail(format!("cannot write the records: {error}")),
    }
}

/// The API, when its definitions are sound enough for what is to be made of them.
fn api(args: &Args, records: &Records, dialect: Dialect, report: &mut Report) -> Option<Api> {
    let source = args.input.file_name().map_or_else(|| "<stdin>".into(), |name| name.to_string_lossy());
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
    for finding in &findings {
        report.finding(finding, level == LintLevel::Error);
    }
    (findings.is_empty() || level == LintLevel::Warn).then_some(api)
}
