//! A device that keeps no rule.

use std::cell::RefCell;

use hostcall_abi::stream::unit::PHASE;
use hostcall_abi::stream::{Found, GRANULE, Header, Kind, Layout, MAX_UNITS, MIN_RING_LOG2, Reader, RingMemory, Rows};
use proptest::prelude::*;

/// A ring that changes under the reader's eyes: each load may see something else.
#[derive(Debug)]
struct Unsteady {
    units: Vec<u32>,
    changes: RefCell<Vec<(usize, u32)>>,
    loads: RefCell<usize>,
}

impl RingMemory for Unsteady {
    fn load_four(&self, unit: u32) -> [u32; 4] {
        *self.loads.borrow_mut() += 1;
        let mut four: [u32; 4] = self.units[unit as usize..][..4].try_into().expect("inside the ring");
        if let Some((at, value)) = self.changes.borrow_mut().pop() {
            four[at % 4] = value;
        }
        four
    }
    fn repair(&self, unit: u32, _: u32) {
        assert!((unit as usize) < self.units.len());
    }
}

/// Room for rows: as long as the rows of the longest message.
struct Room(Vec<u32>);

impl Rows for Room {
    fn units(&self, stream: u32) -> Option<u32> {
        (stream <= MAX_UNITS).then_some(stream)
    }
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32] {
        assert!((1..=MAX_UNITS).contains(&stream));
        &mut self.0[..units]
    }
}

const UNITS: usize = 1 << (MIN_RING_LOG2 + 4);

/// A ring of random units, some of which look like headers.
fn memory() -> impl Strategy<Value = Unsteady> {
    let header =
        (any::<[u32; 8]>(), 1..4u32, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(|(mut units, stream, mask, wide, right)| {
            let mask = if wide { mask } else { mask & u64::from(u32::MAX) } | 1;
            let granules = Layout::new(stream, mask.count_ones(), wide).map_or(1, |layout| layout.granules()) + u32::from(!right);
            let template = Header::decode([1 | 1 << 12, 1, 0, 0, 0, 0, 0, 0]).expect("a header");
            let header = Header { stream, granules, mask, wide, kind: Kind::Rows, ..template };
            units[..4].copy_from_slice(&header.encode()[..4]);
            units
        });
    let headers = prop::collection::vec((0..UNITS / GRANULE as usize, header), 0..60);
    let changes = prop::collection::vec(any::<(usize, u32)>(), 0..200);
    // Mostly there, so that the reader gets far.
    (prop::collection::vec(prop_oneof![20 => any::<u32>().prop_map(|unit| unit | PHASE), 1 => any::<u32>()], 64), headers, changes)
        .prop_map(|(pattern, headers, changes)| {
            let mut units: Vec<u32> = (0..UNITS).map(|i| pattern[(i * 7 + i / 64) % 64]).collect();
            for (granule, header) in headers {
                for (unit, value) in units[granule * GRANULE as usize..].iter_mut().zip(header) {
                    *unit = value | PHASE;
                }
            }
            Unsteady { units, changes: RefCell::new(changes), loads: RefCell::default() }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_ring_holds_the_reader_gets_on_or_waits_with_bounded_work(memory in memory(), wide: bool, gives_up: bool, takes: bool) {
        let mut reader = Reader::new(MIN_RING_LOG2, wide);
        let mut rows = vec![0; 64 * 31];
        for _ in 0..2000 {
            let before = reader.position();
            *memory.loads.borrow_mut() = 0;
            if takes {
                let mut room = Room(vec![0; 64 * MAX_UNITS as usize]);
                if let Some(taken) = reader.take(&memory, &mut room) {
                    let header = Header::decode(taken.header).expect("it was decoded");
                    prop_assert_eq!(taken.units, header.mask.count_ones() * header.stream * header.values);
                    prop_assert_eq!(taken.values, header.mask.count_ones() * header.values);
                    prop_assert!(header.wide == wide && header.stream == taken.stream);
                    prop_assert_eq!(reader.position() - before, u64::from(header.granules));
                    prop_assert!(*memory.loads.borrow() <= 130 * 4 + 4);
                    continue;
                }
                prop_assert_eq!(reader.position(), before);
                prop_assert!(*memory.loads.borrow() <= 130 * 4 + 4);
                *memory.loads.borrow_mut() = 0;
            }
            let got_on = match reader.next(&memory, |stream| (stream <= 31).then_some(stream)) {
                Found::Packet(message) => {
                    let header = message.header;
                    let lanes: Vec<u32> = message.lanes().collect();
                    prop_assert_eq!(lanes.len() as u32, message.rows());
                    prop_assert_eq!(message.copy_rows(&mut rows) as u32, message.rows() * message.units());
                    prop_assert!(header.wide == wide && message.units() == header.stream * header.values);
                    prop_assert_eq!(reader.position() - before, u64::from(header.granules));
                    true
                }
                Found::Malformed => {
                    prop_assert_eq!(reader.position() - before, 1);
                    true
                }
                Found::Absent | Found::Partial => {
                    prop_assert_eq!(reader.position(), before);
                    false
                }
            };
            prop_assert!(*memory.loads.borrow() <= 130 * 4 + 4);
            if !got_on && gives_up {
                // As much as any device can say that it has reserved.
                let head = (before as u32).wrapping_add(1 + rows[0] % 200);
                reader.give_up(&memory, head, |stream| (stream <= 31).then_some(stream));
                prop_assert!(reader.position() > before && reader.position() - before <= u64::from(head.wrapping_sub(before as u32)));
            }
        }
        prop_assert!(reader.credit(true).is_none_or(|credit| credit == reader.position()));
        prop_assert!(reader.credit(true).is_none());
    }
}
