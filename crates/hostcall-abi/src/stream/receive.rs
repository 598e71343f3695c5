//! The host's half: reading a ring.
//!
//! Nothing that a ring holds is believed. A message is copied, then checked, then read from the copy, so that a device that writes on meanwhile
//! changes nothing that has been checked. Work for each message is bounded by its length, which the ring bounds.

use super::header::{self, Header};
use super::layout::Layout;
use super::unit::{PHASE, Position, QUAD};
use super::{GRANULE, MAX_UNITS};

/// Units of the longest message that is understood.
const MAX_MESSAGE: usize = 129 * GRANULE as usize;

const _: () = {
    let Some(largest) = Layout::new(MAX_UNITS, 64, true) else { panic!() };
    assert!(largest.granules() * GRANULE == MAX_MESSAGE as u32);
};

/// A ring's memory.
pub trait RingMemory {
    /// Loads the four units from `unit` on, a multiple of four: each of them whole, in any order. Pairs with the device's stores.
    fn load_four(&self, unit: u32) -> [u32; 4];
    /// Stores one unit that the device has not stored: no kernel runs.
    fn repair(&self, unit: u32, value: u32);
}

/// What [`Reader::next`] found.
#[derive(Debug)]
pub enum Found<'a> {
    /// A whole message. The reader stands behind it.
    Message(Message<'a>),
    /// Nothing yet.
    Absent,
    /// A part of a message, or of a granule that is none: later looks may find the rest.
    Partial,
    /// A granule with which no message begins. The reader stands behind it.
    Malformed,
}

/// A message that has been copied out of its ring.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its header.
    pub header: Header,
    layout: Layout,
    units: &'a [u32],
}

impl Message<'_> {
    /// Lanes that sent it: rows.
    pub const fn rows(&self) -> u32 {
        self.layout.lanes
    }

    /// Units of each row.
    pub const fn units(&self) -> u32 {
        self.layout.units
    }

    /// The lanes that sent it, in the order of rows.
    pub fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mut rest = self.header.mask;
        core::iter::from_fn(move || {
            let lane = (rest != 0).then(|| rest.trailing_zeros())?;
            rest &= rest - 1;
            Some(lane)
        })
    }

    /// Unit `index` of row `row`, which lane `lane` sent; 0 where there is none.
    #[inline]
    fn unit(&self, row: u32, lane: u32, index: u32) -> u32 {
        let at = self.layout.displaced(lane, index);
        let load = |unit: u32| self.units.get(unit as usize).copied().unwrap_or(0);
        load(self.layout.place(row, index)) & !PHASE | (load(at.unit) >> at.bit & 1) << 31
    }

    /// Writes all rows to `out`, one behind another, and returns how many units that are.
    ///
    /// # Panics
    /// When `out` is shorter than [`Message::rows`] times [`Message::units`].
    pub fn copy_rows(&self, out: &mut [u32]) -> usize {
        let units = self.layout.units;
        let all = (self.layout.lanes * units) as usize;
        for (row, (lane, out)) in self.lanes().zip(out[..all].chunks_exact_mut(units as usize)).enumerate() {
            for (index, out) in out.iter_mut().enumerate() {
                *out = self.unit(row as u32, lane, index as u32);
            }
        }
        all
    }
}

/// Reads one ring, in order.
#[derive(Debug)]
pub struct Reader {
    ring_log2: u32,
    wide: bool,
    /// Granules read since the ring was attached.
    position: u64,
    /// Granules of which the device has been told.
    told: u64,
    copy: [u32; MAX_MESSAGE],
}

impl Reader {
    /// A reader of a ring of zeros, of 2^`ring_log2` granules, that waves of 32 lanes write, or (`wide`) of 64.
    ///
    /// # Panics
    /// When rings cannot have that size, see [`super::MIN_RING_LOG2`] and [`super::MAX_RING_LOG2`].
    pub const fn new(ring_log2: u32, wide: bool) -> Self {
        Self::behind(0, ring_log2, wide)
    }

    /// The same for a ring of which `position` granules have been read already: each of its units has the phase of its last lap.
    ///
    /// # Panics
    /// As [`Reader::new`].
    pub const fn behind(position: u64, ring_log2: u32, wide: bool) -> Self {
        assert!(ring_log2 >= super::MIN_RING_LOG2 && ring_log2 <= super::MAX_RING_LOG2, "a ring of a size that there is not");
        Self { ring_log2, wide, position, told: position, copy: [0; MAX_MESSAGE] }
    }

    /// Granules read since the ring was attached.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Granules that the device may use again, if that is an eighth of the ring more than it has been told, or (`all`) if it is any more. The caller
    /// stores its low 32 bits where the device's [`RingLink::freed`](super::RingLink::freed) finds them, with release: what was read was read before.
    pub const fn credit(&mut self, all: bool) -> Option<u64> {
        let news = self.position - self.told;
        if news == 0 || (!all && news < 1 << (self.ring_log2 - 3)) {
            return None;
        }
        self.told = self.position;
        Some(self.position)
    }

    /// Looks for the next message. `units` says how many units each lane of a stream sends; `None`: there is no such stream.
    pub fn next<'a>(&'a mut self, memory: &impl RingMemory, units: impl FnOnce(u32) -> Option<u32>) -> Found<'a> {
        let at = Position::new(self.position as u32, self.ring_log2);
        // The smallest message is a granule, so this is within it.
        if !self.copy_units(memory, at, 0, QUAD) {
            return if at.is_there(0, self.copy[0]) { Found::Partial } else { Found::Absent };
        }
        if !self.copy_units(memory, at, QUAD, header::UNITS) {
            return Found::Partial;
        }
        let Some((header, layout)) = self.plausible(units) else { return self.skip_malformed(memory, at) };
        let end = layout.granules() * GRANULE;
        // The last units first: while the message is on its way, that is one load instead of all.
        if !self.copy_units(memory, at, end - QUAD, end) || !self.copy_units(memory, at, header::UNITS, end) {
            return Found::Partial;
        }
        self.position += u64::from(layout.granules());
        Found::Message(Message { header, layout, units: &self.copy[..end as usize] })
    }

    /// The header in the copy, and the layout of its message, if there can be such a message.
    fn plausible(&self, units: impl FnOnce(u32) -> Option<u32>) -> Option<(Header, Layout)> {
        let header = Header::decode(*self.copy.first_chunk()?)?;
        let layout = Layout::new(units(header.stream)?, header.mask.count_ones(), self.wide)?;
        (header.wide == self.wide && header.granules == layout.granules()).then_some((header, layout))
    }

    /// Goes on behind a granule that is no message, once all of it is there.
    fn skip_malformed(&mut self, memory: &impl RingMemory, at: Position) -> Found<'static> {
        if !self.copy_units(memory, at, header::UNITS, GRANULE) {
            return Found::Partial;
        }
        self.position += 1;
        Found::Malformed
    }

    /// Copies units `from` to `to` of the message at `at`, and says whether all of them are there. Both are multiples of four, and within a message.
    fn copy_units(&mut self, memory: &impl RingMemory, at: Position, from: u32, to: u32) -> bool {
        let mut differ = 0;
        let copy = self.copy.get_mut(from as usize..to as usize).unwrap_or_default();
        for (quad, copy) in copy.chunks_exact_mut(QUAD as usize).enumerate() {
            let index = from + QUAD * quad as u32;
            // Quads do not cross the ring's end, so the phase of the first unit is that of all.
            let (units, phase) = (memory.load_four(at.unit(index)), at.phase(index));
            differ |= units.iter().fold(0, |differ, unit| differ | (unit ^ phase));
            copy.copy_from_slice(&units);
        }
        differ & PHASE == 0
    }

    /// Goes on behind a granule that will never be whole, and stores what is missing of it, so that the ring's phases are right again. Only for when
    /// no kernel runs, and the granule was reserved: otherwise its wave may still store it.
    pub fn give_up(&mut self, memory: &impl RingMemory) {
        let at = Position::new(self.position as u32, self.ring_log2);
        for quad in (0..GRANULE).step_by(QUAD as usize) {
            let units = memory.load_four(at.unit(quad));
            for (index, unit) in (quad..).zip(units) {
                if !at.is_there(index, unit) {
                    memory.repair(at.unit(index), at.with_phase(index, 0));
                }
            }
        }
        self.position += 1;
    }
}
