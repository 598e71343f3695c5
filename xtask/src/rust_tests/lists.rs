//! The lists of what does not apply: `tests/suites/rust/SUITE.toml`, `tests/suites/uutils.toml`.
//!
//! ```toml
//! [[not-applicable]]
//! because = "catches a panic, and panics abort"     # one reason for all
//! devices = ["cuda"]                                # where; left out: everywhere
//! tests = ["alloctests/sort::tests::stable::panic_*"]   # TARGET/NAME; a `*` in the end stands for anything
//! sometimes = true                                  # it may pass; left out: it may not
//! run = false                                       # it would not end, or take others with it; left out: it runs, and has to fail
//!
//! [[edit]]                                          # of a copy of a source file, so that it compiles
//! because = "names links, which only Unix and Windows have"
//! file = "std/src/fs/tests.rs"
//! cut = ["test_fs_set_times_nofollow"]              # functions that are left out
//! prepend = "…"                                     # text before and after all
//! append = "…"
//! replace = [["from", "to"]]                        # text that is there once
//! devices = ["cuda"]                                # where; left out: everywhere
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Outcome, Results};

/// A suite's list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Lists {
    #[serde(default)]
    not_applicable: Vec<Group>,
    #[serde(default, rename = "edit")]
    edits: Vec<Edit>,
}

/// Tests that do not apply for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    because: String,
    #[serde(default)]
    devices: Vec<String>,
    #[serde(default = "yes")]
    run: bool,
    /// Whether it fails depends on the machine, or on chance: it may pass.
    #[serde(default)]
    sometimes: bool,
    tests: Vec<String>,
}

fn yes() -> bool {
    true
}

/// A change of a copy of a source file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) because: String,
    /// Below `library`.
    pub(super) file: String,
    #[serde(default)]
    pub(super) cut: Vec<String>,
    #[serde(default)]
    pub(super) prepend: String,
    #[serde(default)]
    pub(super) append: String,
    #[serde(default)]
    pub(super) replace: Vec<[String; 2]>,
    #[serde(default)]
    devices: Vec<String>,
}

/// Whether something holds on a device: everywhere if no devices are named.
fn holds(devices: &[String], device: &str) -> bool {
    devices.is_empty() || devices.iter().any(|kind| device.split(':').next() == Some(kind))
}

impl Lists {
    pub(crate) fn read(file: &Path) -> Result<Lists> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        Lists::parse(&text).with_context(|| file.display().to_string())
    }

    fn parse(text: &str) -> Result<Lists> {
        let lists: Lists = toml::from_str(text)?;
        for group in &lists.not_applicable {
            for test in &group.tests {
                ensure!(test.contains('/'), "`{test}`: a test is TARGET/NAME");
                ensure!(group.run || !test.ends_with('*'), "`{test}`: what is not run is named in full");
            }
        }
        Ok(lists)
    }

    fn groups<'a>(&'a self, device: &'a str) -> impl Iterator<Item = &'a Group> {
        self.not_applicable.iter().filter(move |group| holds(&group.devices, device))
    }

    /// What is changed for a device.
    pub(super) fn edits(&self, device: &str) -> impl Iterator<Item = &Edit> {
        self.edits.iter().filter(move |edit| holds(&edit.devices, device))
    }

    /// What is listed of one target.
    pub(crate) fn of<'a>(&'a self, target: &str, device: &'a str) -> Listed<'a> {
        let prefix = format!("{target}/");
        let tests = self.groups(device).flat_map(|group| group.tests.iter().map(move |test| (test, group)));
        Listed { tests: tests.filter_map(|(test, group)| Some((test.strip_prefix(&prefix)?, group))).collect() }
    }

    /// The reasons of these targets' tests that are not run, once for each test.
    pub(super) fn never<'a>(&'a self, device: &'a str, targets: &BTreeSet<String>) -> Vec<&'a str> {
        let tests = self.groups(device).filter(|group| !group.run).flat_map(|group| group.tests.iter().map(move |test| (test, group)));
        tests
            .filter(|(test, _)| test.split_once('/').is_some_and(|(target, _)| targets.contains(target)))
            .map(|(_, group)| &*group.because)
            .collect()
    }

    /// The reasons of tests that are not compiled, once for each test.
    pub(super) fn cut(&self, device: &str) -> Vec<&str> {
        self.edits(device).flat_map(|edit| edit.cut.iter().map(|_| &*edit.because)).collect()
    }
}

/// What is listed of one target on one device.
pub(crate) struct Listed<'a> {
    tests: Vec<(&'a str, &'a Group)>,
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

impl<'a> Listed<'a> {
    fn group(&self, name: &str) -> Option<&'a Group> {
        self.tests.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, group)| *group)
    }

    /// Why the test does not apply, if it does not.
    pub(crate) fn reason(&self, name: &str) -> Option<&'a str> {
        self.group(name).map(|group| &*group.because)
    }

    /// Tests that are not run.
    pub(super) fn never(&self) -> impl Iterator<Item = &'a str> {
        self.tests.iter().filter(|(_, group)| !group.run).map(|(name, _)| *name)
    }

    /// Tests that are run and fail, or beginnings of their names.
    pub(super) fn failing(&self) -> impl Iterator<Item = &'a str> {
        self.tests.iter().filter(|(_, group)| group.run).map(|(name, _)| *name)
    }

    /// What is not as listed. `part`: not all tests were run.
    pub(crate) fn compare(&self, results: &Results, part: bool) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, outcome) in results {
            match (self.group(name), outcome) {
                (None, Outcome::Failed) => problems.push(format!("{name} failed")),
                (Some(group), Outcome::Passed) if !group.sometimes => {
                    problems.push(format!("{name} passed, and is listed as one that does not apply ({})", group.because));
                }
                (Some(_), Outcome::Ignored) => problems.push(format!("{name} is ignored by Rust itself, and listed")),
                _ => {}
            }
        }
        let missing = self.tests.iter().filter(|(pattern, group)| group.run && !results.keys().any(|name| matches(pattern, name)));
        if !part {
            problems.extend(missing.map(|(pattern, _)| format!("{pattern} is listed, and there is no such test")));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[not-applicable]]
        because = "panics abort"
        tests = ["t/a::*", "t/b"]
        [[not-applicable]]
        because = "slow"
        devices = ["cuda"]
        run = false
        tests = ["t/c"]
        [[edit]]
        because = "no links"
        file = "f"
        cut = ["x"]
        [[edit]]
        because = "long"
        devices = ["cuda"]
        file = "f"
        replace = [["a", "b"]]
    "#;

    fn results(all: &[(&str, Outcome)]) -> Results {
        all.iter().map(|(name, outcome)| ((*name).to_owned(), *outcome)).collect()
    }

    #[test]
    fn a_list_names_tests_by_device_target_and_beginning() {
        let lists = Lists::parse(TEXT).expect("a list");
        let here = lists.of("t", "sim:lanes=64");
        assert_eq!((here.reason("a::x"), here.reason("b"), here.reason("bb")), (Some("panics abort"), Some("panics abort"), None));
        assert_eq!(here.never().count(), 0);
        assert_eq!(here.failing().collect::<Vec<_>>(), ["a::*", "b"]);
        assert_eq!(lists.of("t", "cuda:0").never().collect::<Vec<_>>(), ["c"]);
        assert_eq!(lists.never("cuda:0", &["t".to_owned()].into()), ["slow"]);
        assert_eq!(lists.never("cuda:0", &["u".to_owned()].into()), [""; 0]);
        assert!(lists.of("u", "sim").reason("b").is_none());
        assert_eq!(lists.cut("sim"), ["no links"]);
        assert_eq!((lists.edits("sim:lanes=64").count(), lists.edits("cuda:0").count()), (1, 2));
    }

    #[test]
    fn the_lists_of_this_repository_are_lists() {
        for list in ["rust/core", "rust/alloc", "rust/std", "uutils"] {
            let lists = Lists::read(&crate::root().join(format!("tests/suites/{list}.toml"))).expect("a list");
            assert!(lists.of("std", "cuda:0").tests.len() >= lists.of("std", "sim").tests.len());
        }
    }

    #[test]
    fn what_is_not_as_listed_is_told() {
        let lists = Lists::parse(TEXT).expect("a list");
        let listed = lists.of("t", "sim");
        let good = results(&[("a::x", Outcome::Failed), ("b", Outcome::Failed), ("z", Outcome::Passed)]);
        assert_eq!(listed.compare(&good, false), [""; 0]);
        let bad = results(&[("a::x", Outcome::Passed), ("z", Outcome::Failed)]);
        let told = listed.compare(&bad, false).join("\n");
        assert!(
            told.contains("a::x passed") && told.contains("z failed") && told.contains("b is listed, and there is no such test"),
            "{told}"
        );
        assert_eq!(listed.compare(&bad, true).len(), 2);
    }

    #[test]
    fn a_list_with_a_mistake_is_an_error() {
        for text in ["[[not-applicable]]\nbecause = \"x\"\ntests = [\"no_target\"]", "[[not_applicable]]", "[[not-applicable]]\ntests = []"]
        {
            assert!(Lists::parse(text).is_err(), "{text}");
        }
    }
}
