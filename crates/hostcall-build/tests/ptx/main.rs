//! PTX that other compilers made, with calls of hostcall's functions in it: what the assembler accepted before, it
//! accepts after.
//!
//! `HOSTCALL_TEST_ALL=1` makes some thousand kernels instead of some dozen, and takes the better part of an hour.
//! `HOSTCALL_PTX_CORPUS` names a directory with others.

mod corpus;
mod meaning;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use hostcall_build::ptx::{Chosen, Instrumented, Library, PtxError, instrument, reads_as_it_is};
use hostcall_build::{Instrument, Ptxas};

/// hostcall's functions, without anything in them: the assembler takes a second for the real ones.
const EMPTY: &str = include_str!("empty.ptx");

pub(crate) fn library() -> Library {
    Library::new(EMPTY).expect("a library")
}

pub(crate) fn probed(ptx: &str, asked: &str) -> Result<Instrumented, PtxError> {
    instrument(ptx.as_bytes(), "k.ptx", &asked.parse().expect("a good list"), Chosen::All, &library())
}

/// What became of a corpus.
#[derive(Debug, Default)]
struct Outcome {
    kernels: usize,
    modules: usize,
    accesses: usize,
    barriers: usize,
    steps: usize,
    untold: BTreeMap<String, usize>,
    /// Modules that the assembler does not accept as they are.
    unassembled: usize,
    /// Modules that are refused, by why.
    refused: BTreeMap<String, usize>,
    failures: Vec<String>,
}

/// Instruments each text and assembles it, and what it was.
fn through_the_assembler(assemblers: &[Ptxas], texts: &[(String, String)]) -> Outcome {
    let outcome = Mutex::new(Outcome::default());
    let next = std::sync::atomic::AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get().min(4));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((name, text)) = texts.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    one(assemblers, name, text, &outcome);
                }
            });
        }
    });
    outcome.into_inner().expect("nobody panicked")
}

fn one(assemblers: &[Ptxas], name: &str, text: &str, outcome: &Mutex<Outcome>) {
    let fail = |what: String| outcome.lock().expect("nobody panicked").failures.push(format!("{name}: {what}"));
    let arch = text.lines().find_map(|line| line.trim().strip_prefix(".target ")).unwrap_or("sm_90");
    let arch = arch.split([',', ' ']).next().unwrap_or(arch).trim();
    let Some(ptxas) = assemblers.iter().find(|ptxas| ptxas.assemble(text.as_bytes(), arch).is_ok()) else {
        outcome.lock().expect("nobody panicked").unassembled += 1;
        return;
    };
    match reads_as_it_is(text.as_bytes()) {
        Ok(true) => {}
        Ok(false) => return fail("is printed as something else".into()),
        Err(error) => return fail(error.to_string()),
    }
    let made = match probed(text, "access,blocks,barriers") {
        Ok(made) => made,
        Err(PtxError::NoSuchKernel { .. }) => return,
        Err(error @ (PtxError::Target { .. } | PtxError::HasHostcall { .. } | PtxError::Outdated { .. })) => {
            *outcome.lock().expect("nobody panicked").refused.entry(error.to_string()).or_default() += 1;
            return;
        }
        Err(error) => return fail(error.to_string()),
    };
    if let Err(problem) = meaning::check(text, &made.ptx) {
        fail(problem);
    }
    if let Err(error) = ptxas.assemble(made.ptx.as_bytes(), arch) {
        if let Some(dir) = std::env::var_os("HOSTCALL_PTX_FAILURES") {
            let file = Path::new(&dir).join(name.replace('/', "_"));
            std::fs::write(&file, &made.ptx).expect("written");
        }
        return fail(error.to_string().lines().take(4).collect::<Vec<_>>().join("\n"));
    }
    if let [one, _, ..] = &made.kernels[..]
        && let Err(problem) = one_of_several(ptxas, text, one, arch)
    {
        return fail(problem);
    }
    let mut outcome = outcome.lock().expect("nobody panicked");
    outcome.modules += 1;
    outcome.kernels += made.kernels.len();
    outcome.accesses += made.accesses;
    outcome.barriers += made.barriers;
    outcome.steps += made.steps;
    for (what, count) in made.untold {
        *outcome.untold.entry(what).or_default() += count;
    }
}

/// Only this kernel of a module: it assembles, and the others are what they were.
fn one_of_several(ptxas: &Ptxas, text: &str, chosen: &str, arch: &str) -> Result<(), String> {
    let is_it = |name: &str| name == chosen;
    let asked = "access,blocks,barriers".parse().expect("a list");
    let made = instrument(text.as_bytes(), "k.ptx", &asked, Chosen::Of(&is_it, chosen), &library()).map_err(|error| error.to_string())?;
    if made.kernels != [chosen] {
        return Err(format!("{:?} were chosen instead of {chosen}", made.kernels));
    }
    let mut from = 0;
    while let Some(at) = text[from..].find(".entry ") {
        let start = from + at;
        from = text[start..].find("\n}").map_or(text.len(), |end| start + end);
        let (whole, name) = (&text[start..from], text[start + ".entry ".len()..].trim_start());
        if !name.starts_with(&format!("{chosen}(")) && !made.ptx.contains(whole) {
            return Err(format!("with {chosen} alone, this has changed: {}", whole.lines().next().unwrap_or_default()));
        }
    }
    ptxas.assemble(made.ptx.as_bytes(), arch).map(drop).map_err(|error| format!("with {chosen} alone: {error}"))
}

/// What `cargo xtask setup` installs: nvcc, and an assembler of the same release, which newer compilers' PTX needs.
fn toolkit() -> Option<PathBuf> {
    let places = [Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cuda/nvidia/cu13"), PathBuf::from("/usr/local/cuda")];
    let found = places.into_iter().find(|place| place.join("bin/nvcc").is_file());
    if found.is_none() {
        println!("skipped: there is no nvcc; `cargo xtask setup` installs one");
    }
    found
}

fn assemblers() -> Vec<Ptxas> {
    let found = Ptxas::find().map_err(|error| println!("skipped: {error}")).ok();
    let newest = toolkit().map(|dir| Ptxas { path: dir.join("bin/ptxas"), version: "nvcc's".into(), flags: Vec::new() });
    found.into_iter().chain(newest).collect()
}

fn all_of_them() -> bool {
    std::env::var_os("HOSTCALL_TEST_ALL").is_some()
}

#[track_caller]
fn check(from: &str, texts: &[(String, String)], all_assemble: bool) {
    let assemblers = assemblers();
    if assemblers.is_empty() {
        return;
    }
    let outcome = through_the_assembler(&assemblers, texts);
    println!("{from}: {} texts, {outcome:#?}", texts.len());
    assert!(outcome.failures.is_empty(), "{from}: {} of {} fail:\n{}", outcome.failures.len(), texts.len(), outcome.failures.join("\n"));
    assert!(!all_assemble || outcome.unassembled == 0, "{from}: {} are no PTX to begin with", outcome.unassembled);
    assert!(outcome.modules > 0 || texts.is_empty(), "{from}: nothing was instrumented");
}

#[test]
fn what_is_written_by_hand_assembles_before_and_after() {
    check("by hand", &corpus::by_hand(), true);
}

#[test]
fn what_a_directory_has_assembles_before_and_after() {
    let Some(dir) = std::env::var_os("HOSTCALL_PTX_CORPUS") else {
        println!("not run: HOSTCALL_PTX_CORPUS names no directory");
        return;
    };
    check("directory", &corpus::files_below(Path::new(&dir)), false);
}

#[test]
fn what_nvcc_makes_assembles_before_and_after() {
    let Some(toolkit) = toolkit() else { return };
    let arches: &[&str] = if all_of_them() { &["sm_75", "sm_80", "sm_86", "sm_90", "sm_90a", "sm_100", "sm_120"] } else { &["sm_80"] };
    let ways: &[&[&str]] = if all_of_them() { &[&["-lineinfo"], &[], &["-G"]] } else { &[&["-lineinfo", "-DFEW"]] };
    check("nvcc", &corpus::by_nvcc(&toolkit, arches, ways), true);
}

#[test]
fn what_python_compilers_make_assembles_before_and_after() {
    let python = std::env::var_os("HOSTCALL_PTX_PYTHON").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python-faces/bin/python");
    let Some(python) = python.or(Some(beside)).filter(|python| python.is_file()) else {
        println!("skipped: no Python with Triton or Numba; HOSTCALL_PTX_PYTHON names one");
        return;
    };
    let Some(toolkit) = toolkit() else { return };
    for (name, script, few, many) in [("triton", "triton_kernels.py", 6, 648), ("numba", "numba_kernels.py", 8, 288)] {
        if let Some(texts) = corpus::by_python(&python, &toolkit, name, script, if all_of_them() { many } else { few }) {
            check(name, &texts, false);
        }
    }
}

#[test]
fn what_is_asked_for_is_what_is_added() {
    let text = &corpus::by_hand()[0].1;
    let count = |asked: &str| {
        let made = probed(text, asked).expect("it is instrumented");
        (made.accesses > 0, made.steps > 0, made.barriers > 0)
    };
    assert_eq!(count("access"), (true, false, false));
    assert_eq!(count("blocks"), (false, true, false));
    assert_eq!(count("barriers"), (false, false, true));
    let _: Instrument = "loops".parse().expect("a list");
}
