//! The switchboard: all rules are broken in one build, and each is tried by the tests that reach it. What is known is
//! kept, so that a run that was interrupted goes on; which test noticed what is kept with the sources (`noticed`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xshell::Shell;

use super::list::{self, Mutant};
use super::noticed::{self, Noticed};
use super::rewrite::Left;
use super::tree::{Switchless, Tree};
use super::trial::{self, Outcome, Test};

/// What has become of a rule, by its name.
#[derive(Debug, Serialize, Deserialize)]
struct Tried {
    name: String,
    outcome: Outcome,
}

/// What the switchboard says of the rules that were asked for.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) outcomes: Vec<(String, Outcome)>,
    pub(super) unviable: Vec<String>,
    /// Those that have no switch, and must be broken one by one.
    pub(super) alone: Vec<String>,
}

/// What is found out once for the same sources.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Plan {
    fingerprint: String,
    switchless: Switchless,
    tests: Vec<Test>,
}

/// Tries all rules that `options` of cargo-mutants select, but for those that `assumed` names without their places,
/// which count as missed.
pub(super) fn run(sh: &Shell, output: &Path, options: &[String], jobs: usize, assumed: &BTreeSet<&str>) -> Result<Said> {
    let all = list::list(sh, &[])?;
    let wanted: BTreeSet<String> = list::list(sh, options)?.into_iter().map(|mutant| mutant.name).collect();
    let tree = Tree::copy(sh, output)?;
    let path = output.join("plan.json");
    let old = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Plan>(&text).ok());
    let mut plan = old.filter(|plan| plan.fingerprint == tree.fingerprint).unwrap_or_default();
    plan.fingerprint.clone_from(&tree.fingerprint);
    let programs = tree.build(sh, &all, &mut plan.switchless)?;
    fs::write(&path, serde_json::to_vec(&plan)?)?;
    if plan.tests.is_empty() {
        println!("which test reaches what");
        plan.tests = trial::record(&programs, all.len(), jobs)?;
        fs::write(&path, serde_json::to_vec(&plan)?)?;
    }
    let Plan { switchless: Switchless { rules: left, .. }, tests, .. } = plan;
    let results = Results::open(output.join(format!("tried-{}.jsonl", tree.fingerprint)))?;
    let here = |number: &usize, mutant: &Mutant| !left.contains_key(number) && wanted.contains(&mutant.name);
    let is_assumed = |mutant: &Mutant| assumed.contains(super::placeless(&mutant.name).as_str());
    let open = |mutant: &Mutant| !results.old.contains_key(&mutant.name) && !is_assumed(mutant);
    let mut todo: Vec<(usize, &Mutant)> = all.iter().enumerate().filter(|(number, mutant)| here(number, mutant) && open(mutant)).collect();
    let rules = noticed::rules(all.iter().map(|mutant| mutant.name.as_str()));
    let kept = super::super::root().join("xtask/mutants.noticed");
    let noticed = Mutex::new(Noticed::read(&fs::read_to_string(&kept).unwrap_or_default()));
    let guess = |number: usize| locked(&noticed).of(rules[number]).map(str::to_owned);
    let keep = |outcomes: &BTreeMap<String, Outcome>| {
        let mut noticed = locked(&noticed);
        for (rule, mutant) in rules.iter().zip(&all) {
            outcomes.get(&mutant.name).into_iter().for_each(|outcome| noticed.add(*rule, outcome));
        }
        noticed.retain(&rules);
        fs::write(&kept, noticed.text())
    };
    // Of a run that was interrupted.
    keep(&results.old)?;
    // What was noticed before takes no time; what guards the host comes before what it offers.
    todo.sort_by_key(|(number, mutant)| (guess(*number).is_none(), mutant.file.contains("/builtin/")));
    println!("{} tests, {} rules to break", tests.len(), todo.len());
    trial::spread(jobs, todo, |(number, mutant), folder| {
        let outcome = trial::attempt(&programs, &tests, number, guess(number).as_deref(), folder)?;
        results.add(&mutant.name, outcome)
    })?;
    let mut outcomes = results.all()?;
    keep(&outcomes)?;
    for (number, mutant) in all.iter().enumerate().filter(|(number, mutant)| here(number, mutant) && is_assumed(mutant)) {
        outcomes.entry(mutant.name.clone()).or_insert(Outcome::Missed(tests.iter().filter(|test| test.reached.contains(&number)).count()));
    }
    let mut said = Said { outcomes: outcomes.into_iter().collect(), ..Said::default() };
    said.outcomes.retain(|(name, _)| wanted.contains(name));
    for (number, why) in left {
        let list = if why == Left::Unviable { &mut said.unviable } else { &mut said.alone };
        list.extend(Some(all[number].name.clone()).filter(|name| wanted.contains(name)));
    }
    Ok(said)
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of rules: a file of lines that grows.
struct Results {
    path: PathBuf,
    old: BTreeMap<String, Outcome>,
    file: Mutex<fs::File>,
}

impl Results {
    fn open(path: PathBuf) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(&path).with_context(|| path.display().to_string())?;
        Ok(Self { old: read(&path)?, path, file: Mutex::new(file) })
    }

    fn add(&self, name: &str, outcome: Outcome) -> Result<()> {
        if matches!(outcome, Outcome::Missed(_)) {
            println!("missed: {name}");
        }
        let line = serde_json::to_string(&Tried { name: name.to_owned(), outcome })? + "\n";
        Ok(locked(&self.file).write_all(line.as_bytes())?)
    }

    fn all(&self) -> Result<BTreeMap<String, Outcome>> {
        read(&self.path)
    }
}

/// The whole lines of a file of results: the last one may have been interrupted.
fn read(path: &Path) -> Result<BTreeMap<String, Outcome>> {
    let text = fs::read_to_string(path)?;
    let tried = text.lines().filter_map(|line| serde_json::from_str::<Tried>(line).ok());
    Ok(tried.map(|tried| (tried.name, tried.outcome)).collect())
}
