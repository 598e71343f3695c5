//! The corpus: one small file for each feature of the language and for each error.
//!
//! * `corpus/ok/NAME.td` must give `corpus/golden/NAME.records` and `.json`, which `llvm-tblgen-22` wrote.
//! * `corpus/error/NAME.td` must give an error at the place that `corpus/error/expected.txt` names: the place that
//!   `llvm-tblgen-22` names, and ours where LLVM's crashes, or names none. What we say is a snapshot.
//! * Where `llvm-tblgen-22` is installed, `live` tests check that the golden files are what it says.
//!
//! A file may begin with a line `// ARGS: -DNAME …`. `HOSTCALL_BLESS=1` (`cargo xtask bless`) has LLVM's tool write the
//! golden files anew.

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{Oracle, Verdict};

fn main() -> ExitCode {
    // Files are then named as a reader of this folder would name them.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    env::set_current_dir(&corpus).expect("the corpus is in the tree");
    let oracle: Option<&'static Oracle> = match Oracle::find() {
        Ok(oracle) => Some(Box::leak(Box::new(oracle))),
        Err(why) => {
            // In CI its absence is a fault of the set-up.
            assert!(env::var_os("CI").is_none(), "{why}");
            eprintln!("tests against llvm-tblgen-22 are skipped: {why}");
            None
        }
    };
    if env::var_os("HOSTCALL_BLESS").is_some() {
        bless(oracle.expect("only llvm-tblgen-22 can write the golden files"));
    }
    let expected: &'static BTreeMap<String, Expected> = Box::leak(Box::new(read_expected()));
    let mut trials = vec![Trial::test("the_expectations_and_the_files_are_the_same", || same_names(expected))];
    for case in cases("ok") {
        if let Some(oracle) = oracle {
            let case = case.clone();
            trials.push(Trial::test(format!("ok::live::{}", case.name), move || golden_is_live(oracle, &case)));
        }
        trials.push(Trial::test(format!("ok::{}", case.name), move || gives_golden(&case)));
    }
    for case in cases("error") {
        if let Some(oracle) = oracle {
            let case = case.clone();
            trials.push(Trial::test(format!("error::live::{}", case.name), move || expectation_is_live(oracle, &case, expected)));
        }
        trials.push(Trial::test(format!("error::{}", case.name), move || gives_error(&case, expected)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

#[derive(Clone)]
struct Case {
    name: String,
    path: PathBuf,
    include: Vec<PathBuf>,
    defines: Vec<String>,
}

fn cases(kind: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(kind).expect("the corpus is in the tree") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "td") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("UTF-8");
        let arguments = text.lines().find_map(|line| line.strip_prefix("// ARGS: ")).unwrap_or("");
        let define = |argument: &str| argument.strip_prefix("-D").expect("only -D is used").to_owned();
        cases.push(Case {
            name: path.file_stem().expect("a name").to_string_lossy().into_owned(),
            include: vec![kind.into()],
            defines: arguments.split_whitespace().map(define).collect(),
            path,
        });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!cases.is_empty(), "no files in corpus/{kind}");
    cases
}

impl Case {
    fn ours(&self) -> Verdict {
        support::ours(&self.path, &self.include, &self.defines)
    }

    fn llvms(&self, oracle: &Oracle) -> Verdict {
        oracle.run(&self.path, &self.include, &self.defines)
    }

    fn golden(&self) -> Result<Verdict, Failed> {
        let told = |error: std::io::Error| format!("{}: {error}", self.name);
        let text = fs::read(self.golden_path("records")).map_err(told)?;
        Ok(Verdict::Records { text, json: fs::read_to_string(self.golden_path("json")).map_err(told)? })
    }

    fn golden_path(&self, extension: &str) -> PathBuf {
        Path::new("golden").join(&self.name).with_extension(extension)
    }
}

fn gives_golden(case: &Case) -> Result<(), Failed> {
    Ok(support::compare(&case.ours(), &case.golden()?)?)
}

fn golden_is_live(oracle: &Oracle, case: &Case) -> Result<(), Failed> {
    match (case.llvms(oracle), case.golden()?) {
        (Verdict::Records { text, json }, Verdict::Records { text: golden_text, json: golden_json }) => {
            support::same_text(&golden_text, &text)?;
            Ok(support::same_json(&golden_json, &json)?)
        }
        (Verdict::Error { told, .. }, _) => Err(format!("LLVM refuses this: {told}").into()),
        _ => Err("LLVM's tool crashes".into()),
    }
}

/// A line of `expected.txt`: `NAME LLVM [OURS]`.
struct Expected {
    /// `file:line`, `nowhere` or `crash`.
    llvm: String,
    /// `file:line`, where LLVM has none.
    ours: Option<String>,
}

const EXPECTED: &str = "error/expected.txt";

fn read_expected() -> BTreeMap<String, Expected> {
    let text = fs::read_to_string(EXPECTED).expect("expected.txt is in the tree");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (name, llvm) = (words.next().expect("a name"), words.next().expect("a place"));
            (name, Expected { llvm, ours: words.next() })
        })
        .collect()
}

fn same_names(expected: &BTreeMap<String, Expected>) -> Result<(), Failed> {
    let files: Vec<_> = cases("error").into_iter().map(|case| case.name).collect();
    let lines: Vec<_> = expected.keys().cloned().collect();
    if files == lines { Ok(()) } else { Err(format!("error/*.td: {files:?}\nexpected.txt: {lines:?}").into()) }
}

fn place_of(verdict: &Verdict) -> Result<String, Failed> {
    match verdict {
        Verdict::Error { place, .. } => Ok(place.clone().unwrap_or_else(|| "nowhere".into())),
        Verdict::Crash => Ok("crash".into()),
        Verdict::Records { .. } => Err("this was accepted".into()),
    }
}

fn expectation_is_live(oracle: &Oracle, case: &Case, expected: &BTreeMap<String, Expected>) -> Result<(), Failed> {
    let (llvm, now) = (&expected[&case.name].llvm, place_of(&case.llvms(oracle))?);
    if *llvm == now { Ok(()) } else { Err(format!("expected.txt says that LLVM's error is at {llvm}; it is at {now}").into()) }
}

fn gives_error(case: &Case, expected: &BTreeMap<String, Expected>) -> Result<(), Failed> {
    let verdict = case.ours();
    let expected = &expected[&case.name];
    let (wanted, place) = (expected.ours.as_ref().unwrap_or(&expected.llvm), place_of(&verdict)?);
    let Verdict::Error { told, .. } = verdict else { unreachable!("it has a place") };
    if place != *wanted {
        return Err(format!("the error belongs at {wanted} and is at {place}:\n{told}").into());
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("corpus/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(case.name.as_str(), told));
    Ok(())
}

/// Has LLVM's tool write the golden files, and its column of `expected.txt`.
fn bless(oracle: &Oracle) {
    fs::create_dir_all("golden").expect("made");
    for case in cases("ok") {
        let Verdict::Records { text, json } = case.llvms(oracle) else { panic!("LLVM does not accept {}", case.name) };
        fs::write(case.golden_path("records"), text).expect("written");
        fs::write(case.golden_path("json"), json).expect("written");
    }
    let old = read_expected();
    let mut text = String::from(
        "# NAME, where llvm-tblgen-22 reports the first error (`nowhere`: without a place; `crash`: it crashes), and our place if LLVM has none.\n",
    );
    for case in cases("error") {
        let llvm = place_of(&case.llvms(oracle)).expect("LLVM refuses it");
        let ours = old.get(&case.name).and_then(|expected| expected.ours.as_ref()).map_or(String::new(), |ours| format!(" {ours}"));
        text += &format!("{} {llvm}{ours}\n", case.name);
    }
    fs::write(EXPECTED, text).expect("written");
}
