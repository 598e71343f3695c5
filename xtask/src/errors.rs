//! Every public error of the published crates shows what it means by `Debug`, too: it is what a `main` that returns it
//! prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// All of them, by crate. Whoever adds one adds it here, so that it is seen.
const ERRORS: &[(&str, &[&str])] = &[
    (
        "hostcall",
        &[
            "AttachError",
            "BufferError",
            "ConsoleError",
            "DefinitionError",
            "Failure",
            "FleetError",
            "FleetWaitError",
            "GrantError",
            "HandlerError",
            "InHandler",
            "Invalid",
            "KernelReport",
            "NetGrantError",
            "ParsePlacementError",
            "RankError",
            "RegisterError",
            "RemoveError",
            "ServerError",
            "WaitError",
        ],
    ),
    ("hostcall-abi", &["CallError", "DecodeError", "Error", "GeometryError"]),
    ("hostcall-build", &["BuildError", "ParseInstrumentError", "PtxError"]),
    ("hostcall-error", &["Forked"]),
    ("hostcall-idl", &["Error", "ErrorKind", "Errors", "NamespaceError", "UnknownLanguage"]),
    ("hostcall-image", &["BundleError"]),
    ("hostcall-offload-api", &["Error", "FaultError", "FormatError"]),
    ("hostcall-offload-tblgen", &["CTypeError", "Error", "GenError", "ParseError", "TypeError", "UnknownType"]),
    ("hostcall-platform", &["Error", "WindowError"]),
    ("hostcall-remote", &["Malformed", "RemoteError"]),
    ("hostcall-sinks", &["ConvertError", "OpenError", "ReadError"]),
    (
        "hostcall-stream",
        &["AttachError", "Error", "FilterError", "ParseFilterError", "RecordError", "SelectError", "SinkError", "StartError", "WaitError"],
    ),
    ("hostcall-tablegen", &["FieldError"]),
    ("hostcall-top", &["AskError"]),
];

/// Crates that are programs, or libraries for other languages: nobody's `main` returns their errors.
const NO_RUST: [&str; 2] = ["cargo-hostcall", "hostcall-python"];

/// The name of a public type that this line begins.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub enum ").or_else(|| line.strip_prefix("pub struct "))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// The public errors of a file, and which of them derive `Debug`.
fn errors_of(source: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut derives = String::new();
    for line in source.lines() {
        if let Some(name) = public_type(line) {
            let implements = |trait_: &str| source.contains(&format!("impl {trait_}::error::Error for {name} "));
            if derives.contains("thiserror::Error") || implements("std") || implements("core") {
                found.push((name, derives.contains("Debug")));
            }
        }
        match line.strip_prefix("#[derive(") {
            Some(derived) => derives = derived.to_owned(),
            // Other attributes, and their further lines, belong to the same type.
            None if line.starts_with(['#', '/', ' ', '\t', ')']) => {}
            None => derives.clear(),
        }
    }
    found
}

/// Whether the source says that the type's `Debug` is its text.
fn is_readable(source: &str, name: &str) -> bool {
    let by_hand = format!(
        "impl fmt::Debug for {name} {{\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{\n        fmt::Display::fmt(self, f)"
    );
    source.contains(&format!("hostcall_error::readable!({name});")) || source.contains(&by_hand)
}

fn sources(dir: &Path, with: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, with);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            with(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn debug_of_every_public_error_is_its_text_and_its_causes() {
    let (mut found, mut derived) = (BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(crate::root().join("crates")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if NO_RUST.contains(&&*name) || !entry.path().join("src").is_dir() {
            continue;
        }
        sources(&entry.path().join("src"), &mut |source: &str| {
            for (error, has_derived) in errors_of(source) {
                found.insert((name.clone(), error.to_owned()));
                if has_derived || !is_readable(source, error) {
                    derived.push(format!("{name}: {error}"));
                }
            }
        });
    }
    assert!(derived.is_empty(), "their `Debug` is not `hostcall_error::readable!`: {derived:#?}");
    let listed = ERRORS.iter().flat_map(|(name, errors)| errors.iter().map(|error| ((*name).to_owned(), (*error).to_owned())));
    assert_eq!(found, listed.collect::<BTreeSet<_>>());
}

#[test]
fn an_error_is_known_by_what_it_derives_or_implements() {
    let source = "#[derive(Debug, thiserror::Error)]\n#[error(\n    \"a\"\n)]\npub enum A {\n}\n\n#[derive(Debug)]\npub struct B;\n\npub struct C;\n\n\
        impl std::error::Error for C {}\n";
    assert_eq!(errors_of(source), [("A", true), ("C", false)]);
}
