//! The ring of the calling wave: what [`RingLink`] wants, from a few memory accesses that each machine has.

use super::current::{self as arch, Machine, rings};
use hostcall_abi::lanes::Lanes;
use hostcall_abi::stream::rings::{Counters, RingState, STRIDE};
use hostcall_abi::stream::unit::LATEST;
use hostcall_abi::stream::{Bounds, Counter, Credit, From, Gate, Place, RingLink, Rings};

/// The memory accesses of a ring. Addresses are as the device sees them.
pub(crate) trait RingMachine: Lanes {
    /// Loads a [`Credit`], of host memory or of a window or of device memory: 8 bytes at once. Pairs with the reader's
    /// store of it.
    fn load_credit(self, at: u64) -> u64;
    /// Stores a [`Credit`] into device memory, for other waves.
    fn store_credit(self, at: u64, credit: u64);
    /// Loads [`RingState::head`], relaxed.
    fn load_head(self, at: u64) -> u32;
    /// Adds to [`RingState::head`] or [`RingState::latest`], relaxed, and returns what it was.
    fn add_head(self, at: u64, granules: u32) -> u32;
    /// Loads a [`Gate`] or [`Bounds`] of device memory, which the host may be writing. It may be stale, but not for
    /// ever.
    fn load_gate(self, at: u64) -> [u32; 8];
    /// A number that differs from one message to the next.
    fn dice(self) -> u32;
    /// Adds one to a counter in device memory, relaxed.
    fn add_count(self, at: u64);
    /// Stores 1, 2 or 4 units of host memory that are aligned together. Relaxed: pairs with the reader's loads, by the
    /// units' phases.
    fn store_units<const N: usize>(self, at: u64, values: [u32; N]);
    /// See [`RingLink::settled`].
    #[inline(always)]
    fn settle(self, values: [u32; 4]) -> [u32; 4] {
        values
    }
    /// Waits for room, for the `attempt`-th time in a row, without a call.
    #[inline(always)]
    fn nap(self, attempt: u32) {
        self.pause(attempt);
    }
}

/// The number of the workgroup in the grid, and of the wave in the workgroup.
#[inline(always)]
fn place() -> (u64, u32) {
    let ([x, y, z], [nx, ny, _]) = (arch::group_id(), arch::group_count());
    let group = (u64::from(z) * u64::from(ny) + u64::from(y)) * u64::from(nx) + u64::from(x);
    (group, crate::wave::local_index() as u32 / arch::wave_size())
}

/// The wave's ring. (Waves of a workgroup that is larger than 32 waves share numbers, not more.)
#[inline(always)]
fn ring() -> u32 {
    let (group, wave) = place();
    Rings::ring_of(rings().rings_log2, (group as u32).wrapping_mul(32).wrapping_add(wave))
}

/// What belongs to the ring, of what begins at `first`.
#[inline(always)]
fn own(first: u64) -> u64 {
    first + u64::from(ring()) * STRIDE as u64
}

#[inline(always)]
fn unit(index: u32) -> u64 {
    let rings = rings();
    // The areas of the latest messages lie behind the last ring.
    let before = if index & LATEST == 0 { 0 } else { 1 << rings.rings_log2 };
    rings.data + u64::from(before + ring()) * rings.stride + u64::from(index & !LATEST) * 4
}

impl RingLink for Machine {
    #[inline(always)]
    fn ring_log2(self) -> u32 {
        rings().ring_log2
    }

    #[inline(always)]
    fn is_wide(self) -> bool {
        arch::wave_size() == 64
    }

    #[inline(always)]
    fn from(self) -> From {
        let (group, wave) = place();
        From { group, wave, sm: arch::sm(), launch: arch::launch() }
    }

    #[inline(always)]
    fn pause_for_room(self, attempt: u32) {
        self.nap(attempt);
    }

    #[inline(always)]
    fn head(self) -> u32 {
        self.load_head(own(rings().states))
    }

    #[inline(always)]
    fn reserve(self, granules: u32) -> u32 {
        self.add_head(own(rings().states), granules)
    }

    #[inline(always)]
    fn reserve_latest(self, granules: u32) -> u32 {
        self.add_head(own(rings().states) + core::mem::offset_of!(RingState, latest) as u64, granules)
    }

    #[inline(always)]
    fn credit(self) -> Credit {
        let credit = self.load_credit(own(rings().credit));
        Credit { freed: credit as u32, closed: (credit >> 32) as u32 }
    }

    #[inline(always)]
    fn learn(self) {
        if rings().control != 0 {
            // Two waves may do so at once, and the older credit be stored last: it is credit all the same, and learnt
            // anew when it is short.
            self.store_credit(own(rings().credit), self.load_credit(own(rings().control)));
        }
    }

    #[inline(always)]
    fn gate(self, stream: u32) -> Gate {
        Gate::of_words(self.load_gate(Rings::gate_of(rings().gates, stream)))
    }

    #[inline(always)]
    fn bounds(self, stream: u32) -> Bounds {
        Bounds::of_words(self.load_gate(Rings::bounds_of(rings().gates, stream)))
    }

    #[inline(always)]
    fn place(self) -> Place {
        Place { group: arch::group_id(), lane: arch::local_id() }
    }

    #[inline(always)]
    fn dice(self) -> u32 {
        RingMachine::dice(self)
    }

    #[inline(always)]
    fn count(self, stream: u32, what: Counter) {
        let rings = rings();
        let field = match what {
            Counter::Dropped => core::mem::offset_of!(Counters, dropped),
            Counter::Waited => core::mem::offset_of!(Counters, waited),
            Counter::Filtered => core::mem::offset_of!(Counters, filtered),
            Counter::Sent => core::mem::offset_of!(Counters, sent),
        };
        let index = Rings::counters_of(rings.rings_log2, stream, ring());
        self.add_count(rings.counters + u64::from(index) * size_of::<Counters>() as u64 + field as u64);
    }

    #[inline(always)]
    fn settled(self, values: [u32; 4]) -> [u32; 4] {
        self.settle(values)
    }

    #[inline(always)]
    fn store(self, index: u32, value: u32) {
        self.store_units(unit(index), [value]);
    }

    #[inline(always)]
    fn store_two(self, index: u32, values: [u32; 2]) {
        self.store_units(unit(index), values);
    }

    #[inline(always)]
    fn store_four(self, index: u32, values: [u32; 4]) {
        self.store_units(unit(index), values);
    }
}
