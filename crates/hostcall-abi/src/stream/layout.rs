//! Where everything lies in a message of rows.
//!
//! | part | units |
//! |---|---|
//! | [`header`] | 8 |
//! | displaced bits | one lane: 1. Waves of 32: a ballot for each unit that a lane sends, and 1. Waves of 64: two ballots for each, and 2 |
//! | padding | up to a whole granule |
//! | columns | those that each lane sends, the lanes side by side |
//!
//! What a lane sends is cut into columns of four units, then one of two, then one of one. In memory they stand the
//! other way round, so that each is aligned to its own width, because they end where the message ends: lane of rank `r`
//! has its part of a column at `r` times the column's width.
//!
//! A phase displaces bit 31 of each unit. Bit `l` of ballot `k` is that of unit `k` of lane `l`. Bit 31 of the ballot
//! is displaced, too: those of lane 31 are gathered in the unit behind the ballots. In waves of 64 the second ballot is
//! that of lanes 32 to 63, and the second unit behind is lane 63's. A lane alone has a unit with a bit for each of its
//! units.

use super::header;
use super::{GRANULE, MAX_UNITS};

/// The layout of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Units of each lane, 1 to [`MAX_UNITS`].
    pub units: u32,
    /// Lanes that send.
    pub lanes: u32,
    /// Whether waves have 64 lanes.
    pub wide: bool,
}

/// Where the top bit of a unit went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Displaced {
    /// Unit of the message.
    pub unit: u32,
    /// Bit of it.
    pub bit: u32,
}

impl Layout {
    /// The layout of `lanes` lanes that send `units` units each; `None` if there is no such message.
    #[inline(always)]
    pub const fn new(units: u32, lanes: u32, wide: bool) -> Option<Self> {
        let most = if wide { 64 } else { 32 };
        if units == 0 || units > MAX_UNITS || lanes == 0 || lanes > most { None } else { Some(Self { units, lanes, wide }) }
    }

    /// Units of displaced bits.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match (self.lanes, self.wide) {
            (1, _) => 1,
            (_, false) => self.units + 1,
            (_, true) => 2 * self.units + 2,
        }
    }

    /// Length of the message.
    #[inline(always)]
    pub const fn granules(self) -> u32 {
        (header::UNITS + self.bits() + self.lanes * self.units).div_ceil(GRANULE)
    }

    /// Units before the columns.
    #[inline(always)]
    pub const fn left(self) -> u32 {
        self.granules() * GRANULE - self.lanes * self.units
    }

    /// Units of each lane that are in columns of four.
    #[inline(always)]
    pub const fn in_fours(self) -> u32 {
        self.units & !3
    }

    /// Unit of the message that is unit `index` of the lane of rank `rank`.
    #[inline(always)]
    pub const fn place(self, rank: u32, index: u32) -> u32 {
        let fours = self.in_fours();
        let columns_of_four = self.granules() * GRANULE - fours * self.lanes;
        if index < fours {
            return columns_of_four + (index / 4) * 4 * self.lanes + rank * 4 + index % 4;
        }
        if self.units & 2 != 0 && index < fours + 2 {
            return columns_of_four - 2 * self.lanes + rank * 2 + (index - fours);
        }
        self.left() + rank
    }

    /// Where the top bit of unit `index` of lane `lane` went.
    #[inline(always)]
    pub const fn displaced(self, lane: u32, index: u32) -> Displaced {
        let first = header::UNITS;
        if self.lanes == 1 {
            return Displaced { unit: first, bit: index };
        }
        let (ballots, half) = if self.wide { (2, lane / 32) } else { (1, 0) };
        match lane % 32 {
            31 => Displaced { unit: first + ballots * self.units + half, bit: index },
            bit => Displaced { unit: first + ballots * index + half, bit },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Layout> {
        [false, true].into_iter().flat_map(|wide| {
            (1..=MAX_UNITS).flat_map(move |units| (1..=if wide { 64 } else { 32 }).filter_map(move |lanes| Layout::new(units, lanes, wide)))
        })
    }

    #[test]
    fn every_unit_of_every_lane_has_a_place_of_its_own_behind_header_and_bits_and_columns_are_aligned() {
        for layout in all() {
            let total = layout.granules() * GRANULE;
            let mut taken = vec![false; total as usize];
            for (rank, index) in (0..layout.lanes).flat_map(|rank| (0..layout.units).map(move |index| (rank, index))) {
                let place = layout.place(rank, index);
                assert!(place >= layout.left() && place < total, "{layout:?}: unit {index} of rank {rank} at {place}");
                assert!(!std::mem::replace(&mut taken[place as usize], true), "{layout:?}: two units at {place}");
                let width = if index < layout.in_fours() { 4 } else { (layout.units - layout.in_fours()) & 2 };
                if width > 0 && (index == 0 || (index == layout.in_fours() && layout.units & 2 != 0)) {
                    assert_eq!(place % width, 0, "{layout:?}: a column of {width} at {place}");
                }
            }
            assert!(layout.left() >= header::UNITS + layout.bits());
            assert!(taken[..layout.left() as usize].iter().all(|taken| !taken));
        }
    }

    #[test]
    fn every_displaced_bit_has_a_place_of_its_own_that_no_phase_displaces() {
        for layout in all() {
            let mut taken = std::collections::HashSet::new();
            // A lane alone may be any lane.
            let lanes = if layout.lanes == 1 { 1 } else { if layout.wide { 64 } else { 32 } };
            for (lane, index) in (0..lanes).flat_map(|lane| (0..layout.units).map(move |index| (lane, index))) {
                let at = layout.displaced(lane, index);
                assert!(at.bit < 31 && at.unit >= header::UNITS && at.unit < header::UNITS + layout.bits(), "{layout:?}: {at:?}");
                assert!(taken.insert((at.unit, at.bit)), "{layout:?}: two bits at {at:?}");
            }
        }
    }

    #[test]
    fn messages_take_the_lines_that_the_design_says() {
        let bytes = |units, lanes| Layout::new(units, lanes, false).unwrap().granules() * GRANULE * 4;
        assert_eq!([bytes(1, 32), bytes(2, 32), bytes(4, 32), bytes(7, 32), bytes(4, 1)], [192, 320, 576, 960, 64]);
    }

    #[test]
    fn there_is_no_message_of_nothing_and_none_that_is_too_large() {
        assert!(Layout::new(0, 1, false).is_none() && Layout::new(1, 0, false).is_none());
        assert!(Layout::new(MAX_UNITS + 1, 1, true).is_none() && Layout::new(1, 33, false).is_none());
        let largest = all().map(|layout| layout.granules()).max().unwrap();
        assert!(cfg!(loom) || largest <= 1 << (super::super::MIN_RING_LOG2 - 2), "a message of {largest} granules");
    }
}
