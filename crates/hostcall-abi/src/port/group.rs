//! The lanes that act together.

/// The lanes that make one call together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The lanes.
    pub mask: u64,
    /// How many they are.
    pub count: u32,
    /// The caller's place among them, from 0.
    pub rank: u32,
    /// The first of them.
    pub leader: u32,
}

impl Group {
    /// The group of the lanes in `mask`, as seen by lane `lane`, which must be one of them.
    #[inline(always)]
    pub const fn new(mask: u64, lane: u32) -> Self {
        Self { mask, count: mask.count_ones(), rank: (mask & ((1u64 << lane) - 1)).count_ones(), leader: first_lane(mask) }
    }

    /// The first of them, as a group that only it is in; and for what concerns its messages, what the others take it
    /// for.
    #[inline(always)]
    #[must_use]
    pub const fn alone(&self) -> Self {
        Self { mask: 1 << self.leader, count: 1, rank: 0, leader: self.leader }
    }

    /// Whether the caller is the first of them.
    #[inline(always)]
    pub const fn leads(&self) -> bool {
        self.rank == 0
    }
}

/// The lowest lane of a mask that has one.
#[inline(always)]
pub const fn first_lane(mask: u64) -> u32 {
    match core::num::NonZero::new(mask) {
        // Without the case of no lane at all this is one instruction on a GPU.
        Some(mask) => mask.trailing_zeros(),
        None => 0,
    }
}
