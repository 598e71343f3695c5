//! Counting things that are alike, by threads that must not wait and must not allocate.
//!
//! A failing kernel fails in thousands of lanes. What the lanes have in common (service, code, message) is kept once,
//! under a lock and with an allocation. Each further lane only adds to a number. When as many different things are
//! known as may be kept, others are only counted.

use std::collections::hash_map::{DefaultHasher, RandomState};
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// Different things of one kind that are kept.
pub(crate) const KEEP: usize = 64;

/// How often each of up to [`KEEP`] things happened.
///
/// A place holds the upper half of the thing's hash, never 0, and in the lower half how often it happened; 0 is a free
/// place. Things are told apart by 32 bits of a keyed hash: two that agree in them, once in 10^8 reports, would be
/// counted as the first.
#[derive(Debug)]
pub(crate) struct Tally {
    keys: RandomState,
    places: [AtomicU64; KEEP],
}

/// What a thing is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u64);

/// What became of something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// It is known, and was counted.
    Known,
    /// It is not known, and there is a place for it.
    New,
    /// It is not known, and there is no place for it.
    TooMany,
}

const COUNT: u64 = u32::MAX as u64;

struct Hashed<'a>(&'a mut DefaultHasher);

impl fmt::Write for Hashed<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self { keys: RandomState::new(), places: [const { AtomicU64::new(0) }; KEEP] }
    }
}

impl Tally {
    /// The tag of something. Formats the text, but nowhere to.
    pub(crate) fn tag(&self, key: impl Hash, text: impl fmt::Display) -> Tag {
        let mut hasher = self.keys.build_hasher();
        key.hash(&mut hasher);
        // A text that fails to be formatted is as long as it came.
        let _ = write!(Hashed(&mut hasher), "{text}");
        Tag(hasher.finish().max(1 << 32) & !COUNT)
    }

    /// Counts something that happened so many times, if it is known.
    pub(crate) fn count(&self, tag: Tag, times: u32) -> Counted {
        let mut free = false;
        for place in &self.places {
            // Relaxed, as all here: the words order nothing but themselves; what belongs to a place is behind the
            // owner's lock. Pairs with `insert` and `take`.
            let mut now = place.load(Ordering::Relaxed);
            free |= now == 0;
            while now & !COUNT == tag.0 {
                // More than can be counted stay at that. Taken meanwhile, the place is somebody else's or free, and the
                // exchange fails.
                let more = tag.0 | COUNT.min((now & COUNT) + u64::from(times));
                match place.compare_exchange_weak(now, more, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return Counted::Known,
                    Err(other) => now = other,
                }
            }
        }
        if free { Counted::New } else { Counted::TooMany }
    }

    /// Counts something that was not known, under its owner's lock; `known` is how many things are. True: it has the
    /// place behind those now.
    pub(crate) fn insert(&self, tag: Tag, times: u32, known: usize) -> Counted {
        // Somebody else may have been first.
        match self.count(tag, times) {
            Counted::New => {}
            counted => return counted,
        }
        match self.places.get(known) {
            Some(place) => {
                // Pairs with `count`.
                place.store(tag.0 | u64::from(times), Ordering::Relaxed);
                Counted::New
            }
            None => Counted::TooMany,
        }
    }

    /// Forgets the thing at a place, under its owner's lock; returns how often it happened.
    pub(crate) fn take(&self, place: usize) -> u64 {
        // Pairs with `count`.
        self.places.get(place).map_or(0, |place| place.swap(0, Ordering::Relaxed) & COUNT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_thing_is_counted_under_one_place_and_others_under_theirs() {
        let tally = Tally::default();
        let tag = |code: u32, text: &str| tally.tag(("service", code), text);
        assert_eq!(tally.count(tag(1, "a"), 1), Counted::New);
        assert_eq!(tally.insert(tag(1, "a"), 1, 0), Counted::New);
        assert_eq!(tally.insert(tag(1, "a"), 1, 1), Counted::Known);
        for other in [tag(2, "a"), tag(1, "b")] {
            assert_eq!(tally.count(other, 1), Counted::New);
        }
        assert_eq!(tally.count(tally.tag(("service", 1), format_args!("{}", 'a')), 5), Counted::Known);
        assert_eq!((tally.take(0), tally.take(0), tally.take(KEEP)), (7, 0, 0));
        assert_eq!(tally.count(tag(1, "a"), 1), Counted::New, "it is forgotten");
    }

    #[test]
    fn what_is_one_too_many_is_told_without_a_place() {
        let tally = Tally::default();
        for i in 0..KEEP {
            assert_eq!(tally.insert(tally.tag(i, ""), 1, i), Counted::New);
        }
        assert_eq!(tally.count(tally.tag(KEEP, ""), 1), Counted::TooMany);
        assert_eq!(tally.count(tally.tag(3usize, ""), u32::MAX), Counted::Known);
        assert_eq!(tally.take(3), COUNT, "it stays at that");
    }
}
