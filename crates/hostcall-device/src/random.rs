//! Random numbers: a counter and a mixing function per lane, seeded from the host's seed.
//!
//! Not for secrets. The generator is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
//! generators", OOPSLA 2014) with a per-lane start: no state is shared, no call is made, and the same seed
//! gives each lane the same numbers again.

use crate::context::descriptor;
use crate::wave;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The calling lane's generator, from the seed that the host drew when it attached the program.
    /// Two generators of one lane give the same numbers: keep one.
    pub fn new() -> Self {
        Self::with_seed(descriptor().seed)
    }

    /// The calling lane's generator for a seed of its own.
    pub fn with_seed(seed: u64) -> Self {
        Self::stream(seed, wave::global_id() as u64)
    }

    /// Stream `number` of a seed: streams of different numbers are independent.
    pub const fn stream(seed: u64, number: u64) -> Self {
        Self(mix(seed ^ mix(number.wrapping_add(GOLDEN))))
    }

    /// 64 random bits.
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// 32 random bits.
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A number below `bound` (0 if `bound` is 0), each equally likely to within 2⁻³².
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        (((self.next_u64() >> 32) * bound as u64) >> 32) as u32
    }

    /// A number from 0 up to but without 1.
    #[inline]
    pub fn next_f32(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// A number from 0 up to but without 1.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_ne_bytes()[..chunk.len()]);
        }
    }
}

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_itself_and_differs_from_the_next() {
        let take = |seed, number| {
            let mut r = Random::stream(seed, number);
            [r.next_u64(), r.next_u64(), r.next_u64()]
        };
        assert_eq!(take(7, 3), take(7, 3));
        assert_ne!(take(7, 3), take(7, 4));
        assert_ne!(take(7, 3), take(8, 3));
    }

    #[test]
    fn numbers_below_a_bound_reach_every_value_and_no_other() {
        let mut r = Random::stream(1, 1);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[r.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        assert_eq!(r.below(0), 0);
    }
}
