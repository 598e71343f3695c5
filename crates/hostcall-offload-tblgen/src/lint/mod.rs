//! What is wrong with the definition of an API, though every back end could write something for it.
//!
//! LLVM's tool accepts return codes that do not exist, arrays of unknown length, structures used before they are
//! defined; what comes out does not compile, or misses a check. Each lint here has a code, says where, and says how to
//! mend it. They are warnings where LLVM's text is written, since LLVM's own definitions have some of these faults, and
//! errors where our own is, but for those that are guesses.

mod arrays;
mod enums;
mod names;
mod prose;
mod returns;
mod types;

use crate::ir::{Api, Param, Span};

/// Something that can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lint {
    /// A function returns a code that no enumeration has.
    UnknownReturnCode,
    /// A type that is neither defined here nor C's, or text that is not a type.
    UnknownType,
    /// A range names something that is not an integer parameter of the function.
    UnknownRange,
    /// A type tag names parameters that do not say a type and a size.
    InvalidTypeTag,
    /// A condition between backticks is not an expression over the parameters.
    InvalidCondition,
    /// A condition divides by what may be zero, or reads through what may be null.
    UnguardedCondition,
    /// Two things have the same name in C.
    DuplicateName,
    /// A type is used before the header defines it, or contains itself.
    TypeOrder,
    /// A name that C does not accept, such as one that ends with a blank.
    InvalidName,
    /// A pointer to several elements does not say to how many.
    ArrayWithoutRange,
    /// An enumerator of a typed enumeration has no type, or one of another enumeration has.
    UntypedEnumerator,
    /// An enumerator's value does not fit.
    EnumOverflow,
    /// Something has no description.
    MissingDescription,
    /// A description mentions something of this API that is not there.
    UnknownReference,
    /// A parameter is neither read nor written.
    MissingDirection,
}

impl Lint {
    /// All of them, in the order of their codes.
    pub const ALL: [Lint; 15] = [
        Lint::UnknownReturnCode,
        Lint::UnknownType,
        Lint::UnknownRange,
        Lint::InvalidTypeTag,
        Lint::InvalidCondition,
        Lint::UnguardedCondition,
        Lint::DuplicateName,
        Lint::TypeOrder,
        Lint::InvalidName,
        Lint::ArrayWithoutRange,
        Lint::UntypedEnumerator,
        Lint::EnumOverflow,
        Lint::MissingDescription,
        Lint::UnknownReference,
        Lint::MissingDirection,
    ];

    /// Its code, which never changes: `OT001`.
    pub fn code(self) -> String {
        // `ALL` has every lint once; a test holds the two together.
        let at = Lint::ALL.iter().position(|lint| *lint == self).unwrap_or_default();
        format!("OT{:03}", at + 1)
    }

    /// Whether what it finds is a guess: names alone say so, and a definition may be right all the same. Then it is a
    /// warning.
    pub fn is_guess(self) -> bool {
        self == Lint::ArrayWithoutRange
    }

    /// Its name, which is also accepted where lints are switched off.
    pub fn name(self) -> &'static str {
        match self {
            Lint::UnknownReturnCode => "unknown-return-code",
            Lint::UnknownType => "unknown-type",
            Lint::UnknownRange => "unknown-range",
            Lint::InvalidTypeTag => "invalid-type-tag",
            Lint::InvalidCondition => "invalid-condition",
            Lint::UnguardedCondition => "unguarded-condition",
            Lint::DuplicateName => "duplicate-name",
            Lint::TypeOrder => "type-order",
            Lint::InvalidName => "invalid-name",
            Lint::ArrayWithoutRange => "array-without-range",
            Lint::UntypedEnumerator => "untyped-enumerator",
            Lint::EnumOverflow => "enum-overflow",
            Lint::MissingDescription => "missing-description",
            Lint::UnknownReference => "unknown-reference",
            Lint::MissingDirection => "missing-direction",
        }
    }

    /// The lint of that code or name.
    pub fn find(text: &str) -> Option<Lint> {
        Lint::ALL.into_iter().find(|lint| lint.name() == text || lint.code().eq_ignore_ascii_case(text))
    }
}

/// A fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which lint found it.
    pub lint: Lint,
    /// Where it was written.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub fix: String,
}

/// For whom an API is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether types appear in the header in the order of their names, as LLVM's tool writes them. Otherwise only a
    /// type that contains itself is in a wrong order.
    pub types_by_name: bool,
}

/// All faults of an API, in the order of its lines where those are known.
pub fn check(api: &Api, rules: Rules) -> Vec<Finding> {
    let mut findings = Findings::default();
    names::check(api, &mut findings);
    enums::check(api, &mut findings);
    types::check(api, rules, &mut findings);
    arrays::check(api, &mut findings);
    returns::check(api, &mut findings);
    prose::check(api, &mut findings);
    findings.in_order()
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Notes a fault. What all functions share is at fault once, not once for each of them.
    fn add(&mut self, lint: Lint, span: Option<&Span>, message: String, fix: impl Into<String>) {
        let finding = Finding { lint, span: span.cloned(), message, fix: fix.into() };
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    fn in_order(mut self) -> Vec<Finding> {
        fn place(finding: &Finding) -> Option<(&str, u32, u32)> {
            finding.span.as_ref().map(|span| (span.file.as_str(), span.line, span.column))
        }
        self.0.sort_by(|a, b| place(a).cmp(&place(b)).then(a.lint.cmp(&b.lint)));
        self.0
    }
}

/// The known name that is nearest to a wrong one, as a remedy.
fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_ascii_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&wrong, &name.to_ascii_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The place of a parameter, or else of what has it.
fn span_of<'a>(param: &'a Param, of: Option<&'a Span>) -> Option<&'a Span> {
    param.span.as_ref().or(of)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_lint_has_a_code_and_a_name_of_its_own() {
        let codes: BTreeSet<String> = Lint::ALL.iter().map(|lint| lint.code()).collect();
        let names: BTreeSet<&str> = Lint::ALL.iter().map(|lint| lint.name()).collect();
        assert_eq!((codes.len(), names.len()), (Lint::ALL.len(), Lint::ALL.len()));
        for lint in Lint::ALL {
            assert_eq!(Lint::find(lint.name()), Some(lint));
            assert_eq!(Lint::find(&lint.code().to_lowercase()), Some(lint));
        }
        assert_eq!(Lint::find("OT000"), None);
    }

    #[test]
    fn a_remedy_is_only_a_name_that_is_near() {
        assert_eq!(nearest("OL_ERRC_INVALID_SIZES", ["OL_ERRC_INVALID_SIZE", "OL_ERRC_UNKNOWN"]), Some("OL_ERRC_INVALID_SIZE"));
        assert_eq!(nearest("numevents", ["NumEvents"]), Some("NumEvents"));
        assert_eq!(nearest("Size", ["Events"]), None);
    }
}
