//! [`Policy::Latest`](super::Policy::Latest): the flight recorder. Messages never wait, and overwrite the oldest.
//!
//! They lie in an *area* of their own behind each ring, which is written round and round without credit. So the
//! invariant of rings does not hold: the store of a later lap may be issued, and even arrive, before that of an earlier
//! one, and a unit's phase does not say which lap it is of. Instead each lane sends one unit more than its value has,
//! its *check*:
//!
//! | bits | |
//! |---|---|
//! | 0 to 11 | low bits of the lap |
//! | 12 to 31 | a hash of the message's header and the lane's units |
//!
//! The reader looks at every granule of the area. A message counts if all its units have the phase of one lap, all its
//! checks name that lap, and all hashes agree: parts of messages of other laps differ in the phase, the lap or the
//! hash. (Units of two messages that are 4096 laps apart, and have the same header, would remain; so would one garbled
//! row of a million.) A message is known by its place and its first check, so none is read twice.
//!
//! Nothing of it needs the device to be alive: the area is host memory, and what arrived before a fault is read behind
//! it.

use super::GRANULE;
use super::header::{self, Header, Kind};
use super::layout::Layout;
use super::policy::Sent;
use super::receive::{MAX_MESSAGE, RingMemory};
use super::rows;
use super::send::{Bits, Counter, RingLink, Subject, store_columns, store_left, wanted, whole_wave};
use super::unit::{DATA, PHASE, Position, QUAD};
use crate::port::Group;

/// The bits of the lap in a check.
const LAP: u32 = (1 << 12) - 1;

/// Laps that have numbers of their own.
pub const LAPS: u32 = LAP + 1;

/// A lane's check of its units, in a message with this header.
#[inline(always)]
fn check(header: [u32; header::UNITS as usize], units: impl Iterator<Item = u32>, lap: u32) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for unit in header.into_iter().chain(units) {
        // A product spreads upwards only, so its high half is brought down.
        hash = (hash ^ unit).wrapping_mul(0x9e37_79b1);
        hash ^= hash >> 15;
    }
    hash & !LAP | lap & LAP
}

/// Sends `UNITS` units from each lane of `group` into the area of the latest messages; the last of them is room for the
/// check. Every lane of the group must call, and gets the same answer. It waits for nothing.
#[inline(always)]
pub fn send_latest<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    let group = match wanted(arch, group, &mut subject) {
        Ok(group) => group,
        Err(why) => return why,
    };
    match whole_wave(arch, &group) {
        Some(whole) => send_in(arch, &whole, subject, *units),
        None => send_in(arch, &group, subject, *units),
    }
}

/// Sends the units of the first lane of `group`, as [`send_latest`]. Every lane of the group must call, and gets the
/// same answer.
#[inline(always)]
pub fn send_latest_once<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    let group = match wanted(arch, group, &mut subject) {
        Ok(group) => group,
        Err(why) => return why,
    };
    let sent = if group.leads() { send_in(arch, &group.alone(), subject, *units) } else { Sent::Sent };
    // The others wait: they would be ahead of it with the next message.
    Sent::new(arch.broadcast(group.mask, sent as u32, group.leader))
}

#[inline(always)]
fn send_in<A: RingLink, const UNITS: usize>(arch: A, group: &Group, subject: Subject, mut units: [u32; UNITS]) -> Sent {
    const { assert!(UNITS > 1 && UNITS <= super::MAX_UNITS as usize, "a lane's part of a message has 1 to 30 units, and a check") };
    let layout = Layout { units: UNITS as u32, lanes: group.count, wide: arch.is_wide() };
    if arch.ballot(group.mask, arch.credit().closed != 0) != 0 {
        return Sent::Closed;
    }
    let (mut first, mut low, mut high) = (0, 0, 0);
    if group.leads() {
        arch.count(subject.stream, Counter::Sent);
        first = arch.reserve_latest(layout.granules());
        if subject.timed {
            let now = arch.now_ns();
            (low, high) = (now as u32, (now >> 32) as u32);
        }
    }
    let first = arch.broadcast(group.mask, first, group.leader);
    let mut time = None;
    if subject.timed {
        // One time for all of them: their checks are of the same header.
        let [low, high] = [low, high].map(|part| arch.broadcast(group.mask, part, group.leader));
        time = Some(u64::from(high) << 32 | u64::from(low));
    }
    let header = subject.header(arch, layout, group.mask, time);
    units[UNITS - 1] = check(header, units.into_iter().take(UNITS - 1), first >> arch.ring_log2());
    let bits = Bits::gather(arch, group, &units);
    let at = Position::latest(first, arch.ring_log2());
    store_left(arch, group, layout, at, || header, &bits);
    store_columns(arch, group, layout, at, &units);
    Sent::Sent
}

/// A message of the area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept<'a> {
    /// Its header.
    pub header: Header,
    /// Its lap, modulo [`LAPS`].
    pub lap: u32,
    /// The first lane's check: with the granule it tells the message from all others that lay there.
    pub check: u32,
    /// What each lane sent, one behind another, without the checks.
    pub rows: &'a [u32],
}

/// Reads an area.
#[derive(Debug)]
pub struct Latest {
    ring_log2: u32,
    wide: bool,
    copy: [u32; MAX_MESSAGE],
    rows: [u32; 64 * super::MAX_UNITS as usize],
}

impl Latest {
    /// A reader of an area that began as zeros, of 2^`ring_log2` granules, that waves of 32 lanes write, or (`wide`) of
    /// 64.
    pub const fn new(ring_log2: u32, wide: bool) -> Self {
        Self { ring_log2, wide, copy: [0; MAX_MESSAGE], rows: [0; 64 * super::MAX_UNITS as usize] }
    }

    /// The whole message that begins with a granule of the area, if one does. `units` says how many units a value of a
    /// stream has; `None`: there is no such stream. Waves may write on meanwhile.
    pub fn look<'a>(&'a mut self, memory: &impl RingMemory, granule: u32, units: impl FnOnce(u32) -> Option<u32>) -> Option<Kept<'a>> {
        let unit = (granule & ((1 << self.ring_log2) - 1)) * GRANULE;
        // The phase says whether it is of an even lap.
        let odd = u32::from(memory.load_four(unit)[0] & PHASE == 0);
        let at = Position::new((odd << self.ring_log2).wrapping_add(unit / GRANULE), self.ring_log2);
        if !self.copy_units(memory, at, 0, GRANULE) {
            return None;
        }
        let header = Header::decode(*self.copy.first_chunk()?)?;
        let row = units(header.stream)?.checked_mul(header.values)?.checked_add(1)?;
        let layout = Layout::new(row, header.mask.count_ones(), self.wide)?;
        if header.kind != Kind::Rows || header.wide != self.wide || header.granules != layout.granules() {
            return None;
        }
        let end = layout.granules() * GRANULE;
        if end > GRANULE && !self.copy_units(memory, at, GRANULE, end) {
            return None;
        }
        let all = (layout.lanes * layout.units) as usize;
        rows::put_copied(&self.copy[..end as usize], layout, header.mask, &mut self.rows[..all]);
        let raw = self.copy.first_chunk::<{ header::UNITS as usize }>()?.map(|unit| unit & DATA);
        let row = row as usize;
        let first = self.rows[row - 1];
        let lap = first & LAP;
        let right = |row: &[u32]| row.split_last().is_some_and(|(said, units)| *said == check(raw, units.iter().copied(), lap));
        if lap & 1 != odd || !self.rows[..all].chunks_exact(row).all(right) {
            return None;
        }
        // Closed up over the checks.
        for rank in 1..layout.lanes as usize {
            self.rows.copy_within(rank * row..(rank + 1) * row - 1, rank * (row - 1));
        }
        Some(Kept { header, lap, check: first, rows: &self.rows[..layout.lanes as usize * (row - 1)] })
    }

    /// Copies units `from` to `to` of the message at `at`, and says whether all have the phase of one lap.
    fn copy_units(&mut self, memory: &impl RingMemory, at: Position, from: u32, to: u32) -> bool {
        let Some(copy) = self.copy.get_mut(from as usize..to as usize) else { return false };
        let before_end = at.units_to_end(from).min(to - from);
        let (first, second) = copy.split_at_mut(before_end as usize);
        debug_assert!(before_end.is_multiple_of(QUAD));
        let there = memory.copy(at.unit(from), at.phase(from), first);
        let behind = from + before_end;
        there && (second.is_empty() || memory.copy(at.unit(behind), at.phase(behind), second))
    }
}
