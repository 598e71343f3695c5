//! The 32-bit unit of a ring: 31 bits of data, and the phase of its lap.
//!
//! The ring begins as zeros. Units of the first lap have the phase bit, those of the second have not, and so on.

/// The phase bit.
pub const PHASE: u32 = 1 << 31;
/// The bits of data.
pub const DATA: u32 = !PHASE;
/// Units of a quad, which the device stores by one instruction where it can.
pub const QUAD: u32 = 4;

/// Where a message lies: its first granule, counted from the first lap on, and the ring's size.
///
/// Only the low 32 bits of the granule are needed: the ring and its laps' parity are far below.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The first unit.
    first: u32,
    /// Units of the ring, as a power of two.
    bits: u32,
    /// 0, or [`LATEST`].
    area: u32,
}

/// Marks the number of a unit that the device stores as one of the ring's area of the latest messages, see
/// [`latest`](super::latest).
pub const LATEST: u32 = 1 << 31;

impl Position {
    /// The place that begins at `granule`, in a ring of 2^`ring_log2` granules.
    #[inline(always)]
    pub const fn new(granule: u32, ring_log2: u32) -> Self {
        Self { first: granule.wrapping_mul(super::GRANULE), bits: ring_log2 + super::GRANULE.trailing_zeros(), area: 0 }
    }

    /// The same place in the ring's area of the latest messages, for the device.
    #[inline(always)]
    pub const fn latest(granule: u32, ring_log2: u32) -> Self {
        Self { area: LATEST, ..Self::new(granule, ring_log2) }
    }

    /// Where unit `index` of the message lies in the ring, marked with [`LATEST`] if it lies in that area.
    #[inline(always)]
    pub const fn unit(self, index: u32) -> u32 {
        self.first.wrapping_add(index) & ((1 << self.bits) - 1) | self.area
    }

    /// Units from unit `index` of the message to the ring's end.
    #[inline(always)]
    pub const fn units_to_end(self, index: u32) -> u32 {
        (1 << self.bits) - (self.unit(index) & !LATEST)
    }

    /// The phase of unit `index` of the message.
    #[inline(always)]
    pub const fn phase(self, index: u32) -> u32 {
        (!(self.first.wrapping_add(index) >> self.bits) & 1) << 31
    }

    /// A unit with data and phase.
    #[inline(always)]
    pub const fn with_phase(self, index: u32, data: u32) -> u32 {
        data & DATA | self.phase(index)
    }

    /// Whether `unit`, loaded from the place of unit `index`, is of this lap.
    #[inline(always)]
    pub const fn is_there(self, index: u32, unit: u32) -> bool {
        (unit ^ self.phase(index)) & PHASE == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_lap_have_one_phase_and_the_next_lap_has_the_other() {
        let lap = 1 << 10;
        for granule in [0, 1, lap - 1] {
            let (first, second) = (Position::new(granule, 10), Position::new(granule + lap, 10));
            assert_eq!(first.unit(3), second.unit(3));
            assert_eq!((first.phase(3), second.phase(3)), (PHASE, 0));
            // Zeros are of no lap that has begun.
            assert!(!first.is_there(3, 0) && first.is_there(3, first.with_phase(3, 7)));
            assert!(!second.is_there(3, first.with_phase(3, 7)));
        }
        // A message that crosses the end: its later units are of the next lap.
        let across = Position::new(lap - 1, 10);
        assert_eq!((across.phase(15), across.phase(16)), (PHASE, 0));
        assert_eq!((across.unit(15), across.unit(16)), (lap * 16 - 1, 0));
    }

    #[test]
    fn positions_go_on_where_their_low_bits_wrap() {
        let (last, first) = (Position::new(u32::MAX, 10), Position::new(0, 10));
        assert_eq!(last.unit(16), first.unit(0));
        assert_eq!(last.phase(16), first.phase(0), "2^32 granules are an even number of laps");
    }
}
