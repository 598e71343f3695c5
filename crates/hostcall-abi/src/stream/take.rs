//! The short way of a message: its rows go to where they are to be kept, those of whole waves straight from the ring.
//!
//! Each unit is loaded once. Rows are written while the phases of the units are looked at; what turns out not to be
//! whole is not counted, and written over by what comes next. What a message is made of is worked out anew only if its
//! header differs from that of the message before.

use super::header::{self, Header, Kind};
use super::receive::{Reader, RingMemory, plausible};
use super::rows::{self, Columns, Left, MAX_LEFT};
use super::unit::{DATA, PHASE, Position, QUAD};
use super::{GRANULE, Layout};

/// Where rows go.
pub trait Rows {
    /// Units of a value of a stream, 0: its messages are of bytes; `None`: there is no such stream.
    fn units(&self, stream: u32) -> Option<u32>;
    /// Room for so many units of rows of a message of a stream that there is. Nothing is said of what is written there
    /// before [`Reader::take`] returns it.
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32];
}

/// A message whose rows are where they are to be kept.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Its header as it came, see [`Header::decode`]. It can be decoded.
    pub header: [u32; header::UNITS as usize],
    /// Its stream.
    pub stream: u32,
    /// Values of all lanes.
    pub values: u32,
    /// Units of all rows.
    pub units: u32,
    /// See [`Packet::after_gap`](super::Packet::after_gap).
    pub after_gap: bool,
}

/// What messages are made of whose headers are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// What their headers have in common: the bits of [`Reader::alike`].
    key: [u32; header::UNITS as usize],
    stream: u32,
    values: u32,
    mask: u64,
    layout: Layout,
    granules: u32,
    /// A whole wave, or a lane alone with a message of one granule.
    common: bool,
}

impl Shape {
    /// That of no message: no unit without its phase is the first of this key.
    pub(super) const NONE: Self = Self {
        key: [PHASE; header::UNITS as usize],
        stream: 0,
        values: 0,
        mask: 0,
        layout: Layout { units: 0, lanes: 0, wide: false },
        granules: 0,
        common: false,
    };
}

/// The columns of a message that lies in its ring.
struct InRing<'a, M> {
    memory: &'a M,
    first: u32,
}

impl<M: RingMemory> Columns for InRing<'_, M> {
    #[inline(always)]
    fn eights(&self, at: u32, count: u32) -> impl Iterator<Item = [u32; 8]> {
        self.memory.load_eights(self.first + 8 * at, count)
    }
}

impl Reader {
    /// The bits of headers that say what a message is made of: its stream, length, kind, flags, lanes, and how many
    /// values each has.
    #[inline(always)]
    const fn alike(&self) -> [u32; header::UNITS as usize] {
        [u32::MAX, DATA, 1 << 16, if self.wide { DATA } else { 0 }, 0, 31 << 26, 0, 0]
    }

    /// Takes the next message if it is there. `None`: [`Reader::next`] finds out what else there is.
    #[inline(always)]
    pub fn take(&mut self, memory: &impl RingMemory, to: &mut impl Rows) -> Option<Taken> {
        let at = Position::new(self.position as u32, self.ring_log2);
        let (unit, phase) = (at.unit(0), at.phase(0));
        let first = granule(memory, unit, phase)?;
        let alike = self.alike();
        let mut differ = 0;
        for i in 0..header::UNITS as usize {
            differ |= (first[i] ^ self.shape.key[i]) & alike[i];
        }
        if differ != 0 {
            self.shape = self.shape_of(&first, to)?;
        }
        let Shape { stream, values, mask, layout, granules, common, .. } = self.shape;
        let length = granules * GRANULE;
        // Most likely later messages are as long. Shorter ones follow one another faster than memory answers.
        let ahead = length.max(8 * GRANULE);
        (0..granules).for_each(|granule| memory.prefetch(at.unit(ahead + granule * GRANULE)));
        let units = layout.lanes * layout.units;
        if layout.lanes == 1 && common {
            let row = &first[(GRANULE - units) as usize..];
            rows::put_lone(row, first[header::UNITS as usize], to.room(stream, units as usize));
        } else {
            // The last units first: while the message is on its way, that is one load instead of all.
            let last = memory.load_four(at.unit(length - QUAD));
            if !at.is_there(length - QUAD, last[3]) {
                return None;
            }
            if common && length <= at.units_to_end(0) {
                let mut left = [0; MAX_LEFT];
                left[..GRANULE as usize].copy_from_slice(&first);
                let before = layout.left();
                for (more, left) in (1..).zip(left[GRANULE as usize..before as usize].chunks_exact_mut(GRANULE as usize)) {
                    left.copy_from_slice(&granule(memory, unit + more * GRANULE, phase)?);
                }
                let left = Left { units: &left, row: layout.units, wide: layout.wide };
                let differ = rows::put_wave(left, phase, InRing { memory, first: unit + before }, to.room(stream, units as usize));
                if differ.iter().fold(0, |all, one| all | one) & PHASE != 0 {
                    return None;
                }
            } else {
                self.copy[..GRANULE as usize].copy_from_slice(&first);
                if !self.copy_units(memory, at, GRANULE, length) {
                    return None;
                }
                rows::put_copied(&self.copy[..length as usize], layout, mask, to.room(stream, units as usize));
            }
        }
        let after_gap = self.position < self.gap_end;
        self.position += u64::from(granules);
        let mut header = [0; header::UNITS as usize];
        header.copy_from_slice(&first[..header::UNITS as usize]);
        Some(Taken { header, stream, values, units, after_gap })
    }

    /// What a message that begins with `first` is made of, if one can.
    #[inline(always)]
    fn shape_of(&self, first: &[u32; GRANULE as usize], to: &impl Rows) -> Option<Shape> {
        // Messages of bytes go the long way.
        let (Header { stream, mask, values, kind: Kind::Rows, .. }, layout) = plausible(first, self.wide, |stream| to.units(stream))?
        else {
            return None;
        };
        let granules = layout.granules();
        let all = if self.wide { u64::MAX } else { u64::from(u32::MAX) };
        let common = mask == all || (layout.lanes == 1 && granules == 1);
        let (mut key, alike) = ([0; header::UNITS as usize], self.alike());
        for i in 0..key.len() {
            key[i] = first[i] & alike[i];
        }
        Some(Shape { key, stream, values: layout.lanes * values, mask, layout, granules, common })
    }
}

/// The granule from `unit` on, without phases, if all of it has the phase.
#[inline(always)]
fn granule(memory: &impl RingMemory, unit: u32, phase: u32) -> Option<[u32; GRANULE as usize]> {
    let (low, high) = (memory.load_eight(unit), memory.load_eight(unit + 8));
    let mut granule = [0; GRANULE as usize];
    let mut differ = 0;
    for i in 0..8 {
        granule[i] = low[i] ^ phase;
        granule[i + 8] = high[i] ^ phase;
        differ |= granule[i] | granule[i + 8];
    }
    (differ & PHASE == 0).then_some(granule)
}
