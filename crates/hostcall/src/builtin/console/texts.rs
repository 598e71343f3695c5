//! Texts that wait to be written. Programs take turns, and each one's texts come out in their order.
//!
//! Each program has a queue and a budget of its own: what one program prints neither fills another's queue nor stands
//! before it. A turn is one text, to which short ones have been joined. Texts are numbered as they come, so that who
//! waits for what has been printed does not wait for what is printed meanwhile.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::pieces::Stream;
use super::queue::Text;
use crate::tenant::{Claim, Number, Tenant, Thing};

/// Texts are joined up to this size.
const JOIN: usize = 64 << 10;

/// A text, or several of one stream that were joined.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) stream: Stream,
    pub(super) bytes: Vec<u8>,
    /// The number of the first of them.
    pub(super) number: u64,
}

/// What a program has printed that is not written.
#[derive(Debug)]
struct Program {
    texts: VecDeque<Waiting>,
    /// The bytes of its texts, and of the one that is being written.
    budget: Claim,
}

/// The texts of all programs.
#[derive(Debug, Default)]
pub(super) struct Texts {
    programs: HashMap<Number, Program>,
    /// The programs that have texts. The first one's turn is next.
    turns: VecDeque<Number>,
    /// What is being written: whose it is, the number of its text, and how many bytes.
    writing: Option<(Number, u64, usize)>,
    next: u64,
}

impl Texts {
    /// The number of the next text: all that came so far have smaller ones.
    pub(super) fn next_number(&self) -> u64 {
        self.next
    }

    /// Programs of which something is known.
    #[cfg(test)]
    pub(super) fn programs(&self) -> usize {
        self.programs.len()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn program(&mut self, tenant: &Arc<Tenant>) -> &mut Program {
        let new = || Program { texts: VecDeque::new(), budget: Claim::none(tenant.clone(), Thing::Printed) };
        self.programs.entry(tenant.number()).or_insert_with(new)
    }

    /// A text of a program is behind all that the program has printed.
    pub(super) fn push(&mut self, tenant: &Arc<Tenant>, stream: Stream, text: Vec<u8>) {
        let number = self.number();
        let program = self.program(tenant);
        program.budget.add(text.len() as u64);
        let was_empty = program.texts.is_empty();
        match joinable(&mut program.texts, text.len(), |last| (last.stream == stream).then_some(&mut last.bytes)) {
            Some(joined) => joined.extend_from_slice(&text),
            None => program.texts.push_back(Waiting { stream, bytes: text, number }),
        }
        if was_empty {
            self.turns.push_back(tenant.number());
        }
    }

    /// The next text, unless one is being written: it is now, until [`Texts::written`] says that it was.
    pub(super) fn begin(&mut self) -> Option<Waiting> {
        if self.writing.is_some() {
            return None;
        }
        let number = self.turns.pop_front()?;
        let program = self.programs.get_mut(&number)?;
        let text = program.texts.pop_front()?;
        if !program.texts.is_empty() {
            self.turns.push_back(number);
        }
        self.writing = Some((number, text.number, text.bytes.len()));
        Some(text)
    }

    /// Somebody writes a text of `bytes` bytes himself, before all that waits.
    pub(super) fn begin_straight(&mut self, tenant: &Arc<Tenant>, bytes: usize) {
        let number = self.number();
        self.program(tenant).budget.add(bytes as u64);
        self.writing = Some((tenant.number(), number, bytes));
    }

    /// The text that was being written is written, or given up, but for `rest`, which goes before all others.
    pub(super) fn written(&mut self, rest: Option<(Stream, Vec<u8>)>) {
        let Some((number, text, bytes)) = self.writing.take() else { return };
        let Some(program) = self.programs.get_mut(&number) else { return };
        program.budget.give_back((bytes - rest.as_ref().map_or(0, |(_, rest)| rest.len())) as u64);
        if let Some((stream, bytes)) = rest {
            program.texts.push_front(Waiting { stream, bytes, number: text });
            self.turns.retain(|turn| *turn != number);
            self.turns.push_front(number);
        }
        self.tidy(number);
    }

    /// Whether something is being written.
    pub(super) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Whether nothing waits to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether all texts with numbers below `end` are written: of one program, or of all.
    pub(super) fn are_written(&self, of: Option<Number>, end: u64) -> bool {
        let before = |number: Number, text: u64| of.is_none_or(|of| of == number) && text < end;
        !self.writing.is_some_and(|(number, text, _)| before(number, text))
            && !self.turns.iter().any(|turn| {
                // Its first text has the smallest number.
                let first = self.programs.get(turn).and_then(|program| program.texts.front());
                first.is_some_and(|first| before(*turn, first.number))
            })
    }

    /// Takes out all texts of some streams: how many bytes of each.
    pub(super) fn drop_of(&mut self, mut of: impl FnMut(Stream) -> bool) -> [usize; 2] {
        let mut dropped = [0; 2];
        for program in self.programs.values_mut() {
            program.texts.retain(|text| {
                let keep = !of(text.stream);
                if !keep {
                    program.budget.give_back(text.bytes.len() as u64);
                    dropped[text.stream] += text.bytes.len();
                }
                keep
            });
        }
        let programs = &self.programs;
        self.turns.retain(|turn| programs.get(turn).is_some_and(|program| !program.texts.is_empty()));
        self.programs.keys().copied().collect::<Vec<_>>().into_iter().for_each(|number| self.tidy(number));
        dropped
    }

    /// A program has ended: it is forgotten when its texts are written.
    pub(super) fn let_go(&mut self, number: Number) {
        self.tidy(number);
    }

    fn tidy(&mut self, number: Number) {
        let under_way = self.writing.is_some_and(|(writing, ..)| writing == number);
        let over = |program: &Program| program.texts.is_empty() && program.budget.tenant().lives().is_err();
        if !under_way && self.programs.get(&number).is_some_and(over) {
            self.programs.remove(&number);
        }
    }
}

/// The last text, if one of `len` bytes may be joined to it: they are not long together.
fn joinable<'a, T>(
    texts: &'a mut VecDeque<T>,
    len: usize,
    same: impl FnOnce(&'a mut T) -> Option<&'a mut Vec<u8>>,
) -> Option<&'a mut Vec<u8>> {
    texts.back_mut().and_then(same).filter(|joined| joined.len() + len <= JOIN)
}

/// A text of its own.
pub(super) fn owned(text: &(impl Text + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    text.append_to(&mut bytes);
    bytes
}

/// Adds a text of one program, joined to the last one if that may be.
pub(super) fn append(texts: &mut VecDeque<(Stream, Vec<u8>)>, stream: Stream, text: &(impl Text + ?Sized)) {
    match joinable(texts, text.len(), |(last, joined)| (*last == stream).then_some(joined)) {
        Some(joined) => text.append_to(joined),
        None => texts.push_back((stream, owned(text))),
    }
}
