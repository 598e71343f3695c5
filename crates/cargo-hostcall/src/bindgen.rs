//! `cargo hostcall bindgen`: services in other languages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostcall_idl::files::{Errors, Source, parse, parse_with_streams};
use hostcall_idl::generate::{Language, Namespace, generate};

use crate::Outcome;

/// From what, and for whom.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Rust files with `#[hostcall::service]` traits, and with the types that these use
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// cuda: stubs for kernels, over hostcall.cuh; cpp-host: typed definitions for hosts, over hostcall.hpp; c: the
    /// same for C99, over hostcall.h; python
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    lang: Language,
    /// Where to write; without it, to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing: end with exit code 1, and show how they differ, if the output is not what would be written
    #[arg(long, requires = "output")]
    check: bool,
    /// The namespace to write into, in C++: `services`, `mine::services`
    #[arg(long, value_name = "NAME")]
    namespace: Option<Namespace>,
}

/// The names of languages, which help and errors list.
fn language() -> impl clap::builder::TypedValueParser<Value = Language> {
    use clap::builder::TypedValueParser;
    clap::builder::PossibleValuesParser::new(Language::ALL.map(Language::name)).try_map(|name| name.parse::<Language>())
}

/// Why there are no bindings.
#[derive(Debug, thiserror::Error)]
enum BindgenError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{errors}")]
    Definitions { errors: Errors },
    #[error("--namespace is for C++ (cuda, cpp-host): {language} has none")]
    NoNamespaces { language: Language },
    #[error("{} is not there: write it by the same command without --check", path.display())]
    Absent { path: PathBuf },
}

pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { files, lang, output, check, namespace } = arguments;
    if namespace.is_some() && !lang.has_namespaces() {
        return Err(BindgenError::NoNamespaces { language: lang }.into());
    }
    let text = generate(&read(&files, lang)?, lang, &namespace.unwrap_or_default());
    match output {
        None => io::stdout().lock().write_all(text.as_bytes())?,
        Some(path) if check => return compare(&path, &text),
        Some(path) => write(&path, &text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read(files: &[PathBuf], lang: Language) -> Result<hostcall_idl::model::Interface, BindgenError> {
    let read = |path: &PathBuf| fs::read_to_string(path).map_err(|source| BindgenError::Read { path: path.clone(), source });
    let texts: Vec<String> = files.iter().map(read).collect::<Result<_, _>>()?;
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let sources: Vec<Source<'_>> = names.iter().zip(&texts).map(|(name, text)| Source { name, text }).collect();
    // Only kernels send.
    let parse = if lang == Language::Cuda { parse_with_streams } else { parse };
    parse(&sources).map_err(|errors| BindgenError::Definitions { errors })
}

/// Writes a file, unless it is that already: who builds from it need not build again.
fn write(path: &Path, text: &str) -> Result<(), BindgenError> {
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text).map_err(|source| BindgenError::Write { path: path.to_owned(), source })
}

/// Compares a file with what would be written.
fn compare(path: &Path, text: &str) -> Outcome {
    let there = match fs::read(path) {
        // A file that is not UTF-8 is another one, and can be shown all the same.
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(BindgenError::Absent { path: path.to_owned() }.into()),
        Err(source) => return Err(BindgenError::Read { path: path.to_owned(), source }.into()),
    };
    if there == text {
        return Ok(ExitCode::SUCCESS);
    }
    let patch =
        diffy::DiffOptions::new().set_original_filename("there").set_modified_filename("written").create_patch(&there, text).to_string();
    eprint!("{patch}");
    eprintln!("error: {} is not what its definitions give: write it by the same command without --check", path.display());
    Ok(ExitCode::FAILURE)
}
