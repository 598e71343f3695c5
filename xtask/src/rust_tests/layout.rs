//! Packages that build the suites from rust-src, outside of the tree.
//!
//! `core`'s and `alloc`'s tests are crates of their own, which need manifests only. std's unit tests are std itself,
//! compiled as a test: they need the sources with the overlay, as std itself was built from them, and its dependencies
//! from the sysroot. Where the list says so, files are changed, in a copy.
//!
//! NVIDIA's assembler needs memory with the square of a program's size (3 MB of PTX: 1.5 GB; 10 MB: 13 GB). For GPUs
//! the two largest crates are built in parts, each with some of the modules.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use hostcall_build::DeviceToolchain;

use super::lists::{Edit, Lists};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Suite {
    Core,
    Alloc,
    Std,
}

impl Suite {
    pub(super) fn name(self) -> &'static str {
        match self {
            Suite::Core => "core",
            Suite::Alloc => "alloc",
            Suite::Std => "std",
        }
    }

    /// Where it is built, perhaps in parts.
    pub(super) fn directory(self, parts: bool) -> String {
        format!("{}{}", self.name(), if parts && self.parts().is_some() { "-parts" } else { "" })
    }

    /// The crate that is too large for one image for a GPU, and the modules of each part of it but the last, which has
    /// the others.
    fn parts(self) -> Option<Parts> {
        match self {
            Suite::Core => Some(("coretests", &[&["num"], &["fmt", "hash", "iter", "mem", "net", "slice", "time"]])),
            Suite::Alloc => Some((
                "alloctests",
                &[&["sort"], &["arc", "borrow", "boxed", "c_str", "cow_str", "fmt", "rc", "slice", "str", "string", "sync"]],
            )),
            Suite::Std => None,
        }
    }
}

/// Modules that others use.
const SHARED: [&str; 1] = ["testing"];

/// One crate of tests.
pub(super) struct Target {
    /// As the lists call it.
    pub(super) name: String,
    /// Which part of it this is, if it is built in parts.
    pub(super) part: Option<usize>,
    /// Cargo's arguments that choose it.
    pub(super) selection: Vec<String>,
    /// The compiler's flags.
    pub(super) flags: String,
}

/// Warnings of sources that are not ours say nothing to anybody here.
const FLAGS: &str = "-Awarnings";

/// std's dependencies, from the sysroot, where they are those that the sysroot's own std uses.
const STD_CRATES: [&str; 7] = ["alloc", "cfg_if", "core", "hashbrown", "libc", "rustc_demangle", "std_detect"];

/// What the suites themselves depend on, as their own manifests have it.
const DEPENDENCIES: &str = "[dev-dependencies]\n\
     rand = { version = \"0.9.0\", default-features = false, features = [\"alloc\"] }\n\
     rand_xorshift = { version = \"0.4.0\", default-features = false }\n";

/// Optimised a little: some tests count to `usize::MAX` unless the compiler sees that they need not.
const PROFILE: &str = "[profile.dev]\nopt-level = 1\ndebug = 0\nincremental = false\n";

/// Writes the packages of a suite into `place`, and says what there is to test. `parts`: what is too large for a GPU's
/// tools is built in parts.
pub(super) fn write(suite: Suite, lists: &Lists, device: &str, place: &Path, parts: bool) -> Result<Vec<Target>> {
    let library = place.join("library");
    let parts = suite.parts().filter(|_| parts);
    // Rust-src may be another by now, and edits others. What cargo built stays: it looks at contents only where times
    // are new.
    copy(&library, &lists.edits(device).collect::<Vec<_>>(), parts.map(|(name, _)| name))?;
    // The tree that the tests see, with nothing in it but what they themselves leave.
    fs::create_dir_all(place.join("root/tmp"))?;
    let target = |name: &str, selection: &[&str]| Target {
        name: name.to_owned(),
        part: None,
        selection: selection.iter().map(|word| (*word).to_owned()).collect(),
        flags: FLAGS.into(),
    };
    let path = |below: &str| toml::Value::from(library.join(below).display().to_string()).to_string();
    match suite {
        Suite::Core => {
            let mut manifest = "[lib]\npath = \"empty.rs\"\ntest = false\n".to_owned();
            let mut all = Vec::new();
            for (part, name, file) in files(parts, "coretests", &library)? {
                write!(manifest, "[[test]]\nname = \"{name}\"\npath = {}\n", path(&format!("coretests/tests/{file}")))?;
                all.push(Target { part, ..target("coretests", &["--test", &name]) });
            }
            package(place, "coretests", &format!("{manifest}{DEPENDENCIES}[workspace]\n{PROFILE}"))?;
            Ok(all)
        }
        Suite::Alloc => {
            let mut manifest = format!("[lib]\npath = {}\n", path("alloctests/lib.rs"));
            let mut all = vec![target("lib", &["--lib"])];
            let tests = files(parts, "alloctests", &library)?.into_iter().map(|(part, name, file)| (part, "alloctests", name, file));
            let error = "vec_deque_alloc_error";
            for (part, called, name, file) in tests.chain([(None, error, error.to_owned(), format!("{error}.rs"))]) {
                write!(manifest, "[[test]]\nname = \"{name}\"\npath = {}\n", path(&format!("alloctests/tests/{file}")))?;
                all.push(Target { part, ..target(called, &["--test", &name]) });
            }
            package(place, "alloctests", &format!("{manifest}{DEPENDENCIES}[workspace]\n{PROFILE}"))?;
            Ok(all)
        }
        Suite::Std => {
            write_if_new(
                &place.join("Cargo.toml"),
                &format!("[workspace]\nmembers = [\"std\", \"stdtests\"]\nresolver = \"3\"\n{PROFILE}"),
            )?;
            let std = format!("build = {}\n[lib]\npath = {}\n", path("std/build.rs"), path("std/src/lib.rs"));
            package(&place.join("std"), "std", &format!("{std}{DEPENDENCIES}"))?;
            let mut all = vec![Target {
                flags: format!("{FLAGS} -Zforce-unstable-if-unmarked{}", STD_CRATES.map(|name| format!(" --extern {name}")).concat()),
                ..target("std", &["--package", "std", "--lib"])
            }];
            let mut manifest = "[lib]\npath = \"empty.rs\"\ntest = false\n".to_owned();
            for (name, file) in integration_tests(&library.join("std/tests"))? {
                write!(manifest, "[[test]]\nname = \"{name}\"\npath = {}\n", path(&format!("std/tests/{file}")))?;
                all.push(target(&name, &["--package", "stdtests", "--test", &name]));
            }
            package(&place.join("stdtests"), "stdtests", &format!("{manifest}{DEPENDENCIES}"))?;
            Ok(all)
        }
    }
}

/// A crate and modules of it.
type Parts = (&'static str, &'static [&'static [&'static str]]);

/// The crate `name`, whole or in parts, which are written: number, cargo's name, and file in its directory `tests`.
fn files(parts: Option<Parts>, name: &str, library: &Path) -> Result<Vec<(Option<usize>, String, String)>> {
    let Some((_, modules)) = parts else { return Ok(vec![(None, name.to_owned(), "lib.rs".to_owned())]) };
    let dir = library.join(name).join("tests");
    let text = fs::read_to_string(dir.join("lib.rs"))?;
    let mut all = Vec::new();
    for number in 0..=modules.len() {
        let file = format!("part{}.rs", number + 1);
        write_if_new(&dir.join(&file), &part(&text, modules, number))?;
        all.push((Some(number + 1), format!("{name}{}", number + 1), file));
    }
    Ok(all)
}

/// The crate's file without the modules that are in other parts.
fn part(text: &str, parts: &[&[&str]], number: usize) -> String {
    let mut out = String::with_capacity(text.len() + 1024);
    for line in text.lines() {
        let module = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')).filter(|name| !SHARED.contains(name));
        if module.is_some_and(|name| parts.iter().position(|part| part.contains(&name)).unwrap_or(parts.len()) != number) {
            out.push_str("#[cfg(any())] ");
        }
        out.extend([line, "\n"]);
    }
    out
}

/// Names and files of the integration tests that libtest runs: the others are programs that start themselves again, or
/// are compiled only.
fn integration_tests(dir: &Path) -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let file = if path.is_dir() { format!("{stem}/lib.rs") } else { format!("{stem}.rs") };
        let Ok(text) = fs::read_to_string(dir.join(&file)) else { continue };
        if !text.lines().any(|line| line.starts_with("fn main(")) {
            all.push((stem.to_owned(), file));
        }
    }
    all.sort();
    Ok(all)
}

fn package(dir: &Path, name: &str, rest: &str) -> Result<()> {
    fs::create_dir_all(dir)?;
    write_if_new(&dir.join("empty.rs"), "")?;
    let head = format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\nautotests = false\n");
    // `build` belongs to the package, so it comes first.
    write_if_new(&dir.join("Cargo.toml"), &format!("{head}{rest}"))
}

/// Cargo builds again what has a new time.
fn write_if_new(file: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Makes `library` a copy of the toolchain's, with the overlay and the edits, if it is not one. `own`: a crate that
/// more is written into.
fn copy(library: &Path, edits: &[&Edit], own: Option<&str>) -> Result<()> {
    let toolchain = DeviceToolchain::find()?;
    let made_from = format!("{} {}\n{edits:?}{}", toolchain.version, hostcall_build::overlay_identity(), own.unwrap_or_default());
    let stamp = library.with_extension("stamp");
    if library.is_dir() && fs::read_to_string(&stamp).is_ok_and(|old| old == made_from) {
        return Ok(());
    }
    if library.exists() {
        fs::remove_dir_all(library)?;
    }
    hostcall_build::apply_overlay(&toolchain, library)?;
    for name in edits.iter().filter_map(|edit| edit.file.split('/').next()).chain(own) {
        own_copy(&library.join(name))?;
    }
    for edit in edits {
        let file = library.join(&edit.file);
        let text = fs::read_to_string(&file).with_context(|| format!("{} of {}", edit.file, toolchain.version))?;
        fs::write(&file, edited(&text, edit)?)?;
    }
    Ok(fs::write(&stamp, made_from)?)
}

/// A copy of the toolchain's directory where there is a link to it.
fn own_copy(dir: &Path) -> Result<()> {
    if !dir.is_symlink() {
        return Ok(());
    }
    let from = dir.canonicalize()?;
    fs::remove_file(dir)?;
    let status = std::process::Command::new("cp").args(["-r", "--no-preserve=mode"]).arg(&from).arg(dir).status()?;
    ensure!(status.success(), "cp -r {} {}: {status}", from.display(), dir.display());
    Ok(())
}

/// The text without the functions that are cut, and with what is added.
fn edited(text: &str, edit: &Edit) -> Result<String> {
    let mut text = text.to_owned();
    for [from, to] in &edit.replace {
        ensure!(text.matches(&**from).count() == 1, "{} has not once `{from}`", edit.file);
        text = text.replace(&**from, to);
    }
    for name in &edit.cut {
        let line = format!("\nfn {name}() ");
        ensure!(text.matches(&line).count() == 1, "{} has no one function `{name}`", edit.file);
        text = text.replace(&line, &format!("\n#[cfg(any())]{line}"));
    }
    Ok(format!("{}{text}{}", edit.prepend, edit.append))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(cut: &str) -> Edit {
        let text = format!(
            "because = 'x'\nfile = 'f'\ncut = ['{cut}']\nprepend = \"// a\\n\"\nappend = \"// b\\n\"\nreplace = [['{{\\n}}', '{{ }}']]"
        );
        toml::from_str(&text.replace("'{\\n}'", "\"{\\n}\"")).expect("an edit")
    }

    #[test]
    fn functions_are_cut_where_they_are() {
        let text = "#[test]\nfn one() {\n}\n#[test]\nfn two() {}\n";
        assert_eq!(edited(text, &edit("two")).expect("there"), "// a\n#[test]\nfn one() { }\n#[test]\n#[cfg(any())]\nfn two() {}\n// b\n");
        assert!(edited(text, &edit("three")).is_err());
        assert!(edited("\nfn two() {}", &edit("two")).is_err(), "what is to be replaced is not there");
    }

    #[test]
    fn each_module_is_in_one_part_and_what_all_use_in_each() {
        let text = "#![feature(x)]\nmod a;\nmod testing;\nmod b;\n\nfn f() {}\n";
        let parts: [&[&str]; 1] = [&["b"]];
        assert_eq!(part(text, &parts, 0), "#![feature(x)]\n#[cfg(any())] mod a;\nmod testing;\nmod b;\n\nfn f() {}\n");
        assert_eq!(part(text, &parts, 1), "#![feature(x)]\nmod a;\nmod testing;\n#[cfg(any())] mod b;\n\nfn f() {}\n");
    }
}
