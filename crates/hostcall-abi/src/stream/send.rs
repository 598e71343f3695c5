//! The device's half: a group of lanes sends a message.

use super::bounds::{Bounds, Place};
use super::gate::{self, Gate};
use super::header::{From, Header, Kind};
use super::layout::Layout;
use super::policy::{Policy, Sent};
use super::room::reserve;
use super::unit::{DATA, Position, QUAD};
use super::{GRANULE, MAX_UNITS, header};
use crate::lanes::Lanes;
use crate::port::Group;

/// What the device counts for a ring. The counters only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Messages dropped for want of room.
    Dropped,
    /// Messages that waited for room. If their policy is to be dropped, others had taken the room between the look and
    /// the reservation.
    Waited,
    /// Messages of which no lane was wanted.
    Filtered,
    /// Messages of [`Policy::Latest`] that were sent.
    Sent,
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
    /// Granules of each ring, as a power of two.
    fn ring_log2(self) -> u32;
    /// Whether waves have 64 lanes.
    fn is_wide(self) -> bool;
    /// Where the wave is.
    fn from(self) -> From;
    /// Granules that have been reserved in the wave's ring since it was attached, low 32 bits. Device memory, relaxed.
    fn head(self) -> u32;
    /// Reserves `granules`, and returns what [`RingLink::head`] was. One relaxed read-modify-write of device memory.
    fn reserve(self, granules: u32) -> u32;
    /// The same in the area of the latest messages, whose head is
    /// [`RingState::latest`](super::rings::RingState::latest).
    fn reserve_latest(self, granules: u32) -> u32;
    /// What the reader has said, as far as the device knows. Pairs with its store of [`Reader::credit`]: the stores of
    /// the message must depend on the value. It is one load, so that both parts are of one time.
    ///
    /// [`Reader::credit`]: super::Reader::credit
    fn credit(self) -> Credit;
    /// Looks over the bus what the reader has said, unless [`RingLink::credit`] shows that by itself.
    fn learn(self);
    /// Waits for room for the `attempt`-th time in a row: backs off.
    #[inline(always)]
    fn pause_for_room(self, attempt: u32) {
        self.pause(attempt);
    }
    /// What the host wants of the stream now. The look may be stale.
    fn gate(self, stream: u32) -> Gate;
    /// From where the host wants messages of the stream, which is asked if its gate is [bounded](Gate::bounded). The
    /// look may be stale.
    fn bounds(self, stream: u32) -> Bounds;
    /// Where the lane is.
    fn place(self) -> Place;
    /// A number to choose by, which differs from one message to the next.
    fn dice(self) -> u32;
    /// Adds one to a counter of the ring's for this stream.
    fn count(self, stream: u32, what: Counter);
    /// These values, worked out where this is called, not where they are used.
    #[inline(always)]
    fn settled(self, values: [u32; 4]) -> [u32; 4] {
        values
    }
    /// Stores one unit of the ring, or of its area if it is marked with [`LATEST`](super::unit::LATEST).
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
    /// Whether its stream's [`Gate`] is asked.
    pub live: bool,
    /// For how many messages it stands: 2 to this power.
    pub weight: u32,
}

/// Sends `UNITS` units from each lane of `group`, in one message. Every lane of the group must call, and gets the same
/// answer.
#[inline(always)]
pub fn send<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    let group = match wanted(arch, group, &mut subject) {
        Ok(group) => group,
        Err(why) => return why,
    };
    match whole_wave(arch, &group) {
        // With lanes that are known the layout is constant, and collectives cost an instruction each.
        Some(whole) => send_in::<_, UNITS, true>(arch, &whole, subject, units),
        None => send_apart(arch, group.mask, subject, *units),
    }
}

/// The lanes of `group` whose message is wanted: all of them, unless the stream's [`Gate`] is asked. For a lane whose
/// is not, what to tell it. Who sends for the former says that its subject is not `live`: the gate was asked.
#[inline(always)]
pub fn wanted<A: RingLink>(arch: A, group: &Group, subject: &mut Subject) -> Result<Group, Sent> {
    if !subject.live {
        return Ok(*group);
    }
    let (group, weight) = gate::admit(arch, group, subject)?;
    subject.weight = weight;
    Ok(group)
}

/// The group of all lanes of a wave, if `group` is that, in constants.
#[inline(always)]
pub(super) fn whole_wave<A: RingLink>(arch: A, group: &Group) -> Option<Group> {
    let (mask, count) = if arch.is_wide() { (u64::MAX, 64) } else { (u64::from(u32::MAX), 32) };
    (group.mask == mask).then(|| Group { mask, count, rank: arch.lane(), leader: 0 })
}

/// [`send`] of a part of a wave. (Inlined: as a function that is called it cost kernels 19 registers more, and a
/// stack.)
#[inline(always)]
fn send_apart<A: RingLink, const UNITS: usize>(arch: A, mask: u64, subject: Subject, units: [u32; UNITS]) -> Sent {
    let group = Group::new(mask, arch.lane());
    if UNITS <= ONCE_UNITS && group.count == 1 {
        return send_alone(arch, &group, subject, &units);
    }
    send_in::<_, UNITS, false>(arch, &group, subject, &units)
}

/// [`send`] of a lane alone whose message is one granule: where everything lies in it is known before it runs, and is
/// worked out while room is reserved.
#[inline(always)]
fn send_alone<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    let layout = Layout { units: UNITS as u32, lanes: 1, wide: arch.is_wide() };
    let (reserved, quads) = reserve(arch, group, layout.granules(), &mut subject, |subject| {
        let quads = granule(layout, &subject.header(arch, layout, group.mask, time(arch, subject.timed)), units);
        quads.map(|quad| arch.settled(quad))
    });
    let at = match reserved {
        Ok(at) => at,
        Err(why) => return why,
    };
    unrolled!(for quad in 0..GRANULE / QUAD => {
        let phase = at.phase(QUAD * quad);
        arch.store_four(at.unit(QUAD * quad), quads[quad as usize].map(|unit| unit & DATA | phase));
    });
    Sent::Sent
}

/// The quads of a message of one lane that is one granule, without phases: header, displaced bits, padding, the last
/// unit of an odd number, the last pair, then fours.
#[inline(always)]
fn granule<const UNITS: usize>(layout: Layout, header: &[u32; header::UNITS as usize], units: &[u32; UNITS]) -> [[u32; 4]; QUADS] {
    let unit = |index: u32| {
        if index < header::UNITS {
            return header[index as usize];
        }
        let mut unit = 0;
        unrolled!(for k in 0..UNITS as u32 => {
            if index == header::UNITS {
                unit |= (units[k as usize] >> 31) << k;
            } else if index == layout.place(0, k) {
                unit = units[k as usize];
            }
        });
        unit
    };
    let mut quads = [[0; QUAD as usize]; QUADS];
    unrolled!(for k in 0..GRANULE / QUAD => {
        quads[k as usize] = [unit(4 * k), unit(4 * k + 1), unit(4 * k + 2), unit(4 * k + 3)];
    });
    quads
}

/// `WHOLE`: all lanes of a wave.
#[inline(always)]
fn send_in<A: RingLink, const UNITS: usize, const WHOLE: bool>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    const { assert!(UNITS > 0 && UNITS <= MAX_UNITS as usize, "a lane's part of a message has 1 to 31 units") };
    let layout = Layout { units: UNITS as u32, lanes: group.count, wide: arch.is_wide() };
    let quads = layout.left() / QUAD;
    // While room is reserved: what does not depend on it. All lanes make all ballots; each then picks what it stores.
    let (reserved, (time, bits, own)) = reserve(arch, group, layout.granules(), &mut subject, |subject| {
        let (time, bits) = (time(arch, subject.timed), Bits::gather(arch, group, units));
        // Mostly there is a lane for each quad, which works it out before the answer is there.
        let own = quad(layout, group.rank, || subject.header(arch, layout, group.mask, time), &bits);
        (time, bits, arch.settled(own))
    });
    let at = match reserved {
        Ok(at) => at,
        Err(why) => return why,
    };
    if WHOLE || group.count >= quads {
        store_quad(arch, group, layout, at, own);
    } else {
        store_quads(arch, group, layout, at, || subject.header(arch, layout, group.mask, time), &bits);
    }
    store_rest(arch, group, layout, at, &bits);
    store_columns(arch, group, layout, at, units);
    Sent::Sent
}

/// Units of the largest value of one lane whose message is one granule.
const ONCE_UNITS: usize = (GRANULE - header::UNITS - 1) as usize;
/// Quads of a granule.
const QUADS: usize = (GRANULE / QUAD) as usize;

/// Sends the units of the first lane of `group`, in a message of that lane alone, which all lanes store together if it
/// is short. Every lane of the group must call, and gets the same answer.
#[inline(always)]
pub fn send_once<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    let group = match wanted(arch, group, &mut subject) {
        Ok(group) => group,
        Err(why) => return why,
    };
    match whole_wave(arch, &group) {
        Some(whole) => once_in(arch, &whole, subject, units),
        None => once_apart(arch, group.mask, subject, *units),
    }
}

/// [`send_once`] of a part of a wave, as [`send_apart`].
#[inline(always)]
fn once_apart<A: RingLink, const UNITS: usize>(arch: A, mask: u64, subject: Subject, units: [u32; UNITS]) -> Sent {
    let group = Group::new(mask, arch.lane());
    if UNITS <= ONCE_UNITS && group.count == 1 {
        return send_alone(arch, &group, subject, &units);
    }
    once_in(arch, &group, subject, &units)
}

#[inline(always)]
fn once_in<A: RingLink, const UNITS: usize>(arch: A, group: &Group, mut subject: Subject, units: &[u32; UNITS]) -> Sent {
    if UNITS > ONCE_UNITS {
        let sent = if group.leads() { send_in::<_, UNITS, false>(arch, &group.alone(), subject, units) } else { Sent::Sent };
        // The others wait: they would be ahead of it with the next message.
        return Sent::new(arch.broadcast(group.mask, sent as u32, group.leader));
    }
    let layout = Layout { units: UNITS as u32, lanes: 1, wide: arch.is_wide() };
    let (reserved, (time, units)) = reserve(arch, group, layout.granules(), &mut subject, |subject| {
        let mut all = [0; UNITS];
        unrolled!(for k in 0..UNITS as u32 => {
            all[k as usize] = arch.broadcast(group.mask, units[k as usize], group.leader);
        });
        (time(arch, subject.timed), all)
    });
    let at = match reserved {
        Ok(at) => at,
        Err(why) => return why,
    };
    let quads = granule(layout, &subject.header(arch, layout, 1 << group.leader, time), &units);
    let mut quad = group.rank;
    while quad < GRANULE / QUAD {
        let mut four = [0; QUAD as usize];
        unrolled!(for k in 0..GRANULE / QUAD => {
            if k == quad {
                four = quads[k as usize];
            }
        });
        let phase = at.phase(QUAD * quad);
        arch.store_four(at.unit(QUAD * quad), four.map(|unit| unit & DATA | phase));
        quad += group.count;
    }
    Sent::Sent
}

#[inline(always)]
pub(super) fn time(arch: impl RingLink, timed: bool) -> Option<u64> {
    if timed { Some(arch.now_ns()) } else { None }
}

impl Subject {
    #[inline(always)]
    pub(super) fn header(&self, arch: impl RingLink, layout: Layout, mask: u64, time: Option<u64>) -> [u32; header::UNITS as usize] {
        let Self { stream, site, values, weight, .. } = *self;
        let (granules, kind, wide, from) = (layout.granules(), Kind::Rows, layout.wide, arch.from());
        Header { stream, granules, kind, mask, wide, site, weight, user: 0, values, time, from }.encode()
    }
}

/// Quad `quad` of header, displaced bits and padding, without phases.
#[inline(always)]
fn quad<const UNITS: usize>(
    layout: Layout,
    quad: u32,
    header: impl Fn() -> [u32; header::UNITS as usize],
    bits: &Bits<UNITS>,
) -> [u32; QUAD as usize] {
    // Selected, not indexed: registers have no index.
    match quad {
        0 => {
            let [a, b, c, d, ..] = header();
            [a, b, c, d]
        }
        1 => {
            let [.., a, b, c, d] = header();
            [a, b, c, d]
        }
        _ => bits.quad(layout, quad - header::UNITS / QUAD),
    }
}

/// Stores the lane's own quad, of a group that has a lane for each.
#[inline(always)]
fn store_quad<A: RingLink>(arch: A, group: &Group, layout: Layout, at: Position, four: [u32; QUAD as usize]) {
    if group.rank < layout.left() / QUAD {
        let phase = at.phase(QUAD * group.rank);
        arch.store_four(at.unit(QUAD * group.rank), four.map(|unit| unit & DATA | phase));
    }
}

/// Stores header, displaced bits and padding: quad by quad, the lanes side by side.
#[inline(always)]
fn store_quads<A: RingLink, const UNITS: usize>(
    arch: A,
    group: &Group,
    layout: Layout,
    at: Position,
    header: impl Fn() -> [u32; header::UNITS as usize],
    bits: &Bits<UNITS>,
) {
    let quads = layout.left() / QUAD;
    let mut index = group.rank;
    while index < quads {
        let phase = at.phase(QUAD * index);
        arch.store_four(at.unit(QUAD * index), quad(layout, index, &header, bits).map(|unit| unit & DATA | phase));
        index += group.count;
    }
}

/// Stores everything that stands before the columns.
#[inline(always)]
pub(super) fn store_left<A: RingLink, const UNITS: usize>(
    arch: A,
    group: &Group,
    layout: Layout,
    at: Position,
    header: impl Fn() -> [u32; header::UNITS as usize],
    bits: &Bits<UNITS>,
) {
    store_quads(arch, group, layout, at, header, bits);
    store_rest(arch, group, layout, at, bits);
}

/// Stores what is left of them where columns begin within a quad.
#[inline(always)]
fn store_rest<A: RingLink, const UNITS: usize>(arch: A, group: &Group, layout: Layout, at: Position, bits: &Bits<UNITS>) {
    if UNITS.is_multiple_of(QUAD as usize) {
        // Columns of whole quads: no unit is left.
        return;
    }
    let (quads, end) = (layout.left() / QUAD, layout.left());
    let mut rest = QUAD * quads + group.rank;
    while rest < end {
        let [a, b, c, _] = bits.quad(layout, quads - header::UNITS / QUAD);
        let unit = match rest - QUAD * quads {
            0 => a,
            1 => b,
            _ => c,
        };
        arch.store(at.unit(rest), at.with_phase(rest, unit));
        rest += group.count;
    }
}

/// The top bits of all lanes' units.
pub(super) struct Bits<const UNITS: usize> {
    ballots: [u64; UNITS],
}

impl<const UNITS: usize> Bits<UNITS> {
    #[inline(always)]
    pub(super) fn gather<A: RingLink>(arch: A, group: &Group, units: &[u32; UNITS]) -> Self {
        let mut ballots = [0; UNITS];
        unrolled!(for k in 0..UNITS as u32 => {
            ballots[k as usize] = arch.ballot(group.mask, units[k as usize] >> 31 != 0);
        });
        Self { ballots }
    }

    /// A bit for each ballot: `of` says which.
    #[inline(always)]
    fn each(&self, of: impl Fn(u64) -> bool) -> u32 {
        let mut bits = 0;
        unrolled!(for k in 0..UNITS as u32 => {
            bits |= u32::from(of(self.ballots[k as usize])) << k;
        });
        bits
    }

    /// Quad `quad` behind the header: displaced bits, then zeros.
    #[inline(always)]
    fn quad(&self, layout: Layout, quad: u32) -> [u32; QUAD as usize] {
        if layout.lanes == 1 {
            // A lane alone: its bits are all that a ballot has.
            return if quad == 0 { [self.each(|ballot| ballot != 0), 0, 0, 0] } else { [0; 4] };
        }
        // Unit `index` of them: a ballot, or what the ballots' own phases displace. With constant indices nothing else
        // of it remains.
        let unit = |index: u32| {
            let (of, half) = if layout.wide { (index / 2, index % 2) } else { (index, 0) };
            match self.ballots.get(of as usize) {
                Some(ballot) => (ballot >> (32 * half)) as u32,
                None if of == UNITS as u32 => self.each(|ballot| ballot >> (32 * half + 31) & 1 != 0),
                None => 0,
            }
        };
        let mut four = [0; 4];
        unrolled!(for k in 0..(UNITS as u32 + 1).div_ceil(if layout.wide { 2 } else { 4 }) => {
            if k == quad {
                four = [unit(4 * k), unit(4 * k + 1), unit(4 * k + 2), unit(4 * k + 3)];
            }
        });
        four
    }
}

/// Stores the lane's own units.
#[inline(always)]
pub(super) fn store_columns<A: RingLink, const UNITS: usize>(arch: A, group: &Group, layout: Layout, at: Position, units: &[u32; UNITS]) {
    let fours = layout.in_fours();
    // The units of a column lie in one quad, and so have one phase.
    let value = |phase: u32, index: u32| units.get(index as usize).copied().unwrap_or(0) & DATA | phase;
    unrolled!(for column in 0..UNITS as u32 / QUAD => {
        let (first, place) = (QUAD * column, layout.place(group.rank, QUAD * column));
        let phase = at.phase(place);
        arch.store_four(at.unit(place), [value(phase, first), value(phase, first + 1), value(phase, first + 2), value(phase, first + 3)]);
    });
    if UNITS & 2 != 0 {
        let place = layout.place(group.rank, fours);
        let phase = at.phase(place);
        arch.store_two(at.unit(place), [value(phase, fours), value(phase, fours + 1)]);
    }
    if UNITS & 1 != 0 {
        let (index, place) = (UNITS as u32 - 1, layout.place(group.rank, UNITS as u32 - 1));
        arch.store(at.unit(place), value(at.phase(place), index));
    }
}

const _: () = assert!(GRANULE.is_multiple_of(QUAD), "quads do not cross granules");
