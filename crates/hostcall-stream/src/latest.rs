//! The area of the latest messages of one ring, as its thread has it.

use std::sync::Arc;

use hostcall_abi::stream::latest::LAPS;
use hostcall_abi::stream::{GRANULE, Header, Latest, Layout, Packet, Rows, encode};

use crate::consumer::{Shared, Slots};
use crate::dispatch::Last;
use crate::file::Turn;
use crate::memory::RingSet;

/// One area.
pub(crate) struct Area {
    set: Arc<RingSet>,
    ring: usize,
    /// Number of its device.
    device: u32,
    last: Last,
    reader: Box<Latest>,
    /// Of each granule, the check of the message handed on last that began there.
    handed_on: Box<[Option<u32>]>,
    /// Granules of the messages that have been handed on: their places in a recording.
    position: u64,
    /// The last recall that was answered.
    answered: u64,
}

/// A message that is to be handed on: its place and lap, its header, and where its rows are.
struct Found {
    granule: u32,
    lap: u32,
    header: Header,
    rows: std::ops::Range<usize>,
}

impl Found {
    /// Where it is in the order of messages. Laps go round: what matters is how far each is from one of them.
    fn place(&self, some: u32) -> (u32, u32) {
        (self.lap.wrapping_sub(some).wrapping_add(LAPS / 2) % LAPS, self.granule)
    }
}

/// Looks at an area for one recall, however much a device writes meanwhile.
const LOOKS: u32 = 16;

impl Area {
    /// `None`: the rings have no areas.
    pub(crate) fn new(set: &Arc<RingSet>, ring: usize) -> Option<Self> {
        set.latest(ring)?;
        let ring_log2 = set.sizes().ring_log2;
        Some(Self {
            ring,
            device: set.device().info().ordinal,
            last: Last::of(set.source()),
            reader: Box::new(Latest::new(ring_log2, set.is_wide())),
            handed_on: vec![None; 1 << ring_log2].into(),
            position: 0,
            answered: 0,
            set: set.clone(),
        })
    }

    /// Whether somebody wants what is there.
    pub(crate) fn is_wanted(&self) -> bool {
        self.set.recalls() > self.answered
    }

    /// Hands on every message that is there and was not handed on before, in the order in which their room was
    /// reserved.
    pub(crate) fn read(&mut self, shared: &Shared, slots: &mut Slots<'_>, mut recording: Option<&mut Turn<'_>>) {
        // Before the look: who asks meanwhile is answered by the next one.
        self.answered = self.set.recalls();
        let ring = (self.set.first_ring() as usize + self.set.sizes().rings() + self.ring) as u32;
        let (found, rows) = self.search(slots);
        let mut units = Vec::new();
        for Found { header, rows: range, .. } in found {
            // As an ordinary message: what comes behind knows no other.
            let lanes = header.mask.count_ones();
            let Some(layout) = Layout::new((range.len() as u32).checked_div(lanes).unwrap_or(0), lanes, header.wide) else { continue };
            units.resize((layout.granules() * GRANULE) as usize, 0);
            let Some(length) = encode(header, &rows[range], &mut units) else { continue };
            let Some(packet) = Packet::of_units(&units[..length], header.wide, false, |stream| slots.units(stream)) else { continue };
            let dispatch = self.last.dispatch(packet.header.from.launch, packet.header.site, &shared.dispatches, &shared.sites);
            if let Some(recording) = &mut recording {
                recording.push(ring, self.position, &packet, dispatch);
            }
            self.position += u64::from(packet.header.granules);
            slots.of(packet.header.stream).take(&packet, self.device, dispatch, shared);
        }
    }

    /// Messages that were not handed on before, in their order, and the rows of all of them.
    ///
    /// A wave may write several messages while a look goes on, of which the look passes the first ones' places too
    /// early and still sees the last one. So what is older than the newest of the first look is looked for again, until
    /// nothing new is there. What is newer is left to the next recall.
    fn search(&mut self, slots: &Slots<'_>) -> (Vec<Found>, Vec<u32>) {
        let (mut found, mut all) = (Vec::<Found>::new(), Vec::new());
        let mut newest = None;
        for _ in 0..LOOKS {
            let before = found.len();
            self.look(slots, newest, &mut found, &mut all);
            if found.len() == before {
                break;
            }
            newest = newest.or_else(|| found.iter().map(|one| one.place(found[0].lap)).max().map(|place| (found[0].lap, place)));
        }
        if let Some(some) = found.first().map(|first| first.lap) {
            found.sort_by_key(|one| one.place(some));
        }
        (found, all)
    }

    /// One look at the whole area; only for what is older than `newest`, a place beside a lap, if that is known.
    fn look(&mut self, slots: &Slots<'_>, newest: Option<(u32, (u32, u32))>, found: &mut Vec<Found>, all: &mut Vec<u32>) {
        let Some(view) = self.set.latest(self.ring) else { return };
        let mut granule = 0;
        while (granule as usize) < self.handed_on.len() {
            let Some(kept) = self.reader.look(&view, granule, |stream| slots.units(stream)) else {
                granule += 1;
                continue;
            };
            let handed_on = &mut self.handed_on[granule as usize];
            let one = Found { granule, lap: kept.lap, header: kept.header, rows: all.len()..all.len() + kept.rows.len() };
            if *handed_on != Some(kept.check) && newest.is_none_or(|(some, newest)| one.place(some) < newest) {
                *handed_on = Some(kept.check);
                all.extend_from_slice(kept.rows);
                found.push(one);
            }
            granule += kept.header.granules;
        }
    }

    /// Says that what was there has been handed on.
    pub(crate) fn answer(&self) {
        self.set.progress()[self.ring].answer(self.answered);
    }
}
