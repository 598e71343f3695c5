//! The table of `docs/notes/ways-in.md`: what each way to a first call costs. [`record`] writes it from the steps of
//! `cargo xtask dist` and `release` that go these ways as users do.

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::steps::Steps;

const PAGE: &str = "docs/notes/ways-in.md";
/// The most seconds of processor time that are wanted where binaries are installed, and where Rust is compiled.
const BINARIES: u64 = 60;
const COMPILED: u64 = 240;

/// A way in: what it is called, the most seconds, and the steps that it consists of.
struct Way(&'static str, u64, &'static [&'static str]);

pub(crate) const UNPACKED: &str = "the archive, unpacked elsewhere";
pub(crate) const UNPACKED_C: &str = "there: a program in C, by pkg-config";
pub(crate) const UNPACKED_CMAKE: &str = "there: programs in C and C++, by CMake";
pub(crate) const UNPACKED_CUDA: &str = "there: a program in CUDA C++, by nvcc";
pub(crate) const UNPACKED_COMMAND: &str = "there: the command line";
pub(crate) const DEBIAN_C: &str = "in it: the packages installed, and a program in C, by pkg-config";
pub(crate) const WHEEL: &str = "the wheel, installed into an empty environment and used";
pub(crate) const SOURCES: &str = "Python's source distribution, built elsewhere and used";
pub(crate) const INSTALLED: &str = "the command line, installed into an empty home";
pub(crate) const KERNEL: &str = "a kernel beside its host, made and run there";
pub(crate) const SET_UP: &str = "what programs with std need, set up there";
pub(crate) const PROGRAM: &str = "a program with std, made and run there";

const WAYS: [Way; 9] = [
    Way("`cargo install`, `new --kernel`, `cargo run`", COMPILED, &[INSTALLED, KERNEL]),
    Way("`cargo install`, `setup`, `new`, `cargo hostcall run`", COMPILED, &[INSTALLED, SET_UP, PROGRAM]),
    Way("`pip install`, a service in Python", BINARIES, &[WHEEL]),
    Way("`pip install` of the sources, a service in Python", COMPILED, &[SOURCES]),
    Way("archive, a host in C by `cc` and `g++`", BINARIES, &[UNPACKED, UNPACKED_C]),
    Way("archive, hosts in C and C++ by CMake", BINARIES, &[UNPACKED, UNPACKED_CMAKE]),
    Way("archive, a program in CUDA C++ by `nvcc`", BINARIES, &[UNPACKED, UNPACKED_CUDA]),
    Way("archive, the demo of the command line", BINARIES, &[UNPACKED, UNPACKED_COMMAND]),
    Way("Debian's packages, a host in C by `cc` and `g++`", BINARIES, &[DEBIAN_C]),
];

/// The commit and its date, as the table has them: asked for before anything is built.
pub(crate) fn commit(sh: &Shell) -> Result<String> {
    Ok(cmd!(sh, "git log -1 --abbrev=8 {FORMAT}").quiet().read()?)
}

/// How git says both.
const FORMAT: &str = "--format=%h, %cs";

/// Writes the rows of those ways of which all steps have succeeded, as they were `of` a commit; the others stay.
pub(crate) fn record(sh: &Shell, steps: &Steps, of: &str) -> Result<()> {
    let mut page = sh.read_file(PAGE)?;
    for way in &WAYS {
        if let Some(row) = row(way, steps, of) {
            page = with(&page, way, &row)?;
        }
    }
    Ok(sh.write_file(PAGE, page)?)
}

/// A line of the table, if all of the way was gone.
fn row(Way(name, most, parts): &Way, steps: &Steps, of: &str) -> Option<String> {
    let times = parts.iter().map(|part| steps.times(part)).collect::<Option<Vec<_>>>()?;
    let [took, busy] = [times.iter().map(|(took, _)| took.as_secs_f64()).sum(), times.iter().map(|(_, busy)| busy.as_secs_f64()).sum()]
        .map(|seconds: f64| seconds.ceil() as u64);
    let mark = if busy <= *most { "" } else { ", missed" };
    Some(format!("| {name} | {busy} | {most}{mark} | {took} | {of} |"))
}

/// The page with another row for a way.
fn with(page: &str, Way(name, ..): &Way, row: &str) -> Result<String> {
    let start = format!("| {name} |");
    let old = page.lines().find(|line| line.starts_with(&start)).with_context(|| format!("{PAGE} has no row for {name}"))?;
    Ok(page.replacen(old, row, 1))
}

#[test]
fn a_way_is_measured_when_all_of_its_steps_have_succeeded_and_the_page_has_a_row_for_each() {
    let way = Way("by cart", 0, &["one", "two"]);
    let mut steps = Steps::begin();
    steps.run("one", || Ok(()));
    assert_eq!(row(&way, &steps, "now"), None);
    steps.run("two", || {
        std::process::Command::new("sh").args(["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"]).status()?;
        Ok(())
    });
    let row = row(&way, &steps, "now").expect("all were gone");
    assert!(row.starts_with("| by cart | ") && row.contains(" | 0, missed | ") && row.ends_with(" | now |"), "{row}");
    assert_eq!(with("a\n| by cart | 9 |\nb\n", &way, &row).unwrap(), format!("a\n{row}\nb\n"));
    let page = std::fs::read_to_string(crate::root().join(PAGE)).unwrap();
    for way in &WAYS {
        with(&page, way, "").unwrap();
    }
    assert_eq!(page.lines().filter(|line| line.starts_with("| ")).count(), WAYS.len() + 1, "one row each, and the head");
}
