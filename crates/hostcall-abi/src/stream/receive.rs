//! The host's half: reading a ring.
//!
//! Nothing that a ring holds is believed. A message is copied, then checked, then read from the copy, so that a device
//! that writes on meanwhile changes nothing that has been checked. Work for each message is bounded by its length,
//! which the ring bounds.

use super::bytes;
use super::header::{self, Header, Kind};
use super::layout::Layout;
use super::rows;
use super::take::Shape;
use super::unit::{PHASE, Position, QUAD};
use super::{GRANULE, MAX_UNITS};

/// Units of the longest message of rows.
pub(super) const MAX_MESSAGE: usize = 129 * GRANULE as usize;

const _: () = {
    let Some(largest) = Layout::new(MAX_UNITS, 64, true) else { panic!() };
    assert!(largest.granules() * GRANULE == MAX_MESSAGE as u32);
};

/// A ring's memory.
pub trait RingMemory {
    /// Loads the four units from `unit` on, a multiple of four: each of them whole, in any order. Pairs with the
    /// device's stores.
    fn load_four(&self, unit: u32) -> [u32; 4];
    /// Loads the eight units from `unit` on, a multiple of eight, in the same way.
    #[inline(always)]
    fn load_eight(&self, unit: u32) -> [u32; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (self.load_four(unit), self.load_four(unit + QUAD));
        [a, b, c, d, e, f, g, h]
    }
    /// The same of `count` times eight units, one after another, all inside the ring.
    #[inline(always)]
    fn load_eights(&self, unit: u32, count: u32) -> impl Iterator<Item = [u32; 8]> {
        (0..count).map(move |i| self.load_eight(unit + 8 * i))
    }
    /// Copies the units from `unit` on, a multiple of four, as many as `out` has room for, which are a multiple of four
    /// too and inside the ring. Says whether all of them have the phase.
    #[inline(always)]
    fn copy(&self, unit: u32, phase: u32, out: &mut [u32]) -> bool {
        let mut differ = 0;
        for (quad, out) in (0..).zip(out.chunks_exact_mut(QUAD as usize)) {
            let units = self.load_four(unit + QUAD * quad);
            differ |= units.iter().fold(0, |differ, unit| differ | (unit ^ phase));
            out.copy_from_slice(&units);
        }
        differ & PHASE == 0
    }
    /// Says that the granule from `unit` on will be loaded soon.
    #[inline(always)]
    fn prefetch(&self, unit: u32) {
        let _ = unit;
    }
    /// Stores one unit that the device has not stored: no kernel runs.
    fn repair(&self, unit: u32, value: u32);
}

/// What [`Reader::next`] found.
#[derive(Debug)]
pub enum Found<'a> {
    /// A whole message. The reader stands behind it.
    Packet(Packet<'a>),
    /// A message of bytes begins, of so many granules: [`Reader::next_long`] takes it.
    Long(u32),
    /// Nothing yet.
    Absent,
    /// A part of a message, or of a granule that is none: later looks may find the rest.
    Partial,
    /// A granule with which no message begins, or what began as a message of bytes and is none. The reader stands
    /// behind it.
    Malformed,
}

/// A message that has been copied out of its ring.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its header.
    pub header: Header,
    /// Whether it was found by a search behind a message of unknown length that never became whole. What looks like a
    /// message there may be a part of one.
    pub after_gap: bool,
    layout: Layout,
    units: &'a [u32],
    bytes: Option<u32>,
}

impl<'a> Packet<'a> {
    /// The message with which `units` begin, copies of units that lay in a ring one behind another ([`Packet::raw`]).
    /// Their phases do not matter. `wide` and `after_gap` are as the ring's reader had them, and `value` says how many
    /// units a value of a stream has. `None`: no message begins there, or not all of it is there.
    pub fn of_units(units: &'a [u32], wide: bool, after_gap: bool, value: impl FnOnce(u32) -> Option<u32>) -> Option<Self> {
        let (header, layout) = plausible(units, wide, value)?;
        let units = units.get(..(header.granules * GRANULE) as usize)?;
        let bytes = if header.kind == Kind::Bytes { Some(bytes::length(units)?) } else { None };
        Some(Self { header, after_gap, layout, units, bytes })
    }

    /// Bytes of the message, if it is [of bytes](Kind::Bytes).
    pub const fn bytes(&self) -> Option<u32> {
        self.bytes
    }

    /// Writes the bytes of the message to `out`, which has room for [as many](Packet::bytes).
    #[inline(always)]
    pub fn copy_bytes(&self, out: &mut [u8]) {
        bytes::copy(self.units, out);
    }

    /// All of its units, with the phases that they had in the ring.
    pub const fn raw(&self) -> &'a [u32] {
        self.units
    }

    /// Its header as it came.
    #[inline(always)]
    pub fn raw_header(&self) -> [u32; header::UNITS as usize] {
        self.units.first_chunk().copied().unwrap_or_default()
    }

    /// Lanes that sent it: rows. One, without units, if it is of bytes.
    pub const fn rows(&self) -> u32 {
        self.layout.lanes
    }

    /// Units of each row: those of [`Header::values`] values.
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

    /// Writes all rows to `out`, one behind another, and returns how many units that are.
    ///
    /// # Panics
    /// When `out` is shorter than [`Packet::rows`] times [`Packet::units`].
    #[inline(always)]
    pub fn copy_rows(&self, out: &mut [u32]) -> usize {
        let all = (self.rows() * self.units()) as usize;
        rows::put_copied(self.units, self.layout, self.header.mask, &mut out[..all]);
        all
    }
}

/// The header with which `copy` begins, and the layout of its message, if there can be such a message.
#[inline(always)]
pub(super) fn plausible(copy: &[u32], wide: bool, units: impl FnOnce(u32) -> Option<u32>) -> Option<(Header, Layout)> {
    let header = Header::decode(*copy.first_chunk()?)?;
    if header.kind == Kind::Bytes {
        return is_long(&header, wide, units).then_some((header, Layout { units: 0, lanes: 1, wide })).filter(|_| header.values == 1);
    }
    let units = units(header.stream)?.checked_mul(header.values)?;
    let layout = Layout::new(units, header.mask.count_ones(), wide)?;
    (header.wide == wide && header.granules == layout.granules()).then_some((header, layout))
}

/// Whether a message of bytes can have such a header, by what its first quad and its lanes say.
#[inline(always)]
fn is_long(header: &Header, wide: bool, units: impl FnOnce(u32) -> Option<u32>) -> bool {
    header.kind == Kind::Bytes && header.wide == wide && header.mask.is_power_of_two() && units(header.stream) == Some(0)
}

/// What was given up, see [`Reader::give_up`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// A whole message: it said how long it was. Else it is one granule, of a message whose length nobody knows.
    pub whole: bool,
    /// Whether any unit of it was there.
    pub any: bool,
}

/// Reads one ring, in order.
#[derive(Debug)]
pub struct Reader {
    pub(super) ring_log2: u32,
    pub(super) wide: bool,
    /// Granules read since the ring was attached.
    pub(super) position: u64,
    /// Granules of which the device has been told.
    told: u64,
    /// Where a search for messages ends.
    pub(super) gap_end: u64,
    /// What the last message was made of that was [taken](Reader::take).
    pub(super) shape: Shape,
    pub(super) copy: [u32; MAX_MESSAGE],
}

impl Reader {
    /// A reader of a ring of zeros, of 2^`ring_log2` granules, that waves of 32 lanes write, or (`wide`) of 64.
    ///
    /// # Panics
    /// When rings cannot have that size, see [`super::MIN_RING_LOG2`] and [`super::MAX_RING_LOG2`].
    pub const fn new(ring_log2: u32, wide: bool) -> Self {
        Self::behind(0, ring_log2, wide)
    }

    /// The same for a ring of which `position` granules have been read already: each of its units has the phase of its
    /// last lap.
    ///
    /// # Panics
    /// As [`Reader::new`].
    pub const fn behind(position: u64, ring_log2: u32, wide: bool) -> Self {
        assert!(ring_log2 >= super::MIN_RING_LOG2 && ring_log2 <= super::MAX_RING_LOG2, "a ring of a size that there is not");
        Self { ring_log2, wide, position, told: position, gap_end: position, shape: Shape::NONE, copy: [0; MAX_MESSAGE] }
    }

    /// Granules read since the ring was attached.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Granules that the device may use again, if that is an eighth of the ring more than it has been told, or (`all`)
    /// if it is any more. The caller stores its low 32 bits where the device's
    /// [`RingLink::credit`](super::RingLink::credit) finds them, with release: what was read was read before.
    #[inline(always)]
    pub const fn credit(&mut self, all: bool) -> Option<u64> {
        let news = self.position - self.told;
        if news == 0 || (!all && news < (1 << self.ring_log2) / 8) {
            return None;
        }
        self.told = self.position;
        Some(self.position)
    }

    /// Says that the next message will be looked for soon.
    #[inline(always)]
    pub fn prefetch(&self, memory: &impl RingMemory) {
        memory.prefetch(Position::new(self.position as u32, self.ring_log2).unit(0));
    }

    /// Units of the longest message of bytes that the ring can hold.
    pub const fn longest(&self) -> usize {
        (bytes::most_granules(self.ring_log2) * GRANULE) as usize
    }

    /// Looks for the next message. `units` says how many units a value of a stream has, 0: its messages are of bytes;
    /// `None`: there is no such stream.
    #[inline(always)]
    pub fn next<'a>(&'a mut self, memory: &impl RingMemory, units: impl FnOnce(u32) -> Option<u32>) -> Found<'a> {
        let at = Position::new(self.position as u32, self.ring_log2);
        if !at.is_there(0, memory.load_four(at.unit(0))[0]) {
            return Found::Absent;
        }
        // The smallest message is a granule, so this is within it.
        if !self.copy_units(memory, at, 0, GRANULE) {
            return Found::Partial;
        }
        let Some((header, layout)) = self.plausible(units) else {
            self.position += 1;
            return Found::Malformed;
        };
        if header.kind == Kind::Bytes {
            return Found::Long(header.granules);
        }
        let end = layout.granules() * GRANULE;
        // Most likely the next message is as long.
        (end..2 * end).step_by(GRANULE as usize).for_each(|unit| memory.prefetch(at.unit(unit)));
        // The last units first: while the message is on its way, that is one load instead of all.
        if end > GRANULE && !(self.copy_units(memory, at, end - QUAD, end) && self.copy_units(memory, at, GRANULE, end)) {
            return Found::Partial;
        }
        let after_gap = self.position < self.gap_end;
        self.position += u64::from(layout.granules());
        Found::Packet(Packet { header, after_gap, layout, units: &self.copy[..end as usize], bytes: None })
    }

    /// Looks for the next message, which is of bytes: [`Reader::next`] has said so, and is to be asked again if it
    /// turns out that there is none. It is copied to `copy`, which is to have room for [the longest](Reader::longest):
    /// a message that is longer than it is malformed.
    pub fn next_long<'a>(&mut self, memory: &impl RingMemory, copy: &'a mut [u32], units: impl FnOnce(u32) -> Option<u32>) -> Found<'a> {
        let at = Position::new(self.position as u32, self.ring_log2);
        if !copy_units(memory, at, 0, GRANULE, copy) {
            return Found::Partial;
        }
        let known = plausible(copy, self.wide, units).filter(|(header, _)| self.holds(header));
        let Some((header, layout)) = known.filter(|(header, _)| copy.len() >= (header.granules * GRANULE) as usize) else {
            self.position += 1;
            return Found::Malformed;
        };
        let end = header.granules * GRANULE;
        // As in `next`.
        if end > GRANULE && !(copy_units(memory, at, end - QUAD, end, copy) && copy_units(memory, at, GRANULE, end, copy)) {
            return Found::Partial;
        }
        let units = &copy[..end as usize];
        let bytes = bytes::length(units);
        if bytes.is_none() {
            // What follows may be anything, as behind any other granule that is no message.
            self.position += 1;
            return Found::Malformed;
        }
        let after_gap = self.position < self.gap_end;
        self.position += u64::from(header.granules);
        Found::Packet(Packet { header, after_gap, layout, units, bytes })
    }

    /// Whether the ring can hold the message that has this header.
    const fn holds(&self, header: &Header) -> bool {
        matches!(header.kind, Kind::Rows) || header.granules <= bytes::most_granules(self.ring_log2)
    }

    /// The header in the copy, and the layout of its message, if there can be such a message.
    #[inline(always)]
    fn plausible(&self, units: impl FnOnce(u32) -> Option<u32>) -> Option<(Header, Layout)> {
        plausible(&self.copy, self.wide, units).filter(|(header, _)| self.holds(header))
    }

    /// Granules of the message of which the copy has the first quad, if that says it.
    fn length(&self, units: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let header = Header::decode(*self.copy.first_chunk()?)?;
        if is_long(&header, self.wide, &units) {
            return self.holds(&header).then_some(header.granules);
        }
        self.plausible(units).map(|(_, layout)| layout.granules())
    }

    /// Copies units `from` to `to` of the message at `at`, and says whether all of them are there. Both are multiples
    /// of four, and within a message.
    #[inline(always)]
    pub(super) fn copy_units(&mut self, memory: &impl RingMemory, at: Position, from: u32, to: u32) -> bool {
        copy_units(memory, at, from, to, &mut self.copy)
    }

    /// Goes on behind a message that will never be whole, and stores what is missing of it, so that the ring's phases
    /// are right again. Only for when no kernel runs: otherwise its wave may still store it. `head` is what has been
    /// reserved ([`RingLink::head`](super::RingLink::head)).
    ///
    /// If the message's length is known it is skipped as a whole. Else it is one granule, and messages up to `head` are
    /// those of a search ([`Packet::after_gap`]). Does nothing if everything that was reserved has been read.
    pub fn give_up(&mut self, memory: &impl RingMemory, head: u32, units: impl Fn(u32) -> Option<u32>) -> GivenUp {
        let reserved = head.wrapping_sub(self.position as u32);
        if reserved == 0 {
            return GivenUp::default();
        }
        let at = Position::new(self.position as u32, self.ring_log2);
        // The first quad says how long it is; what is there of the header's second does not matter.
        let length = if self.copy_units(memory, at, 0, QUAD) { self.length(units) } else { None };
        let length = length.filter(|granules| *granules <= reserved);
        let skipped = match length {
            Some(granules) => granules,
            _ => {
                self.gap_end = self.position + u64::from(reserved);
                1
            }
        };
        let mut any = false;
        for quad in (0..skipped * GRANULE).step_by(QUAD as usize) {
            for (index, unit) in (quad..).zip(memory.load_four(at.unit(quad))) {
                if at.is_there(index, unit) {
                    any = true;
                } else {
                    memory.repair(at.unit(index), at.with_phase(index, 0));
                }
            }
        }
        self.position += u64::from(skipped);
        GivenUp { whole: length.is_some(), any }
    }
}

/// Copies units `from` to `to` of the message at `at` to their places in `copy`, and says whether all of them are
/// there, and have places. Both are multiples of four, and within a message.
#[inline(always)]
fn copy_units(memory: &impl RingMemory, at: Position, from: u32, to: u32, copy: &mut [u32]) -> bool {
    let Some(copy) = copy.get_mut(from as usize..to as usize) else { return false };
    // Up to the ring's end, and from its start.
    let before_end = at.units_to_end(from).min(to - from);
    let (first, second) = copy.split_at_mut(before_end as usize);
    let there = memory.copy(at.unit(from), at.phase(from), first);
    let behind = from + before_end;
    there & (second.is_empty() || memory.copy(at.unit(behind), at.phase(behind), second))
}
