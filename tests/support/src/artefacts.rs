//! Files that cargo builds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::elf::{DF_1_NODELETE, DT_FLAGS_1, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _};

use crate::{succeed, text};

/// Builds a target of a package (`--lib`, or `--bin`, `--example` or `--test` with a name) as the tests were built, and
/// says its files.
///
/// `HOSTCALL_TEST_SELECTION` has the words by which the tests that run were selected, such as `--workspace --features
/// x`, because with others cargo would build nearly everything again, with other features. Without it the package is
/// built.
///
/// # Panics
/// If it does not build.
pub fn built(package: &str, target: &[&str]) -> Vec<PathBuf> {
    let selection = std::env::var("HOSTCALL_TEST_SELECTION").unwrap_or_else(|_| format!("--package {package}"));
    let (kind, name) = match *target {
        ["--lib"] => ("lib", None),
        ["--bin", name] => ("bin", Some(name)),
        ["--example", name] => ("example", Some(name)),
        ["--test", name] => ("test", Some(name)),
        _ => panic!("{target:?} is no target"),
    };
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--message-format", "json"]).args(selection.split_whitespace()).args(target);
    // Features that dependencies of tests ask for are those of everything only if something is built that has such
    // dependencies, as examples have.
    build.arg("--examples");
    // Of the workspace, wherever the test runs.
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    let messages = text(&succeed(&mut build).stdout);
    // A package's id ends with its name and version, or with its version if its folder is called as it is.
    let [named, called] = [format!("#{package}@"), format!("/{package}#")];
    let is_it = |message: &serde_json::Value| {
        let target = &message["target"];
        let kinds = || target["kind"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        let is_kind = if kind == "lib" { kinds().any(|kind| kind == "cdylib") } else { kinds().any(|found| found == kind) };
        message["reason"] == "compiler-artifact"
            // What has tests of its own is built as a program of them as well.
            && message["profile"]["test"] == (kind == "test")
            && is_kind
            && name.is_none_or(|name| target["name"] == name)
            && message["package_id"].as_str().is_some_and(|id| id.contains(&named) || id.contains(&called))
    };
    let mut messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let artefact = messages.rfind(is_it).unwrap_or_else(|| panic!("cargo built no {target:?} of {package} among {selection}"));
    let files = artefact["filenames"].as_array().expect("cargo says what it built");
    files.iter().filter_map(|file| Some(PathBuf::from(file.as_str()?))).collect()
}

/// The names that a library exports. (Versions of names are no names.)
///
/// # Panics
/// If it is no library.
pub fn exported(path: &Path) -> BTreeSet<String> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = object::File::parse(&*bytes).expect("a library");
    // A version is a symbol that is at no address.
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.section_index().is_some());
    defined.map(|symbol| symbol.name().expect("UTF-8").to_owned()).collect()
}

/// Whether the dynamic linker keeps a library once it is loaded, as `-z nodelete` asks: its threads may outlive a
/// `dlclose`.
///
/// # Panics
/// If it is no library for a 64-bit machine.
pub fn stays_loaded(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = FileHeader64::<Endianness>::parse(&*bytes).expect("a 64-bit library");
    let endian = header.endian().expect("of a machine that is known");
    let headers = header.program_headers(endian, &*bytes).expect("it can be loaded");
    let dynamic = headers.iter().find_map(|header| header.dynamic(endian, &*bytes).expect("whole")).expect("it is linked dynamically");
    dynamic.iter().any(|entry| entry.d_tag(endian) == DT_FLAGS_1 && entry.d_val(endian) & DF_1_NODELETE.0 != 0)
}
