//! A device that keeps no rule.

use std::cell::{Cell, RefCell};

use hostcall_abi::stream::unit::PHASE;
use hostcall_abi::stream::{Found, GRANULE, Header, Kind, Layout, MAX_UNITS, MIN_RING_LOG2, Reader, RingMemory, Rows, bytes};
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
        units(stream)
    }
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32] {
        assert!((1..=MAX_UNITS).contains(&stream));
        &mut self.0[..units]
    }
}

/// Streams have as many units for each lane as their number says; one is of bytes.
fn units(stream: u32) -> Option<u32> {
    (stream <= MAX_UNITS).then_some(if stream == BYTES { 0 } else { stream })
}

const BYTES: u32 = 3;
const UNITS: usize = 1 << (MIN_RING_LOG2 + 4);

/// A ring of random units, some of which look like headers.
fn memory() -> impl Strategy<Value = Unsteady> {
    let header =
        (any::<[u32; 8]>(), 1..4u32, any::<u64>(), any::<bool>(), any::<bool>()).prop_map(|(mut units, stream, mask, wide, right)| {
            let (mask, kind) = match (stream == BYTES && right, wide) {
                (true, _) => (1 << (mask % if wide { 64 } else { 32 }), Kind::Bytes),
                (_, true) => (mask | 1, Kind::Rows),
                _ => (mask & u64::from(u32::MAX) | 1, Kind::Rows),
            };
            let granules = match kind {
                Kind::Rows => Layout::new(stream, mask.count_ones(), wide).map_or(1, |layout| layout.granules()) + u32::from(!right),
                // Some of them longer than the ring can hold.
                Kind::Bytes => 1 + (units[7] >> 8) % if units[7] & 1 == 0 { 300 } else { 8 },
            };
            let template = Header::decode([1 | 1 << 12, 1, 0, 0, 0, 0, 0, 0]).expect("a header");
            let header = Header { stream, granules, mask, wide, kind, ..template };
            units[..4].copy_from_slice(&header.encode()[..4]);
            if kind == Kind::Bytes {
                // One value, as of all messages of bytes.
                units[5] &= !(31 << 26);
            }
            units
        });
    let headers = prop::collection::vec((0..UNITS / GRANULE as usize, header), 0..60);
    let changes = prop::collection::vec(any::<(usize, u32)>(), 0..200);
    // Mostly there, so that the reader gets far.
    (
        prop::collection::vec(prop_oneof![20 => any::<u32>().prop_map(|unit| unit | PHASE), 1 => any::<u32>()], 64),
        headers,
        changes,
        any::<bool>(),
    )
        .prop_map(|(pattern, headers, changes, full)| {
            let mut units: Vec<u32> = (0..UNITS).map(|i| pattern[(i * 7 + i / 64) % 64]).collect();
            if full {
                // Quads as those of bytes.
                units.iter_mut().skip(3).step_by(4).for_each(|unit| *unit |= 15 << 27);
            }
            for (granule, header) in headers {
                for (unit, value) in units[granule * GRANULE as usize..].iter_mut().zip(header) {
                    *unit = value | PHASE;
                }
            }
            Unsteady { units, changes: RefCell::new(changes), loads: RefCell::default() }
        })
}

thread_local! {
    /// Messages of bytes that the next test has found.
    static FOUND: Cell<u32> = const { Cell::new(0) };
    /// Its cases: `PROPTEST_CASES` makes them fewer.
    static CASES: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn whatever_a_ring_holds_and_be_it_messages_of_bytes_the_reader_gets_on_or_waits() {
    whatever_the_ring_holds();
    let [found, cases] = [FOUND.get(), CASES.get()];
    assert!(found > cases / 25, "the test found {found} messages of bytes in {cases} cases");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    fn whatever_the_ring_holds(memory in memory(), wide: bool, gives_up: bool, takes: bool) {
        CASES.set(CASES.get() + 1);
        let mut reader = Reader::new(MIN_RING_LOG2, wide);
        let (mut rows, mut copy) = (vec![0; 64 * 31], vec![0; reader.longest()]);
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
            let found = match reader.next(&memory, units) {
                Found::Long(granules) => {
                    prop_assert!(granules <= 1 << (MIN_RING_LOG2 - 2) && reader.position() == before);
                    prop_assert!(*memory.loads.borrow() <= 5);
                    reader.next_long(&memory, &mut copy, units)
                }
                found => found,
            };
            let got_on = match found {
                Found::Long(_) => panic!("it has been read"),
                Found::Packet(message) if message.header.kind == Kind::Bytes => {
                    let (header, length) = (message.header, message.bytes().expect("bytes"));
                    let mut slice = vec![0; length as usize];
                    message.copy_bytes(&mut slice);
                    prop_assert_eq!((header.stream, header.mask.count_ones(), header.values, header.wide), (BYTES, 1, 1, wide));
                    prop_assert_eq!(bytes::granules(length), Some(header.granules));
                    FOUND.set(FOUND.get() + 1);
                    prop_assert_eq!(reader.position() - before, u64::from(header.granules));
                    true
                }
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
            prop_assert!(*memory.loads.borrow() <= 256 * 4 + 10);
            if !got_on && gives_up {
                // As much as any device can say that it has reserved.
                let head = (before as u32).wrapping_add(1 + rows[0] % 200);
                reader.give_up(&memory, head, units);
                prop_assert!(reader.position() > before && reader.position() - before <= u64::from(head.wrapping_sub(before as u32)));
            }
        }
        prop_assert!(reader.credit(true).is_none_or(|credit| credit == reader.position()));
        prop_assert!(reader.credit(true).is_none());
    }
}
