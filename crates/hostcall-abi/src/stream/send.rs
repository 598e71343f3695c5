//! The device's half: a group of lanes sends a message.

use super::header::{From, Header, Kind};
use super::layout::Layout;
use super::unit::Position;
use super::{GRANULE, header};
use crate::lanes::Lanes;
use crate::port::Group;

/// What a message does when its ring is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Its wave waits until there is room.
    #[default]
    Block,
    /// It is dropped, and counted.
    Drop,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is in the ring, or on the way there.
    Sent,
    /// There was no room, and its policy is [`Policy::Drop`].
    Dropped,
    /// Nobody reads the ring any more, or nobody ever did.
    Closed,
    /// It is longer than a quarter of the ring.
    TooLarge,
    /// Nobody wants messages of this stream.
    Off,
}

/// What the device counts for a ring. The counters only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Messages dropped for want of room.
    Dropped,
    /// Messages whose policy is to be dropped, and that waited all the same: others had taken the room between the look and the reservation.
    Late,
    /// Messages that waited for room, the late ones included.
    Waited,
}

/// Where the calling wave is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// What goes into the header.
    pub from: From,
    /// Whether waves have 64 lanes.
    pub wide: bool,
}

/// What a ring's reader says to those that send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Credit {
    /// Granules that have been read since the ring was attached, low 32 bits.
    pub freed: u32,
    /// Not 0: nobody reads any more.
    pub closed: u32,
}

/// What the sender needs of its machine besides lanes: one wave's ring.
///
/// Counters and credit are the leader's business; stores are every lane's. Stores are relaxed, and nothing is awaited.
pub trait RingLink: Lanes {
    /// Granules of each ring, as a power of two; `None`: the program is attached to none.
    fn ring_log2(self) -> Option<u32>;
    /// Where the wave is.
    fn place(self) -> Place;
    /// Granules that have been reserved in the wave's ring since it was attached, low 32 bits. Device memory, relaxed.
    fn head(self) -> u32;
    /// Reserves `granules`, and returns what [`RingLink::head`] was. One relaxed read-modify-write of device memory.
    fn reserve(self, granules: u32) -> u32;
    /// What the reader has said, as far as the device knows. Pairs with its store of [`Reader::credit`]: the stores of the message must depend on the
    /// value. It is one load, so that both parts are of one time.
    ///
    /// [`Reader::credit`]: super::Reader::credit
    fn credit(self) -> Credit;
    /// Looks over the bus what the reader has said, unless [`RingLink::credit`] shows that by itself.
    fn learn(self);
    /// Adds one to a counter of the ring's for this stream.
    fn count(self, stream: u32, what: Counter);
    /// Stores one unit of the ring.
    fn store(self, unit: u32, value: u32);
    /// Stores two units, the first of which is at an even place.
    #[inline(always)]
    fn store_two(self, unit: u32, values: [u32; 2]) {
        self.store(unit, values[0]);
        self.store(unit + 1, values[1]);
    }
    /// Stores four units, the first of which is at a multiple of four.
    #[inline(always)]
    fn store_four(self, unit: u32, values: [u32; 4]) {
        self.store_two(unit, [values[0], values[1]]);
        self.store_two(unit + 2, [values[2], values[3]]);
    }
}

/// What a message says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Its stream, 1 to [`header::MAX_STREAM`].
    pub stream: u32,
    /// The place in the source, 0 for none.
    pub site: u32,
    /// What it does when the ring is full.
    pub policy: Policy,
    /// Whether it says when it was sent.
    pub timed: bool,
    /// Values of the stream's type that each lane sends.
    pub values: u32,
}

/// Sends `UNITS` units from each lane of `group`, in one message. Every lane of the group must call, and gets the same answer.
#[inline(always)]
pub fn send<A: RingLink, const UNITS: usize>(arch: A, group: &Group, subject: Subject, units: &[u32; UNITS]) -> Sent {
    let Some(ring_log2) = arch.ring_log2() else { return Sent::Closed };
    let place = arch.place();
    let Some(layout) = Layout::new(UNITS as u32, group.count, place.wide) else { return Sent::TooLarge };
    let granules = layout.granules();
    if granules > 1 << (ring_log2 - 2) {
        return Sent::TooLarge;
    }

    let (mut outcome, mut granule) = (Sent::Sent, 0);
    if group.leads() {
        match reserve(arch, ring_log2, granules, &subject) {
            Ok(first) => granule = first,
            Err(why) => outcome = why,
        }
    }
    let outcome = arch.broadcast(group.mask, outcome as u32, group.leader);
    if outcome != Sent::Sent as u32 {
        return if outcome == Sent::Dropped as u32 { Sent::Dropped } else { Sent::Closed };
    }
    let at = Position::new(arch.broadcast(group.mask, granule, group.leader), ring_log2);

    let header = Header {
        stream: subject.stream,
        granules,
        kind: Kind::Rows,
        mask: group.mask,
        wide: place.wide,
        site: subject.site,
        weight: 0,
        user: 0,
        values: subject.values,
        time: if subject.timed { Some(arch.now_ns()) } else { None },
        from: place.from,
    };
    store_left(arch, group, &layout, at, &header.encode(), units);
    store_columns(arch, group, &layout, at, units);
    Sent::Sent
}

/// Reserves room, and waits for credit if the policy says so. By the leader alone.
#[inline(always)]
fn reserve<A: RingLink>(arch: A, ring_log2: u32, granules: u32, subject: &Subject) -> Result<u32, Sent> {
    let size = 1u32 << ring_log2;
    if subject.policy == Policy::Drop {
        // Less than an eighth is free: others that look at the same time may take that much before this one reserves. (The reader may have got past
        // the head that was seen: what is used is then less than nothing.)
        let full = |freed: u32| arch.head().wrapping_sub(freed) as i32 > (size - granules.max(size / 8)) as i32;
        if full(arch.credit().freed) {
            arch.learn();
            let credit = arch.credit();
            if credit.closed != 0 {
                return Err(Sent::Closed);
            }
            if full(credit.freed) {
                arch.count(subject.stream, Counter::Dropped);
                return Err(Sent::Dropped);
            }
        }
    }
    // Both are under way together; in which order they are made does not matter, because the reader does not get past what is reserved here.
    let credit = arch.credit();
    let first = arch.reserve(granules);
    let used = first.wrapping_add(granules).wrapping_sub(credit.freed);
    if used > size / 2 || credit.closed != 0 {
        return short(arch, first, granules, size, credit, subject);
    }
    Ok(first)
}

/// More than half of the ring is used, or nobody reads it. (Inlined: a call would cost its callers more registers than it has instructions.)
#[inline(always)]
fn short<A: RingLink>(arch: A, first: u32, granules: u32, size: u32, credit: Credit, subject: &Subject) -> Result<u32, Sent> {
    if credit.closed != 0 {
        // What has been reserved is never stored.
        return Err(Sent::Closed);
    }
    // Long before credit is short, so that few ever wait for it.
    arch.learn();
    if first.wrapping_add(granules).wrapping_sub(credit.freed) <= size {
        return Ok(first);
    }
    if subject.policy == Policy::Drop {
        arch.count(subject.stream, Counter::Late);
    }
    arch.count(subject.stream, Counter::Waited);
    let mut attempt = 0;
    loop {
        let credit = arch.credit();
        if first.wrapping_add(granules).wrapping_sub(credit.freed) <= size {
            return Ok(first);
        }
        if credit.closed != 0 {
            return Err(Sent::Closed);
        }
        attempt += 1;
        arch.pause(attempt);
        arch.learn();
    }
}

/// Stores header, displaced bits and padding: quad by quad, the lanes side by side.
#[inline(always)]
fn store_left<A: RingLink, const UNITS: usize>(
    arch: A,
    group: &Group,
    layout: &Layout,
    at: Position,
    header: &[u32; header::UNITS as usize],
    units: &[u32; UNITS],
) {
    // All lanes make all ballots; each then picks what it stores. (Selected, not indexed: registers have no index.)
    let bits = Bits::gather(arch, group, layout, units);
    let unit = |index: u32| {
        let mut unit = bits.unit(layout, index);
        unrolled!(for i in 0..header::UNITS => {
            if i == index {
                unit = header[i as usize];
            }
        });
        at.with_phase(index, unit)
    };
    let (quads, end) = (layout.left() / 4, layout.left());
    let mut quad = group.rank;
    while quad < quads {
        let first = 4 * quad;
        arch.store_four(at.unit(first), [unit(first), unit(first + 1), unit(first + 2), unit(first + 3)]);
        quad += group.count;
    }
    let mut rest = 4 * quads + group.rank;
    while rest < end {
        arch.store(at.unit(rest), unit(rest));
        rest += group.count;
    }
}

/// The top bits of all lanes' units.
struct Bits<const UNITS: usize> {
    ballots: [u64; UNITS],
}

impl<const UNITS: usize> Bits<UNITS> {
    #[inline(always)]
    fn gather<A: RingLink>(arch: A, group: &Group, layout: &Layout, units: &[u32; UNITS]) -> Self {
        let mut ballots = [0; UNITS];
        unrolled!(for k in 0..UNITS as u32 => {
            let top = units[k as usize] >> 31 != 0;
            ballots[k as usize] = if layout.lanes == 1 { u64::from(top) } else { arch.ballot(group.mask, top) };
        });
        Self { ballots }
    }

    /// Unit `index` of the message as far as it has displaced bits, else 0.
    #[inline(always)]
    fn unit(&self, layout: &Layout, index: u32) -> u32 {
        let behind = index.wrapping_sub(header::UNITS);
        let (mut unit, mut gathered) = (0, [0u32; 2]);
        unrolled!(for k in 0..UNITS as u32 => {
            let ballot = self.ballots[k as usize];
            let (low, high) = (ballot as u32, (ballot >> 32) as u32);
            if layout.lanes == 1 {
                gathered[0] |= low << k;
            } else {
                gathered[0] |= (low >> 31) << k;
                gathered[1] |= (high >> 31) << k;
                let ballots = if layout.wide { 2 } else { 1 };
                if behind == ballots * k {
                    unit = low;
                } else if layout.wide && behind == 2 * k + 1 {
                    unit = high;
                }
            }
        });
        let last = layout.bits() - if layout.wide && layout.lanes > 1 { 2 } else { 1 };
        if behind == last {
            unit = gathered[0];
        } else if layout.wide && layout.lanes > 1 && behind == last + 1 {
            unit = gathered[1];
        }
        unit
    }
}

/// Stores the lane's own units.
#[inline(always)]
fn store_columns<A: RingLink, const UNITS: usize>(arch: A, group: &Group, layout: &Layout, at: Position, units: &[u32; UNITS]) {
    let value = |place: u32, index: u32| at.with_phase(place, units.get(index as usize).copied().unwrap_or(0));
    let fours = layout.in_fours();
    unrolled!(for column in 0..UNITS as u32 / 4 => {
        let (first, place) = (4 * column, layout.place(group.rank, 4 * column));
        arch.store_four(
            at.unit(place),
            [value(place, first), value(place + 1, first + 1), value(place + 2, first + 2), value(place + 3, first + 3)],
        );
    });
    if UNITS & 2 != 0 {
        let place = layout.place(group.rank, fours);
        arch.store_two(at.unit(place), [value(place, fours), value(place + 1, fours + 1)]);
    }
    if UNITS & 1 != 0 {
        let place = layout.place(group.rank, UNITS as u32 - 1);
        arch.store(at.unit(place), value(place, UNITS as u32 - 1));
    }
}

const _: () = assert!(GRANULE.is_multiple_of(4), "quads do not cross granules");
