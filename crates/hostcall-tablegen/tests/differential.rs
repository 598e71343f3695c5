//! Ours against `llvm-tblgen-22`, over TableGen sources that others wrote. They are read where they lie, and are no
//! part of this tree:
//!
//! * what Debian's development packages hold: `llvm-22-dev`, `libmlir-22-dev` and `libflang-22-dev`, which `cargo xtask
//!   test` unpacks to `target/debian`. (`libclang-22-dev` and `liblld-22-dev` hold none.)
//! * LLVM's tests of TableGen, if `HOSTCALL_LLVM_TABLEGEN_TESTS` names a folder that holds them (`llvm/test/TableGen`
//!   of LLVM's sources), each with the macros of its `RUN:` lines. Those of back ends are among them: their sources are
//!   read, and the records compared.
//!
//! Each file must be accepted or refused by both; if accepted, both dumps must be equal, and if refused, the first
//! error must be at the same line.

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::{Arguments, Trial};
use support::Oracle;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    match Oracle::find() {
        Ok(oracle) => {
            let oracle: &'static Oracle = Box::leak(Box::new(oracle));
            for root in roots() {
                trials.extend(sources_below(&root).into_iter().map(|path| source_trial(oracle, &root, &path)));
            }
            trials.extend(language_tests(oracle));
        }
        Err(why) => {
            assert!(env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: the differential tests, since {why}");
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The include directories whose sources are compared: unpacked by `cargo xtask test`, or installed.
fn roots() -> Vec<PathBuf> {
    let unpacked = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debian/usr");
    let mut roots = Vec::new();
    for folder in ["include/llvm-22", "lib/llvm-22/include"] {
        let candidates = [unpacked.join(folder), Path::new("/usr").join(folder)];
        match candidates.iter().find(|root| root.is_dir()) {
            Some(root) => roots.push(root.clone()),
            None => {
                assert!(env::var_os("CI").is_none(), "neither of {candidates:?} is there");
                eprintln!("skipped: neither of {candidates:?} is there (`cargo xtask test` unpacks it)");
            }
        }
    }
    roots
}

/// Every `.td` file below a folder, following no symbolic links but the folder itself and those directly in it.
fn sources_below(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![(root.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("readable").path();
            if path.is_dir() && (depth == 0 || !path.is_symlink()) {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|extension| extension == "td") {
                found.insert(path);
            }
        }
    }
    found
}

fn source_trial(oracle: &'static Oracle, root: &Path, path: &Path) -> Trial {
    let name = path.strip_prefix(root).expect("it lies below").display().to_string();
    let folder = path.parent().expect("it lies in a folder").to_path_buf();
    trial(oracle, name, path.to_path_buf(), vec![root.to_path_buf(), folder], Vec::new())
}

fn trial(oracle: &'static Oracle, name: String, input: PathBuf, include: Vec<PathBuf>, defines: Vec<String>) -> Trial {
    Trial::test(name, move || {
        let ours = support::ours(&input, &include, &defines);
        Ok(support::compare(&ours, &oracle.run(&input, &include, &defines))?)
    })
}

/// LLVM's tests of the language and of back ends.
fn language_tests(oracle: &'static Oracle) -> Vec<Trial> {
    let Some(folder) = env::var_os("HOSTCALL_LLVM_TABLEGEN_TESTS").map(PathBuf::from) else {
        eprintln!("skipped: LLVM's tests of TableGen, since HOSTCALL_LLVM_TABLEGEN_TESTS names no folder that holds them");
        return Vec::new();
    };
    let mut trials = Vec::new();
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in files.map(|entry| entry.expect("readable").path()).collect::<BTreeSet<_>>() {
        if path.extension().is_none_or(|extension| extension != "td") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path).expect("readable")).into_owned();
        for defines in runs(&text) {
            let name = path.file_name().expect("a name").to_string_lossy();
            let name = ["llvm-test", &*name].into_iter().chain(defines.iter().map(String::as_str)).collect::<Vec<_>>().join("::");
            let include = vec![folder.clone(), folder.join("../../include")];
            trials.push(trial(oracle, name, path.clone(), include, defines));
        }
    }
    trials
}

/// The sets of macros with which the `RUN:` lines of a test evaluate it, whatever back end they call; none for what is
/// no test.
fn runs(text: &str) -> BTreeSet<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.split_once("RUN:").map(|(_, command)| command));
    let commands = lines.filter_map(|line| line.split_once("-tblgen")).map(|(_, command)| command.split('|').next().unwrap_or(""));
    // Where the command evaluates another file than this one (`%t`), evaluating this one is still a comparison.
    let macros = |command: &str| command.split_whitespace().filter_map(|word| word.strip_prefix("-D")).map(str::to_owned).collect();
    commands.map(macros).collect()
}
