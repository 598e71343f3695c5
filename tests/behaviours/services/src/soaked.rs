//! What the soak of streams sends, and how both sides sum it up.

use crate::{Big, Numbered, Patient, Sampled, Tiny};

/// Streams that the soak sends.
pub const STREAMS: usize = 5;

/// A message of the soak: all of it follows from two numbers.
pub trait Soaked: Copy + PartialEq {
    /// Which of the soak's streams it is.
    const INDEX: usize;

    /// That of a lane.
    fn of(lane: u32, number: u32) -> Self;

    /// What sums are made of.
    fn digest(&self) -> u64;

    /// The lane and the number that it was made [of](Soaked::of), if it says them.
    fn key(&self) -> Option<(u32, u32)>;

    /// Whether nothing of it was changed that `digest` does not show.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        true
    }
}

/// Differs by lane and number.
#[inline(always)]
fn digest(lane: u32, number: u32) -> u64 {
    u64::from((lane ^ number.wrapping_mul(0x9e37_79b9)).wrapping_mul(number | 1))
}

macro_rules! soaked {
    ($($message:ident $index:literal),+) => { $(
        impl Soaked for $message {
            const INDEX: usize = $index;

            #[inline(always)]
            fn of(lane: u32, number: u32) -> Self {
                Self { lane, number }
            }

            #[inline(always)]
            fn digest(&self) -> u64 {
                digest(self.lane, self.number)
            }

            #[inline(always)]
            fn key(&self) -> Option<(u32, u32)> {
                Some((self.lane, self.number))
            }
        }
    )+ };
}
soaked!(Numbered 0, Patient 1, Sampled 2);

impl Soaked for Tiny {
    const INDEX: usize = 3;

    #[inline(always)]
    fn of(lane: u32, number: u32) -> Self {
        Self { value: digest(lane, number) as u32 }
    }

    #[inline(always)]
    fn digest(&self) -> u64 {
        self.value.into()
    }

    /// It has no room for it.
    #[inline(always)]
    fn key(&self) -> Option<(u32, u32)> {
        None
    }
}

impl Soaked for Big {
    const INDEX: usize = 4;

    #[inline(always)]
    fn of(lane: u32, number: u32) -> Self {
        Big::of(lane, number)
    }

    #[inline(always)]
    fn digest(&self) -> u64 {
        digest(self.lane, self.number)
    }

    #[inline(always)]
    fn key(&self) -> Option<(u32, u32)> {
        Some((self.lane, self.number))
    }

    #[inline(always)]
    fn is_whole(&self) -> bool {
        *self == Big::of(self.lane, self.number)
    }
}

/// What lanes note of one stream, which adds up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// Values that were sent.
    pub sent: u64,
    /// The sum of their digests.
    pub sum: u64,
    /// Values that were not.
    pub unsent: u64,
    /// Messages that were dropped.
    pub dropped: u64,
    /// Messages of which no lane was wanted, or that were not chosen.
    pub filtered: u64,
    /// Values that ended in any other way: a fault, as nothing is closed or too large.
    pub strange: u64,
}

impl Note {
    /// As kernels write it.
    #[inline(always)]
    pub const fn words(&self) -> [u64; 6] {
        let Self { sent, sum, unsent, dropped, filtered, strange } = *self;
        [sent, sum, unsent, dropped, filtered, strange]
    }

    /// Adds what a lane wrote.
    #[inline(always)]
    pub fn add(&mut self, words: &[u64; 6]) {
        let [sent, sum, unsent, dropped, filtered, strange] = *words;
        self.sent += sent;
        self.sum = self.sum.wrapping_add(sum);
        self.unsent += unsent;
        self.dropped += dropped;
        self.filtered += filtered;
        self.strange += strange;
    }
}
