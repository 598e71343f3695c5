//! Which test noticed which rule in an earlier run: it is tried first in the next one, so that a run over sources that
//! have changed a little takes minutes for what took hours. Nothing is taken for granted: a test has to notice again.
//!
//! The file has a line for each test: the rules that it noticed, then its name. A rule is a number made of its
//! [placeless](super::placeless) name and of how many of that name come before it in the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::trial::Outcome;

/// A rule, by what outlives changes elsewhere in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule(u32);

/// The numbers of rules, which come in the order of their files.
pub(super) fn rules<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Rule> {
    let mut met = BTreeMap::<String, u32>::new();
    let number = |name| {
        let count = met.entry(super::placeless(name)).or_default();
        *count += 1;
        // FNV-1a: the standard library's hashes may change with its version, and these are kept.
        let text = format!("{} {count}", super::placeless(name));
        Rule(text.bytes().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
    };
    names.into_iter().map(number).collect()
}

/// The tests, by the rules that they noticed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Noticed(BTreeMap<Rule, String>);

impl Noticed {
    /// Reads a file of them. What cannot be read is left out.
    pub(super) fn read(text: &str) -> Self {
        let line = |line: &str| {
            let (rules, test) = line.split_once(' ')?;
            let rules = rules.split(',').filter_map(|rule| u32::from_str_radix(rule, 16).ok());
            Some(rules.map(|rule| (Rule(rule), test.to_owned())).collect::<Vec<_>>())
        };
        Self(text.lines().filter_map(line).flatten().collect())
    }

    /// The test that noticed this rule.
    pub(super) fn of(&self, rule: Rule) -> Option<&str> {
        self.0.get(&rule).map(String::as_str)
    }

    /// Adds what has become of a rule.
    pub(super) fn add(&mut self, rule: Rule, outcome: &Outcome) {
        match outcome {
            Outcome::Caught(test) | Outcome::Timeout(test) => self.0.insert(rule, test.clone()),
            Outcome::Missed(_) => self.0.remove(&rule),
        };
    }

    /// Leaves out all rules but these.
    pub(super) fn retain(&mut self, rules: &[Rule]) {
        self.0.retain(|rule, _| rules.contains(rule));
    }

    /// Its file.
    pub(super) fn text(&self) -> String {
        let mut tests = BTreeMap::<&str, Vec<String>>::new();
        for (Rule(rule), test) in &self.0 {
            tests.entry(test).or_default().push(format!("{rule:08x}"));
        }
        tests.iter().fold(String::new(), |mut text, (test, rules)| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{} {test}", rules.join(","));
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_keeps_its_number_when_lines_move_and_rules_of_one_name_have_different_ones() {
        let before = rules(["src/a.rs:1:2: replace + with * in f", "src/a.rs:3:2: replace + with * in f", "src/b.rs:1:2: delete ! in g"]);
        let after = rules(["src/a.rs:9:2: replace + with * in f", "src/a.rs:11:7: replace + with * in f", "src/b.rs:8:1: delete ! in g"]);
        assert_eq!(before, after);
        assert!(before[0] != before[1] && before[1] != before[2] && before[0] != before[2]);
    }

    #[test]
    fn a_file_of_what_was_noticed_is_read_as_it_was_written_and_a_missed_rule_is_taken_out() {
        let [a, b, c] = [Rule(1), Rule(0xabcd_ef01), Rule(3)];
        let mut noticed = Noticed::default();
        noticed.add(a, &Outcome::Caught("hostcall::calls one".to_owned()));
        noticed.add(b, &Outcome::Timeout("hostcall::calls one".to_owned()));
        noticed.add(c, &Outcome::Caught("hostcall::hostcall two::three".to_owned()));
        assert_eq!(noticed.text(), "00000001,abcdef01 hostcall::calls one\n00000003 hostcall::hostcall two::three\n");
        assert_eq!(Noticed::read(&format!("nonsense\n{}zz x\n", noticed.text())), noticed);
        assert_eq!(noticed.of(b), Some("hostcall::calls one"));
        noticed.add(b, &Outcome::Missed(2));
        assert_eq!(noticed.of(b), None);
        noticed.retain(&[c]);
        assert_eq!(noticed.text(), "00000003 hostcall::hostcall two::three\n");
    }
}
