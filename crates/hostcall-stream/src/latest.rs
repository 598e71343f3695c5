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

    /// Hands on every message that is there and was not handed on before, in the order in which their room was reserved.
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
            let dispatch = self.last.dispatch(packet.header.from.launch, &shared.dispatches);
            if let Some(recording) = &mut recording {
                recording.push(ring, self.position, &packet, dispatch);
            }
            self.position += u64::from(packet.header.granules);
            slots.of(packet.header.stream).take(&packet, self.device, dispatch, shared);
        }
    }

    /// Messages that were not handed on before, in their order, and the rows of all of them.
    fn search(&mut self, slots: &Slots<'_>) -> (Vec<Found>, Vec<u32>) {
        let (mut found, mut all) = (Vec::<Found>::new(), Vec::new());
        let Some(view) = self.set.latest(self.ring) else { return (found, all) };
        let mut granule = 0;
        while (granule as usize) < self.handed_on.len() {
            let Some(kept) = self.reader.look(&view, granule, |stream| slots.units(stream)) else {
                granule += 1;
                continue;
            };
            let handed_on = &mut self.handed_on[granule as usize];
            if handed_on.replace(kept.check) != Some(kept.check) {
                let first = all.len();
                all.extend_from_slice(kept.rows);
                found.push(Found { granule, lap: kept.lap, header: kept.header, rows: first..all.len() });
            }
            granule += kept.header.granules;
        }
        // Laps go round: what matters is how far each is from one of them.
        if let Some(some) = found.first().map(|first| first.lap) {
            let lap = |found: &Found| (found.lap.wrapping_sub(some).wrapping_add(LAPS / 2)) % LAPS;
            found.sort_by_key(|found| (lap(found), found.granule));
        }
        (found, all)
    }

    /// Says that what was there has been handed on.
    pub(crate) fn answer(&self) {
        self.set.progress()[self.ring].answer(self.answered);
    }
}
