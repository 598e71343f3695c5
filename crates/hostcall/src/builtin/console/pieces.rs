//! Long texts, which come in pieces: joined when their last piece is there.
//!
//! A kernel decides how many texts it begins, how long they are, and whether it ever ends them. So both the bytes and
//! the number of a program's unfinished texts are bounded. Beyond that its oldest texts are written as far as they have
//! come, and nothing is lost. A program that begins many texts breaks no other program's.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::tenant::{Ended, Number, Tenant};

/// A stream's number, as an index: 0 for standard output, 1 for standard error.
pub(super) type Stream = usize;

/// What tells the texts of a program apart: the text's key with its stream in the lowest bit.
pub(super) type Key = u64;

/// What is kept of unfinished texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bytes: usize,
    pub(super) texts: usize,
}

/// Every lane that a GPU can run at once may be in the middle of a text.
const BOUNDS: Bounds = Bounds { bytes: 64 << 20, texts: 1 << 19 };

#[derive(Debug)]
struct Text {
    bytes: Vec<u8>,
    /// When it began, in texts.
    begun: u64,
}

/// A program's unfinished texts.
#[derive(Debug)]
pub(super) struct Pieces {
    texts: HashMap<Key, Text>,
    /// The texts in the order in which they began, and some that are finished.
    order: VecDeque<(u64, Key)>,
    /// Bytes in `texts`.
    bytes: usize,
    begun: u64,
    bounds: Bounds,
}

impl Default for Pieces {
    fn default() -> Self {
        Self::bounded(BOUNDS)
    }
}

impl Pieces {
    pub(super) fn bounded(bounds: Bounds) -> Self {
        Self { texts: HashMap::new(), order: VecDeque::new(), bytes: 0, begun: 0, bounds }
    }

    /// Adds a piece, and gives `write` what is to be written, with its stream: the whole text with its last piece; and
    /// when there is more to keep than may be kept, what there is of the oldest texts.
    pub(super) fn add(&mut self, key: Key, piece: &[u8], last: bool, mut write: impl FnMut(Stream, Vec<u8>)) {
        if last {
            let mut whole = self.remove(key).unwrap_or_default();
            whole.extend_from_slice(piece);
            self.tidy();
            return write(stream_of(key), whole);
        }
        // An empty piece neither begins a text nor adds to it.
        if piece.is_empty() {
            return;
        }
        let text = self.texts.entry(key).or_insert_with(|| {
            self.begun += 1;
            self.order.push_back((self.begun, key));
            Text { bytes: Vec::new(), begun: self.begun }
        });
        text.bytes.extend_from_slice(piece);
        self.bytes += piece.len();
        while self.bytes > self.bounds.bytes || self.texts.len() > self.bounds.texts {
            let Some((begun, oldest)) = self.order.pop_front() else { break };
            if self.texts.get(&oldest).is_some_and(|text| text.begun == begun)
                && let Some(text) = self.remove(oldest)
            {
                write(stream_of(oldest), text);
            }
        }
        self.tidy();
    }

    /// Forgets the order of texts that are finished, before they outnumber the others.
    fn tidy(&mut self) {
        if self.order.len() > 2 * self.texts.len() + 16 {
            let texts = &self.texts;
            self.order.retain(|(begun, key)| texts.get(key).is_some_and(|text| text.begun == *begun));
        }
    }

    fn remove(&mut self, key: Key) -> Option<Vec<u8>> {
        let text = self.texts.remove(&key)?;
        self.bytes -= text.bytes.len();
        Some(text.bytes)
    }

    /// Everything unfinished, the oldest first.
    pub(super) fn take_all(&mut self) -> Vec<(Stream, Vec<u8>)> {
        let mut taken: Vec<(Key, Text)> = self.texts.drain().collect();
        self.bytes = 0;
        self.order.clear();
        taken.sort_unstable_by_key(|(_, text)| text.begun);
        taken.into_iter().map(|(key, text)| (stream_of(key), text.bytes)).collect()
    }
}

fn stream_of(key: Key) -> Stream {
    (key & 1) as Stream
}

/// The unfinished texts of one program.
pub(super) type Unfinished = (Arc<Tenant>, Vec<(Stream, Vec<u8>)>);

/// The unfinished texts of all programs.
#[derive(Debug, Default)]
pub(super) struct AllPieces(HashMap<Number, (Arc<Tenant>, Pieces)>);

impl AllPieces {
    /// As [`Pieces::add`], of a program. Of one that has ended nothing is kept: its pieces are written as they come.
    pub(super) fn add(&mut self, tenant: &Arc<Tenant>, key: Key, piece: &[u8], last: bool, mut write: impl FnMut(Stream, Vec<u8>)) {
        match tenant.lives() {
            Ok(()) => {
                let (_, pieces) = self.0.entry(tenant.number()).or_insert_with(|| (tenant.clone(), Pieces::default()));
                pieces.add(key, piece, last, write);
            }
            Err(Ended) => write(stream_of(key), piece.to_vec()),
        }
    }

    /// Everything unfinished of a program, which has ended.
    pub(super) fn take_of(&mut self, tenant: &Tenant) -> Option<Unfinished> {
        self.0.remove(&tenant.number()).map(|(tenant, mut pieces)| (tenant, pieces.take_all()))
    }

    /// Everything unfinished, of each program.
    pub(super) fn take_all(&mut self) -> Vec<Unfinished> {
        self.0.values_mut().map(|(tenant, pieces)| (tenant.clone(), pieces.take_all())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Pieces {
        /// What it takes of the host's memory, in entries and bytes.
        fn within_bounds(&self) -> bool {
            let kept: usize = self.texts.values().map(|text| text.bytes.len()).sum();
            kept == self.bytes
                && self.bytes <= self.bounds.bytes
                && self.texts.len() <= self.bounds.texts
                && self.order.len() <= 2 * self.texts.len() + 16
        }
    }

    fn add(pieces: &mut Pieces, key: Key, piece: &[u8], last: bool) -> Vec<Vec<u8>> {
        let mut written = Vec::new();
        pieces.add(key, piece, last, |_, text| written.push(text));
        written
    }

    #[test]
    fn a_guest_that_never_finishes_its_texts_is_bounded() {
        let mut pieces = Pieces::default();
        let piece = vec![0; 1 << 20];
        let written: usize = (0..200).flat_map(|key| add(&mut pieces, key, &piece, false)).map(|text| text.len()).sum();
        assert!(pieces.within_bounds() && written + pieces.bytes == 200 << 20);
    }

    #[test]
    fn empty_pieces_with_fresh_keys_take_no_memory() {
        let mut pieces = Pieces::default();
        for key in 0..100_000 {
            assert!(add(&mut pieces, key, b"", false).is_empty());
        }
        assert_eq!((pieces.texts.len(), pieces.texts.capacity(), pieces.order.len()), (0, 0, 0));
    }

    #[test]
    fn short_pieces_with_fresh_keys_are_bounded_in_number() {
        let mut pieces = Pieces::bounded(Bounds { bytes: 1 << 20, texts: 100 });
        let written: usize = (0..10_000).map(|key| add(&mut pieces, key, b"x", false).len()).sum();
        assert_eq!((written, pieces.texts.len()), (9_900, 100));
        assert!(pieces.within_bounds());
    }

    #[test]
    fn texts_that_are_begun_and_finished_for_ever_leave_nothing_behind() {
        let mut pieces = Pieces::default();
        add(&mut pieces, u64::MAX, b"stays", false);
        for key in 0..100_000 {
            add(&mut pieces, key, b"x", false);
            assert_eq!(add(&mut pieces, key, b"y", true), [b"xy"]);
            assert!(pieces.within_bounds());
        }
        assert_eq!(pieces.take_all(), [(1, b"stays".to_vec())]);
    }

    #[test]
    fn as_much_is_kept_as_may_be_and_then_the_text_that_began_first_makes_room() {
        let mut pieces = Pieces::bounded(Bounds { bytes: 8, texts: 2 });
        add(&mut pieces, 0, b"a", false);
        assert_eq!(add(&mut pieces, 0, b"", true), [b"a"]);
        for (key, piece) in [(2, "old"), (0, "again")] {
            assert!(add(&mut pieces, key, piece.as_bytes(), false).is_empty(), "two texts of eight bytes");
        }
        // The first text with this key began before, and is over: the one that has its key now began last.
        assert_eq!(add(&mut pieces, 4, b"new", false), [b"old"]);
        assert_eq!(add(&mut pieces, 4, b"er", false), [b"again"]);
        assert_eq!(pieces.take_all(), [(0, b"newer".to_vec())]);
    }

    #[test]
    fn finished_texts_are_forgotten_many_at_a_time_and_the_others_keep_their_order() {
        let mut pieces = Pieces::bounded(Bounds { bytes: 100, texts: 2 });
        let finish = |pieces: &mut Pieces, texts: usize| {
            for _ in 0..texts {
                add(pieces, 6, b"x", false);
                add(pieces, 6, b"y", true);
            }
            pieces.order.len()
        };
        assert_eq!([finish(&mut pieces, 10), finish(&mut pieces, 6), finish(&mut pieces, 1)], [10, 16, 0]);
        add(&mut pieces, 0, b"old", false);
        assert_eq!(finish(&mut pieces, 18), 1, "only what is not finished");
        add(&mut pieces, 2, b"new", false);
        assert_eq!(add(&mut pieces, 4, b"newest", false), [b"old"]);
    }

    #[test]
    fn the_texts_of_one_program_are_taken_and_those_of_others_stay_whole() {
        let (mut all, tenant, other) = (AllPieces::default(), Tenant::new(), Tenant::new());
        let mut written = Vec::new();
        let mut add = |all: &mut AllPieces, tenant: &Arc<Tenant>, key, piece: &str, last| {
            all.add(tenant, key, piece.as_bytes(), last, |_, text| written.push(text))
        };
        for (tenant, key, piece) in [(&tenant, 4, "first"), (&other, 4, "other"), (&tenant, 3, "second")] {
            add(&mut all, tenant, key, piece, false);
        }
        tenant.end(&[]);
        assert_eq!(all.take_of(&tenant).unwrap().1, [(0, b"first".to_vec()), (1, b"second".to_vec())]);
        // What comes late is written, and nothing of it is kept.
        add(&mut all, &tenant, 4, "late", false);
        let left: Vec<_> = all.take_all().into_iter().flat_map(|(_, texts)| texts).collect();
        assert_eq!(left, [(0, b"other".to_vec())]);
        assert_eq!(written, [b"late"]);
    }

    #[test]
    fn a_program_that_begins_texts_without_end_breaks_no_other_programs() {
        let (mut all, tenant, other) = (AllPieces::default(), Tenant::new(), Tenant::new());
        let (mut broken, piece) = (0, vec![b'x'; 1 << 20]);
        all.add(&other, 0, b"in ", false, |_, _| broken += 1);
        (0..200).for_each(|key| all.add(&tenant, key, &piece, false, |_, _| {}));
        all.add(&other, 0, b"one", true, |_, text| assert_eq!(text, b"in one"));
        assert_eq!(broken, 0);
    }

    proptest! {
        /// Whatever the pieces: bounds are kept, and every byte comes out once, in its text's order, on its stream.
        #[test]
        fn every_byte_of_every_text_comes_out_once_in_order(
            steps in prop::collection::vec((0u64..12, 0usize..40, prop::bool::weighted(0.2)), 0..200),
            bytes in 0usize..120,
            texts in 0usize..6,
        ) {
            let mut pieces = Pieces::bounded(Bounds { bytes, texts });
            let (mut given, mut got) = (HashMap::<u64, Vec<u8>>::new(), HashMap::<Stream, Vec<u8>>::new());
            for (i, (key, len, last)) in steps.into_iter().enumerate() {
                // The first byte says whose piece it is, so that what comes out can be told apart.
                let piece: Vec<u8> = (0..len).map(|_| key as u8 * 16 + (i % 16) as u8).collect();
                given.entry(key).or_default().extend(&piece);
                pieces.add(key, &piece, last, |stream, text| got.entry(stream).or_default().extend(text));
                prop_assert!(pieces.within_bounds());
            }
            for (stream, text) in pieces.take_all() {
                got.entry(stream).or_default().extend(text);
            }
            for (key, given) in given {
                let stream = (key & 1) as Stream;
                let of_key = |byte: &&u8| u64::from(**byte / 16) == key;
                let out: Vec<u8> = got.get(&stream).into_iter().flatten().filter(of_key).copied().collect();
                prop_assert_eq!(out, given, "key {}", key);
            }
            prop_assert!(pieces.texts.is_empty() && pieces.bytes == 0);
        }
    }
}
