//! Files that cargo builds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::elf::{DF_1_NODELETE, DT_FLAGS_1, FileHeader64};
use object::read::elf::{Dyn as _, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _};

use crate::{succeed, text};

/// Builds a target of a package (`--lib`, `--bin` with a name) as the tests were built, and says its files.
///
/// # Panics
/// If it does not build.
pub fn built(package: &str, target: &[&str]) -> Vec<PathBuf> {
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--package", package]).args(target).args(["--message-format", "json"]);
    // Of the workspace, wherever the test runs.
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    let messages = text(&succeed(&mut build).stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    // Its own artefact is the last: what it needs is built before.
    let artefacts: Vec<_> = messages.filter(|message| message["reason"] == "compiler-artifact").collect();
    let files = artefacts.last().and_then(|artefact| artefact["filenames"].as_array()).expect("cargo says what it built");
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

/// Whether the dynamic linker keeps a library once it is loaded, as `-z nodelete` asks: its threads may outlive a `dlclose`.
///
/// # Panics
/// If it is no library for a 64-bit machine.
pub fn stays_loaded(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = FileHeader64::<Endianness>::parse(&*bytes).expect("a 64-bit library");
    let endian = header.endian().expect("of a machine that is known");
    let headers = header.program_headers(endian, &*bytes).expect("it can be loaded");
    let dynamic = headers.iter().find_map(|header| header.dynamic(endian, &*bytes).expect("whole")).expect("it is linked dynamically");
    dynamic.iter().any(|entry| entry.tag32(endian) == Some(DT_FLAGS_1) && entry.d_val(endian) & u64::from(DF_1_NODELETE) != 0)
}
