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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::RawSlice;
    use crate::wire::StagedRegion;

    type Gathered = VecDeque<(Stream, Vec<u8>)>;

    /// All that comes out from now on: the streams and the first bytes.
    fn rest_of(texts: &mut Texts) -> Vec<(Stream, Vec<u8>)> {
        let each = std::iter::from_fn(|| {
            let text = texts.begin()?;
            texts.written(None);
            Some((text.stream, text.bytes))
        });
        each.collect()
    }

    #[test]
    fn texts_are_joined_to_the_last_one_of_their_stream_and_are_not_long_together() {
        let (mut texts, tenant) = (Texts::default(), Tenant::new());
        let mut gathered = VecDeque::new();
        for (stream, len) in [(0, 300), (0, JOIN - 300), (0, 1), (1, 1), (0, 1)] {
            texts.push(&tenant, stream, vec![b'x'; len]);
            append(&mut gathered, stream, &vec![b'x'; len][..]);
        }
        let lens = [(0, JOIN), (0, 1), (1, 1), (0, 1)];
        assert_eq!(rest_of(&mut texts).iter().map(|(stream, bytes)| (*stream, bytes.len())).collect::<Vec<_>>(), lens);
        assert_eq!(gathered.iter().map(|(stream, bytes)| (*stream, bytes.len())).collect::<Vec<_>>(), lens);
    }

    #[test]
    fn wherever_a_text_is_its_length_decides_whether_it_is_joined() {
        let mut bytes = vec![b'x'; JOIN];
        // SAFETY: the vector's bytes, which nobody else uses meanwhile.
        let region = unsafe { StagedRegion::new(std::ptr::NonNull::from(bytes.as_mut_slice()).cast(), bytes.len()) };
        for (first, second, texts) in [(JOIN - 2, 2, 1), (JOIN - 1, 2, 2), (JOIN, 1, 2)] {
            let joined = |text: &dyn Fn(&mut Gathered, usize)| {
                let mut gathered = VecDeque::new();
                text(&mut gathered, first);
                text(&mut gathered, second);
                gathered.len()
            };
            let region = |len| region.part(0, len).unwrap();
            assert_eq!(joined(&|to, len| append(to, 0, &RawSlice::Staged(region(len)))), texts);
            let copied = vec![b'x'; JOIN];
            assert_eq!(joined(&|to, len| append(to, 0, &RawSlice::Copied(&copied[..len]))), texts);
            assert_eq!(joined(&|to, len| append(to, 0, &copied[..len])), texts);
        }
    }

    #[test]
    fn what_a_wave_could_not_write_goes_before_all_others_and_is_counted_until_it_is_written() {
        let (mut texts, tenant, other) = (Texts::default(), Tenant::new(), Tenant::new());
        texts.push(&other, 0, b"other".to_vec());
        texts.push(&tenant, 1, b"behind".to_vec());
        texts.begin_straight(&tenant, 10);
        assert!(texts.is_writing() && texts.begin().is_none(), "one is written at a time");
        assert_eq!(tenant.has(Thing::Printed), 16);
        texts.written(Some((0, b"rest".to_vec())));
        assert_eq!((tenant.has(Thing::Printed), texts.is_writing()), (10, false));
        assert_eq!(rest_of(&mut texts), [(0, b"rest".to_vec()), (0, b"other".to_vec()), (1, b"behind".to_vec())]);
        assert_eq!((tenant.has(Thing::Printed), other.has(Thing::Printed), texts.is_empty()), (0, 0, true));
    }

    #[test]
    fn only_texts_with_smaller_numbers_have_to_be_written() {
        let (mut texts, tenant, other) = (Texts::default(), Tenant::new(), Tenant::new());
        let [mine, all] = [Some(tenant.number()), None];
        texts.push(&tenant, 0, b"text".to_vec());
        for being_written in [false, true] {
            if being_written {
                texts.begin().unwrap();
            }
            assert!(texts.are_written(all, 0) && texts.are_written(Some(other.number()), 1));
            assert!(!texts.are_written(all, 1) && !texts.are_written(mine, 1));
        }
        texts.written(None);
        assert!(texts.are_written(all, texts.next_number()));
    }

    #[test]
    fn texts_of_one_stream_are_dropped_and_counted_and_those_of_the_other_come_out() {
        let (mut texts, tenant, other) = (Texts::default(), Tenant::new(), Tenant::new());
        for (tenant, stream, text) in [(&tenant, 0, "one"), (&tenant, 1, "stays"), (&tenant, 0, "three"), (&other, 0, "four")] {
            texts.push(tenant, stream, text.as_bytes().to_vec());
        }
        assert_eq!(texts.drop_of(|stream| stream == 0), [12, 0]);
        assert_eq!((tenant.has(Thing::Printed), other.has(Thing::Printed)), (5, 0));
        assert_eq!(rest_of(&mut texts), [(1, b"stays".to_vec())]);
        assert_eq!((texts.is_empty(), texts.drop_of(|_| true)), (true, [0, 0]));
    }

    #[test]
    fn a_program_that_ends_is_known_until_its_text_is_written_and_another_one_no_longer() {
        let (mut texts, tenant, other) = (Texts::default(), Tenant::new(), Tenant::new());
        for tenant in [&other, &tenant] {
            texts.push(tenant, 0, b"text".to_vec());
        }
        texts.begin().unwrap();
        texts.written(None);
        texts.begin().unwrap();
        for (tenant, left) in [(&tenant, 2), (&other, 1)] {
            tenant.end(&[]);
            texts.let_go(tenant.number());
            assert_eq!(texts.programs(), left);
        }
        assert_eq!(tenant.has(Thing::Printed), 4);
        texts.written(None);
        assert_eq!((tenant.has(Thing::Printed), texts.programs()), (0, 0));
    }
}
