//! What cargo-mutants would break: its list, as it prints it.

use std::ops::Range;

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::{Shell, cmd};

/// One rule, and what is put in its place.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Mutant {
    /// `FILE:LINE:COLUMN: WHAT`.
    pub(super) name: String,
    /// The file, from the root of the workspace.
    pub(super) file: String,
    pub(super) function: Option<Function>,
    span: Span,
    pub(super) replacement: String,
    pub(super) genre: Genre,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Function {
    pub(super) return_type: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Span {
    start: Position,
    end: Position,
}

/// Both count from 1; columns are characters.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// The kinds of cargo-mutants; of two at the same bytes the first is around the second.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Genre {
    FnValue,
    MatchArmGuard,
    BinaryOperator,
    UnaryOperator,
    StructField,
    MatchArm,
}

impl Position {
    /// The byte of `source` that it names.
    fn byte(self, source: &str) -> Option<usize> {
        let before = source.split_inclusive('\n').take(self.line - 1).map(str::len).sum::<usize>();
        let line = source.get(before..)?;
        let column = line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(self.column - 1)?;
        Some(before + column)
    }
}

impl Mutant {
    /// The bytes of its file that are replaced.
    pub(super) fn bytes(&self, source: &str) -> Option<Range<usize>> {
        Some(self.span.start.byte(source)?..self.span.end.byte(source)?)
    }
}

/// The list, or the part of it that `options` of cargo-mutants select.
pub(super) fn list(sh: &Shell, options: &[String]) -> Result<Vec<Mutant>> {
    let text = cmd!(sh, "cargo mutants --list --json {options...}").quiet().read()?;
    read(&text)
}

/// Reads a list.
pub(super) fn read(text: &str) -> Result<Vec<Mutant>> {
    serde_json::from_str(text).context("the list of cargo-mutants")
}
