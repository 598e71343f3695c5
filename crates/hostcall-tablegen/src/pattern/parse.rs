//! From the text of a pattern to a tree.

use super::{Bytes, bracket};

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Byte(u8),
    Any,
    Set(Bytes),
    At(Place),
    Sequence(Vec<Part>),
    Either(Vec<Part>),
    /// So often at least, and at most; without an end if there is none.
    Repeat(Box<Part>, u32, Option<u32>),
}

/// A place between bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Begin,
    End,
    WordBegin,
    WordEnd,
}

/// The most that a part may be repeated by number: what POSIX calls `RE_DUP_MAX`.
const MOST_REPETITIONS: u32 = 255;

/// Groups within groups.
const DEEPEST: u32 = 500;

pub(super) fn parse(pattern: &[u8]) -> Result<Part, String> {
    let mut input = Input { rest: pattern, depth: 0 };
    let part = alternatives(&mut input)?;
    // What an alternative leaves is the end of a group.
    if input.rest.is_empty() { Ok(part) } else { Err("a ')' closes nothing".into()) }
}

/// What is still to be read.
pub(super) struct Input<'a> {
    rest: &'a [u8],
    depth: u32,
}

impl Input<'_> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Whether that comes next.
    pub(super) fn sees(&self, text: &[u8]) -> bool {
        self.rest.starts_with(text)
    }

    /// Goes on behind `text` if that comes next.
    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.sees(text);
        if found {
            self.rest = &self.rest[text.len()..];
        }
        found
    }

    /// The bytes up to the first that is not as wanted.
    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> Vec<u8> {
        let end = self.rest.iter().position(|&byte| !wanted(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken.to_vec()
    }

    /// The byte after the next one.
    pub(super) fn second(&self) -> Option<u8> {
        self.rest.get(1).copied()
    }

    fn sees_repetition(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.second().is_some_and(|byte| byte.is_ascii_digit()),
            _ => false,
        }
    }
}

/// `a|b|c`, up to the end or a `)`.
fn alternatives(input: &mut Input<'_>) -> Result<Part, String> {
    let mut found = Vec::new();
    loop {
        let mut parts = Vec::new();
        while !matches!(input.peek(), None | Some(b'|' | b')')) {
            parts.push(repeated(input)?);
        }
        if parts.is_empty() {
            let closes = found.is_empty() && input.depth == 0 && input.peek() == Some(b')');
            return Err(if closes { "a ')' closes nothing" } else { "an alternative is empty" }.into());
        }
        found.push(Part::Sequence(parts));
        if !input.eat(b"|") {
            return Ok(Part::Either(found));
        }
    }
}

/// One part, and how often it is.
fn repeated(input: &mut Input<'_>) -> Result<Part, String> {
    let nothing = |operator: u8| Err(format!("nothing stands before '{}' that could be repeated", operator as char));
    let first = input.next().ok_or("it ends early")?;
    let part = match first {
        b'(' => group(input)?,
        b'[' => bracket::read(input)?,
        b'^' => Part::At(Place::Begin),
        b'$' => Part::At(Place::End),
        b'.' => Part::Any,
        b'\\' => match input.next().ok_or("a backslash ends it")? {
            b'1'..=b'9' => return Err("references back to a group are not supported".into()),
            escaped => Part::Byte(escaped),
        },
        b'*' | b'+' | b'?' => return nothing(first),
        b'{' if input.peek().is_some_and(|byte| byte.is_ascii_digit()) => return nothing(first),
        byte => Part::Byte(byte),
    };
    if !input.sees_repetition() {
        return Ok(part);
    }
    let operator = input.next().ok_or("it ends early")?;
    if first == b'^' {
        return nothing(operator);
    }
    let (least, most) = match operator {
        b'*' => (0, None),
        b'+' => (1, None),
        b'?' => (0, Some(1)),
        _ => bounds(input)?,
    };
    match input.peek() {
        Some(operator) if input.sees_repetition() => nothing(operator),
        _ => Ok(Part::Repeat(Box::new(part), least, most)),
    }
}

/// What follows `(`, to the `)`.
fn group(input: &mut Input<'_>) -> Result<Part, String> {
    if input.eat(b")") {
        return Ok(Part::Sequence(Vec::new()));
    }
    if input.depth >= DEEPEST {
        return Err(format!("more than {DEEPEST} groups are within one another"));
    }
    if input.peek().is_none() {
        return Err("a '(' is not closed".into());
    }
    input.depth += 1;
    let part = alternatives(input)?;
    input.depth -= 1;
    if input.eat(b")") { Ok(part) } else { Err("a '(' is not closed".into()) }
}

/// What follows `{`, to the `}`.
fn bounds(input: &mut Input<'_>) -> Result<(u32, Option<u32>), String> {
    let least = count(input)?;
    let most = match input.eat(b",") {
        false => Some(least),
        true if input.peek().is_some_and(|byte| byte.is_ascii_digit()) => Some(count(input)?),
        true => None,
    };
    if most.is_some_and(|most| most < least) {
        return Err("a part is repeated less often at most than at least".into());
    }
    if input.eat(b"}") { Ok((least, most)) } else { Err("a '{' and a number are not closed by '}'".into()) }
}

fn count(input: &mut Input<'_>) -> Result<u32, String> {
    let digits = input.take_while(|byte| byte.is_ascii_digit());
    let count = digits.iter().fold(0_u32, |count, digit| count.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
    if count > MOST_REPETITIONS { Err(format!("a part is repeated more than {MOST_REPETITIONS} times by number")) } else { Ok(count) }
}
