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
        Self { mask, count: count_ones(mask), rank: count_ones(mask & ((1u64 << lane) - 1)), leader: first_lane(mask) }
    }

    /// The first of them, as a group that only it is in; and for what concerns its messages, what the others take it
    /// for.
    #[inline(always)]
    #[must_use]
    pub const fn alone(&self) -> Self {
        Self { mask: 1 << self.leader, count: 1, rank: 0, leader: self.leader }
    }

    /// Whether the caller is the only one: then there is nobody to meet.
    #[inline(always)]
    pub const fn is_one(&self) -> bool {
        self.count == 1
    }

    /// Whether the caller is the first of them.
    #[inline(always)]
    pub const fn leads(&self) -> bool {
        self.rank == 0
    }
}

/// The halves of a mask. Of a wave of 32 lanes the compiler knows that the upper one is 0.
#[inline(always)]
const fn halves(mask: u64) -> (u32, u32) {
    (mask as u32, (mask >> 32) as u32)
}

/// Lanes of a mask.
#[inline(always)]
const fn count_ones(mask: u64) -> u32 {
    let (low, high) = halves(mask);
    low.count_ones() + high.count_ones()
}

/// The lowest lane of a mask, 0 if it has none.
#[inline(always)]
pub const fn first_lane(mask: u64) -> u32 {
    match halves(mask) {
        (0, 0) => 0,
        (0, high) => u32::BITS + high.trailing_zeros(),
        (low, _) => low.trailing_zeros(),
    }
}
