//! Where the rings of a program are, and what else its waves share with their reader.

use super::send::Credit;
use super::{MAX_RING_LOG2, MIN_RING_LOG2};

/// Name of the program's [`Rings`] global. The host fills it when it attaches the program to rings.
pub const RINGS_SYMBOL: &str = "__hostcall_rings";
/// The most rings, as a power of two.
pub const MAX_RINGS_LOG2: u32 = 10;
/// Bytes from what belongs to a ring, its [`RingState`] or its control line, to that of the next: waves of different
/// rings share no line.
pub const STRIDE: usize = 128;

/// Everything a kernel must know of its rings. All addresses are as the device sees them.
///
/// All zero means "attached to none": every stream is then off.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct Rings {
    /// Host memory: the first unit of ring 0.
    pub data: u64,
    /// Bytes from the first unit of a ring to that of the next. Behind the last ring lie the areas of the latest
    /// messages in the same way, one for each ring, if a stream of the program wants them.
    pub stride: u64,
    /// Device memory: [`RingState`]s, one every [`STRIDE`] bytes.
    pub states: u64,
    /// Where waves look what the reader says: a [`Credit`] every [`STRIDE`] bytes, in a window, or what has been
    /// learnt, in the [`RingState`]s.
    pub credit: u64,
    /// Without a window, host memory: where it is learnt, a [`Credit`] every [`STRIDE`] bytes. 0: there is a window.
    pub control: u64,
    /// Device memory: [`Counters`] for each stream and ring, see [`Rings::counters_of`].
    pub counters: u64,
    /// Granules of each ring, as a power of two; 0: attached to none.
    pub ring_log2: u32,
    /// Rings, as a power of two.
    pub rings_log2: u32,
    /// Device memory: a [`Gate`](super::Gate) for each stream, by number from 1 on. Before it lie their
    /// [`Bounds`](super::Bounds), backwards.
    pub gates: u64,
}

const _: () = assert!(size_of::<Rings>() == 64);

/// What waves share of a ring, in device memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct RingState {
    /// Granules that have been reserved since the ring was attached, low 32 bits.
    pub head: u32,
    /// The same of the ring's area of the latest messages.
    pub latest: u32,
    /// Without a window: what has been learnt of the reader.
    pub credit: Credit,
}

/// What waves count for one stream in one ring, in device memory. Counters only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counters {
    /// [`Counter::Dropped`](super::Counter::Dropped).
    pub dropped: u64,
    /// [`Counter::Waited`](super::Counter::Waited).
    pub waited: u64,
    /// [`Counter::Filtered`](super::Counter::Filtered).
    pub filtered: u64,
    /// [`Counter::Sent`](super::Counter::Sent).
    pub sent: u64,
}

impl Rings {
    /// "Attached to none".
    pub const DETACHED: Self =
        Self { data: 0, stride: 0, states: 0, credit: 0, control: 0, counters: 0, ring_log2: 0, rings_log2: 0, gates: 0 };

    /// The ring of the wave that is number `wave` of its grid.
    ///
    /// Waves are spread evenly, and by nothing that can change while one runs, so that the messages of a wave stay in
    /// order.
    #[inline(always)]
    pub const fn ring_of(rings_log2: u32, wave: u32) -> u32 {
        // Fibonacci hashing: the high bits of a product with 2^32 divided by the golden ratio.
        ((wave.wrapping_mul(0x9e37_79b9) as u64) << rings_log2 >> 32) as u32
    }

    /// Which of the [`Counters`] are those of a stream in a ring.
    #[inline(always)]
    pub const fn counters_of(rings_log2: u32, stream: u32, ring: u32) -> u32 {
        (stream.wrapping_sub(1) << rings_log2) + ring
    }

    /// Where the [`Gate`](super::Gate) of a stream is.
    #[inline(always)]
    pub const fn gate_of(gates: u64, stream: u32) -> u64 {
        gates + (stream.wrapping_sub(1) as u64) * size_of::<super::Gate>() as u64
    }

    /// Where the [`Bounds`](super::Bounds) of a stream are: before the gates, the last stream's first.
    #[inline(always)]
    pub const fn bounds_of(gates: u64, stream: u32) -> u64 {
        gates.wrapping_sub(stream as u64 * size_of::<super::Bounds>() as u64)
    }

    /// Whether waves can use it, as far as its numbers say.
    pub const fn is_attached(&self) -> bool {
        self.ring_log2 >= MIN_RING_LOG2 && self.ring_log2 <= MAX_RING_LOG2
    }

    /// The bytes to write into the program.
    pub const fn as_bytes(&self) -> &[u8; size_of::<Self>()] {
        // SAFETY: `Rings` is `repr(C)` without padding (7 u64 and 2 u32 are 64 bytes); any of its bytes is initialised.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_spread_evenly_over_the_rings() {
        for log2 in 0..=MAX_RINGS_LOG2 {
            let mut waves = vec![0u32; 1 << log2];
            for wave in 0..8448 {
                waves[Rings::ring_of(log2, wave) as usize] += 1;
            }
            let even = 8448 >> log2;
            assert!(
                waves.iter().all(|count| count.abs_diff(even) <= 2),
                "{} rings: {:?} to {:?}",
                1 << log2,
                waves.iter().min(),
                waves.iter().max()
            );
        }
    }

    #[test]
    fn each_stream_has_counters_of_its_own_in_each_ring() {
        let all = (1..=5).flat_map(|stream| (0..8).map(move |ring| Rings::counters_of(3, stream, ring)));
        assert!(all.eq(0..40));
    }
}
