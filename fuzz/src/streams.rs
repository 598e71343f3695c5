//! A device that writes anything into a stream's ring at any time, while the host reads, gives up what will never be
//! whole, and goes on.
//!
//! Bounds on work at each look, and on how far the reader gets, are the oracle; and that an honest message is read in
//! full afterwards.

use std::cell::Cell;

use hostcall_abi::stream::unit::{PHASE, Position};
use hostcall_abi::stream::{Found, From, GRANULE, Header, Kind, Layout, MIN_RING_LOG2, Reader, RingMemory, Rows, bytes};

use crate::Input;

/// Units of the ring.
const UNITS: u32 = GRANULE << MIN_RING_LOG2;
/// Loads that the longest message of rows takes, its header twice.
const MOST_LOADS: u32 = 129 * GRANULE / 4 + 4;
/// And one of bytes: its first granule once more, and its last quad.
const MOST_LOADS_OF_BYTES: u32 = (GRANULE << MIN_RING_LOG2) / 16 + 10;
/// The stream of bytes.
const BYTES: u32 = 29;

/// The ring.
struct Ring {
    units: Vec<Cell<u32>>,
    loads: Cell<u32>,
}

impl RingMemory for Ring {
    fn load_four(&self, unit: u32) -> [u32; 4] {
        self.loads.set(self.loads.get() + 1);
        std::array::from_fn(|i| self.units[unit as usize + i].get())
    }
    fn repair(&self, unit: u32, value: u32) {
        assert_ne!(self.units[unit as usize].get() & PHASE, value & PHASE, "a unit was repaired that was there");
        self.units[unit as usize].set(value);
    }
}

impl Ring {
    /// Stores a unit of the message at a place, with its phase.
    fn put(&self, at: Position, index: u32, data: u32) {
        self.units[at.unit(index) as usize].set(at.with_phase(index, data));
    }
}

/// Streams have as many units for each lane as their number says, but for the one of bytes.
fn units(stream: u32) -> Option<u32> {
    (stream <= 31).then_some(if stream == BYTES { 0 } else { stream })
}

/// Plays one input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let start = input.byte();
    let wide = start & 1 == 1;
    // At the first lap, or just before the low bits of positions wrap.
    let first = if start & 2 == 0 { 0 } else { (1u64 << 32) - u64::from(start >> 2) };
    let ring = Ring { units: (0..UNITS).map(|_| Cell::new(0)).collect(), loads: Cell::new(0) };
    let mut reader = Reader::behind(first, MIN_RING_LOG2, wide);
    while !input.is_empty() {
        let at = Position::new(reader.position() as u32, MIN_RING_LOG2);
        match input.byte() % 8 {
            0 => ring.units[(input.word() % UNITS) as usize].set(input.word()),
            1 => (0..u32::from(input.byte())).for_each(|index| ring.put(at, index, input.word())),
            // What is there, whatever it is.
            2 => (0..u32::from(input.byte()) * 8).for_each(|index| ring.put(at, index, ring.units[at.unit(index) as usize].get())),
            3 => {
                let header = honest(u32::from(input.byte()) % 33, u64::from(input.word()) << (input.byte() % 33), wide);
                let header = Header { granules: header.granules + u32::from(input.byte().is_multiple_of(16)), ..header };
                (0..).zip(header.encode()).for_each(|(index, unit)| ring.put(at, index, unit));
            }
            4 => {
                let before = reader.position();
                let head = (before as u32).wrapping_add(u32::from(input.byte()));
                reader.give_up(&ring, head, units);
                assert!(reader.position() - before <= u64::from(head.wrapping_sub(before as u32)), "more was given up than was reserved");
            }
            // The header of bytes, of a length that may be right, and what quads may say.
            6 => {
                let granules = 1 + u32::from(input.byte()) * u32::from(input.byte() % 3);
                let lane = input.byte() % if wide { 64 } else { 32 };
                let header = Header { kind: Kind::Bytes, stream: BYTES, granules, mask: 1 << lane, ..honest(1, 1, wide) };
                (0..).zip(header.encode()).for_each(|(index, unit)| ring.put(at, index, unit));
                let (full, most) = (u32::from(input.byte()), GRANULE << (MIN_RING_LOG2 - 2));
                for index in 8..(granules * GRANULE).min(most) {
                    let count = if index / 4 - 2 < full { 15 } else { 0 };
                    ring.put(at, index, if index % 4 == 3 { count << 27 | 7 } else { index });
                }
            }
            // A message of bytes that keeps the rules.
            7 => {
                let sent: Vec<u8> = (0..u32::from(input.byte()) * u32::from(input.byte() % 64)).map(|i| (i * 11) as u8).collect();
                let mut message = vec![0; (GRANULE << MIN_RING_LOG2) as usize];
                let length = bytes::encode(Header { stream: BYTES, ..honest(1, 1 << 7, wide) }, &sent, &mut message);
                let length = length.filter(|length| *length <= reader.longest());
                let Some(length) = length else { continue };
                (0..).zip(&message[..length]).for_each(|(index, unit)| ring.put(at, index, *unit));
                let (found, rows) = look(&ring, &mut reader).expect("honest bytes were not found");
                assert_eq!((found.kind, found.stream, found.mask), (Kind::Bytes, BYTES, 1 << 7));
                assert!(rows.iter().map(|byte| *byte as u8).eq(sent), "honest bytes came garbled");
            }
            _ => drop(look(&ring, &mut reader)),
        }
        look(&ring, &mut reader);
    }

    // The kernel has ended; the next one keeps the rules.
    let header = honest(7, 0b1011, wide);
    let layout = Layout::new(7, 3, wide).expect("a message");
    let at = Position::new(reader.position() as u32, MIN_RING_LOG2);
    (0..layout.granules() * GRANULE).for_each(|index| ring.put(at, index, index));
    (0..).zip(header.encode()).for_each(|(index, unit)| ring.put(at, index, unit));
    let (found, rows) = look(&ring, &mut reader).expect("an honest message was not found");
    assert_eq!(found, header);
    assert_eq!(rows.len(), 21);
    assert_eq!(rows[20] & !PHASE, layout.place(2, 6));
}

/// A header of lanes that send `stream` units each; of lane 0, if `mask` has none.
fn honest(stream: u32, mask: u64, wide: bool) -> Header {
    let mask = match if wide { mask } else { mask & u64::from(u32::MAX) } {
        0 => 1,
        mask => mask,
    };
    let granules = Layout::new(stream, mask.count_ones(), wide).map_or(1, Layout::granules);
    let stream = if stream == BYTES { 1 } else { stream.max(1) };
    Header { stream, granules, kind: Kind::Rows, mask, wide, site: 3, weight: 0, user: 0, values: 1, time: Some(9), from: From::default() }
}

/// Room for the rows of a message.
#[derive(Default)]
struct Room(Vec<u32>);

impl Rows for Room {
    fn units(&self, stream: u32) -> Option<u32> {
        units(stream)
    }
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32] {
        assert!((1..=31).contains(&stream) && units <= 64 * 31, "room for a message that there is not");
        self.0 = vec![0; units];
        &mut self.0
    }
}

/// One look of the reader, by the short way and then by the long one: what it found, if that was a message; of one of
/// bytes, the bytes.
fn look(ring: &Ring, reader: &mut Reader) -> Option<(Header, Vec<u32>)> {
    let before = reader.position();
    ring.loads.set(0);
    let mut room = Room::default();
    if let Some(taken) = reader.take(ring, &mut room) {
        let header = Header::decode(taken.header).expect("it was decoded");
        assert_eq!(reader.position() - before, u64::from(header.granules));
        assert_eq!((room.0.len() as u32, header.stream), (taken.units, taken.stream));
        assert!(ring.loads.get() <= MOST_LOADS, "{} loads in one look", ring.loads.get());
        return Some((header, room.0));
    }
    assert_eq!(reader.position(), before);
    ring.loads.set(0);
    let mut copy = Vec::new();
    let found = match reader.next(ring, units) {
        Found::Long(granules) => {
            assert!(granules * GRANULE <= reader.longest() as u32, "a message of {granules} granules");
            copy.resize(reader.longest(), 0);
            reader.next_long(ring, &mut copy, units)
        }
        found => found,
    };
    let (got_on, found) = match found {
        Found::Long(_) => panic!("it has been read"),
        Found::Packet(message) if message.header.kind == Kind::Bytes => {
            let mut slice = vec![0; message.bytes().expect("bytes") as usize];
            message.copy_bytes(&mut slice);
            assert_eq!((message.header.stream, message.header.values, message.lanes().count()), (BYTES, 1, 1));
            assert_eq!(bytes::granules(slice.len() as u32), Some(message.header.granules));
            (message.header.granules, Some((message.header, slice.into_iter().map(u32::from).collect())))
        }
        Found::Packet(message) => {
            let mut rows = vec![0; (message.rows() * message.units()) as usize];
            assert_eq!(message.copy_rows(&mut rows), rows.len());
            assert_eq!(message.lanes().count() as u32, message.rows());
            (message.header.granules, Some((message.header, rows)))
        }
        Found::Malformed => (1, None),
        Found::Absent | Found::Partial => (0, None),
    };
    assert!(ring.loads.get() <= MOST_LOADS_OF_BYTES, "{} loads in one look", ring.loads.get());
    assert_eq!(reader.position() - before, u64::from(got_on));
    if let Some(credit) = reader.credit(false) {
        assert_eq!(credit, reader.position(), "credit for what has not been read");
    }
    found
}
