//! What a module of PTX has: its functions, and their statements in order, each with its place in the text.

use std::collections::HashMap;
use std::ops::Range;

use super::error::line_of;
use super::token::{Kind, Token};

/// A module.
pub(crate) struct Module<'a> {
    pub(crate) text: &'a str,
    /// All of them.
    pub(super) tokens: Vec<Token>,
    /// Those that are not blank: what places of the others here are numbers of.
    pub(super) code: Vec<Token>,
    /// The number behind `.version`.
    pub(crate) version: Token,
    /// The words behind `.target`: an architecture, and options.
    pub(crate) target: Vec<&'a str>,
    /// The first place behind `.version`, `.target` and `.address_size`.
    pub(crate) head: usize,
    /// Files by their numbers.
    pub(crate) files: HashMap<u32, String>,
    pub(crate) functions: Vec<Function<'a>>,
    /// Variables outside of functions, and the spaces that they are in, as `.global`.
    pub(crate) variables: HashMap<&'a str, &'a str>,
    /// Texts of `.debug_str` by their labels.
    pub(crate) names: HashMap<&'a str, String>,
}

/// A function, or the declaration of one.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_entry: bool,
    /// From its linkage on, behind its body.
    pub(crate) span: Range<usize>,
    /// Where `.entry` or `.func` is.
    pub(crate) kind_at: usize,
    /// Where its name is, the one of the header.
    pub(crate) name_at: usize,
    /// Registers and variables of the header.
    pub(crate) parameters: Vec<Declaration<'a>>,
    pub(crate) body: Option<Body<'a>>,
}

#[derive(Debug)]
pub(crate) struct Body<'a> {
    /// Where its brace opens, and where it closes.
    pub(crate) open: usize,
    pub(crate) close: usize,
    pub(crate) statements: Vec<Statement<'a>>,
}

#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) what: What<'a>,
}

#[derive(Debug)]
pub(crate) enum What<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// `name:` before an instruction.
    Label(&'a str),
    Loc(Loc<'a>),
    Declaration(Declaration<'a>),
    Instruction(Instruction<'a>),
    /// `L: .branchtargets a, b;`, prototypes, pragmas: the label, the words, among them those of a list.
    Directive {
        label: Option<&'a str>,
        words: Vec<&'a str>,
    },
}

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loc<'a> {
    pub(crate) file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The label of the name of the function that was inlined, and what is added to it.
    pub(crate) function: Option<(&'a str, u32)>,
}

/// Registers or variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration<'a> {
    /// `.reg`, `.local`, `.shared`, `.param`, …
    pub(crate) space: &'a str,
    /// Of each of them; 1: predicates.
    pub(crate) bits: u32,
    /// Names; with a count, numbered from 0 on.
    pub(crate) names: Vec<(&'a str, Option<u32>)>,
}

#[derive(Debug)]
pub(crate) struct Instruction<'a> {
    pub(crate) guard: Option<Guard<'a>>,
    pub(crate) opcode: &'a str,
    /// Tokens of each.
    pub(crate) operands: Vec<Range<usize>>,
}

/// `@p` or `@!p`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard<'a> {
    pub(crate) negated: bool,
    pub(crate) register: &'a str,
}

impl Instruction<'_> {
    /// Whether its dotted name begins with these parts.
    pub(crate) fn is(&self, parts: &str) -> bool {
        self.opcode.strip_prefix(parts).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Whether nothing is behind it on its way, in each of its lanes.
    pub(crate) fn ends_always(&self) -> bool {
        self.guard.is_none() && self.ends()
    }

    /// Whether it is a jump, or an end.
    pub(crate) fn ends(&self) -> bool {
        ["bra", "brx", "ret", "exit", "trap"].iter().any(|end| self.is(end))
    }
}

/// Bits of a type, as `.b32`; of a predicate one.
pub(crate) fn bits_of(word: &str) -> Option<u32> {
    Some(match word.trim_start_matches('.') {
        "pred" => 1,
        "b8" | "u8" | "s8" | "e4m3" | "e5m2" => 8,
        "b16" | "u16" | "s16" | "f16" | "bf16" | "e4m3x2" | "e5m2x2" => 16,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" | "u16x2" | "s16x2" | "u8x4" | "s8x4" | "e4m3x4" | "e5m2x4" => 32,
        "b64" | "u64" | "s64" | "f64" | "f32x2" => 64,
        "b128" => 128,
        _ => return None,
    })
}

impl<'a> Module<'a> {
    /// The text, of its tokens.
    pub(crate) fn print(&self) -> String {
        self.tokens.iter().map(|token| token.text(self.text)).collect()
    }

    /// The text of a token that is not blank.
    pub(crate) fn word(&self, at: usize) -> &'a str {
        self.code.get(at).map_or("", |token| token.text(self.text))
    }

    pub(crate) fn kind(&self, at: usize) -> Option<Kind> {
        self.code.get(at).map(|token| token.kind)
    }

    /// The place in the text of such a token.
    pub(crate) fn place(&self, at: usize) -> usize {
        self.code.get(at).map_or(self.text.len(), |token| token.start)
    }

    /// The text from the first of some tokens to the last.
    pub(crate) fn between(&self, range: &Range<usize>) -> &'a str {
        match (self.code.get(range.start), range.end.checked_sub(1).and_then(|last| self.code.get(last))) {
            (Some(first), Some(last)) if !range.is_empty() => &self.text[first.start..last.end],
            _ => "",
        }
    }

    pub(crate) fn line(&self, at: usize) -> u32 {
        line_of(self.text, at)
    }

    /// All names, registers, directives and names of instructions.
    pub(crate) fn words(&self) -> impl Iterator<Item = Token> {
        self.code.iter().copied().filter(|token| token.kind == Kind::Word)
    }
}

/// A whole number, as PTX writes one.
pub(crate) fn parse_number(text: &str) -> Option<u32> {
    let text = text.trim_end_matches('U');
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
