//! Rules that are broken one after another, and the tests that notice: those of cargo-mutants, as `.cargo/mutants.toml`
//! says. All that can be are broken in one build, each behind a switch (`board`); the others are left to cargo-mutants,
//! which builds anew for each.
//!
//! What no test notices must be in `xtask/mutants.toml`, with the reason. A rule is named there by its file, its
//! function and what is done to it, without a line, so that the list outlives changes elsewhere in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use xshell::{Shell, cmd};

mod board;
mod list;
mod noticed;
mod rewrite;
mod tree;
mod trial;

use trial::Outcome;

#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Only a part of them, spread over all files: `3/100`
    #[arg(long)]
    shard: Option<String>,
    /// Only those whose names have a match of this regular expression: `serving/ports.rs`
    #[arg(long)]
    only: Option<String>,
    /// So many tests at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Only those that a switch can break: the others need a build each, of a minute
    #[arg(long)]
    switches: bool,
    /// Those with a reason in `xtask/mutants.toml` count as missed: each of them takes every test that reaches it
    #[arg(long)]
    assume: bool,
}

/// Breaks the rules.
pub(crate) fn run(sh: &Shell, arguments: &Arguments) -> Result<()> {
    let Arguments { shard, only, jobs, switches, assume } = arguments;
    let output = super::target_directory().join("mutants");
    sh.create_dir(&output)?;
    let mut options = Vec::new();
    if let Some(shard) = shard {
        options.extend(["--shard".to_owned(), shard.clone(), "--sharding".to_owned(), "round-robin".to_owned()]);
    }
    options.extend(only.iter().flat_map(|only| ["--re".to_owned(), only.clone()]));
    cmd!(sh, "cargo mutants --version").run().context("this needs `cargo install cargo-mutants@27.1.0 --locked`")?;
    let known = known(&sh.read_file(super::root().join("xtask/mutants.toml"))?)?;
    let assumed = known.keys().filter(|_| *assume).map(String::as_str).collect();
    let said = board::run(sh, &output, &options, (*jobs).max(1), &assumed)?;
    let mut found = Found::said(said.outcomes, said.unviable);
    if *switches {
        found.left = said.alone;
    } else if !said.alone.is_empty() {
        println!("{} rules have no switch, and are broken one by one", said.alone.len());
        let (missed, alone): (Vec<String>, Vec<String>) =
            said.alone.into_iter().partition(|name| assumed.contains(placeless(name).as_str()));
        found.missed.extend(missed);
        found.extend(broken_alone(sh, &output, &alone)?);
    }
    ensure!(found.noticed_count() + found.missed.len() > 0, "no rule was broken");
    let noticed = output.join("noticed.txt");
    sh.write_file(&noticed, found.noticed())?;
    sh.write_file(output.join("missed.txt"), found.missed.iter().map(|name| format!("{name}\n")).collect::<String>())?;
    println!("{}", found.rate(&known));
    println!("which tests notice what: {}", noticed.display());
    found.compare(&known, shard.is_none() && only.is_none() && !switches)
}

/// Breaks these in a copy, one by one: a build for each.
fn broken_alone(sh: &Shell, output: &Path, names: &[String]) -> Result<Found> {
    let options = names.iter().flat_map(|name| ["--re".to_owned(), format!("^{}$", escaped(name))]);
    // Whether any was missed is its status, and told by what it found.
    cmd!(sh, "cargo mutants --output {output} {options...}").ignore_status().run()?;
    Found::read(&output.join("mutants.out"))
}

/// A regular expression that matches this and nothing else.
fn escaped(name: &str) -> String {
    name.chars().flat_map(|c| r"\.+*?()|[]{}^$".contains(c).then_some('\\').into_iter().chain([c])).collect()
}

/// The rules that no test notices, and why.
fn known(text: &str) -> Result<BTreeMap<String, String>> {
    Ok(toml::from_str(text)?)
}

/// What has become of each.
#[derive(Debug, Default)]
struct Found {
    caught: Vec<String>,
    /// Noticed by a test that hangs.
    timeout: Vec<String>,
    missed: Vec<String>,
    unviable: Vec<String>,
    /// Those that have no switch, where only switches were asked for.
    left: Vec<String>,
    /// The tests that failed, by the name of what was broken.
    tests: BTreeMap<String, BTreeSet<String>>,
}

/// Its name without the place in its file.
fn placeless(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(what)) => format!("{file}:{what}"),
        _ => name.to_owned(),
    }
}

/// What a log says of: the name of what was broken, and the tests that failed.
fn failed(log: &str) -> Option<(String, BTreeSet<String>)> {
    let name = log.lines().find_map(|line| line.strip_prefix("*** "))?;
    let failed = |line: &str| Some(line.trim_start().strip_prefix("test ")?.split_once(" ... FAILED")?.0.to_owned());
    Some((name.to_owned(), log.lines().filter_map(failed).collect()))
}

impl Found {
    fn read(out: &Path) -> Result<Self> {
        let list = |file: &str| {
            let text = fs::read_to_string(out.join(file)).with_context(|| format!("{file} of cargo-mutants"))?;
            Ok::<_, anyhow::Error>(text.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        let mut tests = BTreeMap::new();
        for log in fs::read_dir(out.join("log"))? {
            tests.extend(failed(&String::from_utf8_lossy(&fs::read(log?.path())?)));
        }
        let (caught, timeout) = (list("caught.txt")?, list("timeout.txt")?);
        let (missed, unviable) = (list("missed.txt")?, list("unviable.txt")?);
        Ok(Self { caught, timeout, missed, unviable, left: Vec::new(), tests })
    }

    /// What the switchboard says.
    fn said(outcomes: Vec<(String, Outcome)>, unviable: Vec<String>) -> Self {
        let mut found = Self { unviable, ..Self::default() };
        for (name, outcome) in outcomes {
            let (list, test) = match outcome {
                Outcome::Caught(test) => (&mut found.caught, Some(test)),
                Outcome::Timeout(test) => (&mut found.timeout, Some(test)),
                Outcome::Missed(_) => (&mut found.missed, None),
            };
            list.push(name.clone());
            found.tests.extend(test.map(|test| (name, BTreeSet::from([test]))));
        }
        found
    }

    fn extend(&mut self, other: Self) {
        self.caught.extend(other.caught);
        self.timeout.extend(other.timeout);
        self.missed.extend(other.missed);
        self.unviable.extend(other.unviable);
        self.tests.extend(other.tests);
    }

    fn noticed_count(&self) -> usize {
        self.caught.len() + self.timeout.len()
    }

    /// How many were noticed: of all, and of those that are another program at all. A rule is broken into an equivalent
    /// one if its reason says so.
    fn rate(&self, known: &BTreeMap<String, String>) -> String {
        let is_equivalent = |name: &&String| known.get(&placeless(name)).is_some_and(|reason| reason.starts_with("equivalent: "));
        let (noticed, all) = (self.noticed_count(), self.noticed_count() + self.missed.len());
        let equivalent = self.missed.iter().filter(is_equivalent).count();
        let percent = |all: usize| 100.0 * noticed as f64 / all as f64;
        format!(
            "{noticed} of {all} broken rules were noticed ({:.1} %), {} of them by a test that hangs; {equivalent} are \
             equivalent to what they were ({:.1} % of the others were noticed); {} more do not compile, and {} were not tried",
            percent(all),
            self.timeout.len(),
            percent(all - equivalent),
            self.unviable.len(),
            self.left.len()
        )
    }

    /// For each broken rule the tests that noticed.
    fn noticed(&self) -> String {
        let by = |name: &String| self.tests.get(name).into_iter().flatten().map(|test| format!("    {test}\n")).collect::<String>();
        let caught = self.caught.iter().map(|name| format!("{name}\n{}", by(name)));
        caught.chain(self.timeout.iter().map(|name| format!("{name}\n    (a test hangs)\n{}", by(name)))).collect()
    }

    /// Whether all that was missed is known, and if `all` were broken, whether all that is known was missed.
    fn compare(&self, known: &BTreeMap<String, String>, all: bool) -> Result<()> {
        let missed: BTreeSet<String> = self.missed.iter().map(|name| placeless(name)).collect();
        let new: Vec<&String> = self.missed.iter().filter(|name| !known.contains_key(&placeless(name))).collect();
        ensure!(new.is_empty(), "no test notices these, which need a test, or a reason in `xtask/mutants.toml`:\n{new:#?}");
        let old: Vec<&String> = known.keys().filter(|name| all && !missed.contains(*name)).collect();
        ensure!(old.is_empty(), "tests notice these, or they are no more; take them out of `xtask/mutants.toml`:\n{old:#?}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSED: &str = "crates/hostcall/src/serving/fair.rs:12:5: replace < with <= in Fair<J>::next";

    #[test]
    fn a_broken_rule_that_nobody_notices_needs_a_reason_and_one_that_is_noticed_has_none() {
        let name = "crates/hostcall/src/serving/fair.rs: replace < with <= in Fair<J>::next";
        assert_eq!(placeless(MISSED), name);
        let known = known(&format!("\"{name}\" = \"why\"")).unwrap();
        let missed = Found { missed: vec![MISSED.to_owned()], ..Found::default() };
        let caught = Found { caught: vec![MISSED.to_owned()], ..Found::default() };
        assert!(missed.compare(&known, true).is_ok() && caught.compare(&BTreeMap::new(), true).is_ok());
        assert!(missed.compare(&BTreeMap::new(), false).unwrap_err().to_string().contains(MISSED));
        assert!(caught.compare(&known, true).unwrap_err().to_string().contains(name));
        assert!(caught.compare(&known, false).is_ok(), "of a part nobody knows what the rest would give");
    }

    #[test]
    fn the_log_of_a_broken_rule_names_the_tests_that_failed() {
        let log = format!("\n*** {MISSED}\n\n*** mutation diff:\n-x\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... FAILED\n");
        let (name, tests) = failed(&log).unwrap();
        assert_eq!((name.as_str(), tests.len()), (MISSED, 2));
        let found = Found { caught: vec![name.clone()], tests: BTreeMap::from([(name, tests)]), ..Found::default() };
        assert_eq!(found.noticed(), format!("{MISSED}\n    a::c\n    d\n"));
        assert!(found.rate(&BTreeMap::new()).starts_with("1 of 1 broken rules were noticed (100.0 %)"));
    }

    #[test]
    fn what_the_switchboard_says_counts_as_what_cargo_mutants_says() {
        let outcomes = [("a", Outcome::Caught("t".to_owned())), ("b", Outcome::Timeout("u".to_owned())), ("c", Outcome::Missed(3))];
        let outcomes = outcomes.map(|(name, outcome)| (name.to_owned(), outcome)).into();
        let mut found = Found::said(outcomes, vec!["d".to_owned()]);
        found.extend(Found { missed: vec!["e".to_owned()], ..Found::default() });
        assert_eq!(found.noticed(), "a\n    t\nb\n    (a test hangs)\n    u\n");
        let known = [("c", "equivalent: both are one"), ("e", "equivalent but for time: one is slower")];
        let known = known.map(|(name, reason)| (name.to_owned(), reason.to_owned())).into();
        let rate = found.rate(&known);
        let expected = "2 of 4 broken rules were noticed (50.0 %), 1 of them by a test that hangs; 1 are equivalent to what they were \
                        (66.7 % of the others were noticed); 1 more";
        assert!(rate.starts_with(expected), "{rate}");
        let name = "src/a.rs:1:2: replace + with * in <impl Add for A>::add";
        assert_eq!(escaped(name), r"src/a\.rs:1:2: replace \+ with \* in <impl Add for A>::add");
    }

    #[test]
    fn every_survivor_has_a_reason_and_is_in_a_file_that_there_is() {
        for (name, reason) in known(&fs::read_to_string(crate::root().join("xtask/mutants.toml")).unwrap()).unwrap() {
            let (file, what) = name.split_once(": ").unwrap();
            assert!(crate::root().join(file).is_file() && !what.is_empty() && reason.len() > 20, "{name}");
        }
    }
}
