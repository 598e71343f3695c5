//! The client in C++: the machine as tables of functions, and the functions of its image.

use std::path::Path;

use super::*;

/// `ring_table` of `cpp/recorded_streams.cc`.
#[repr(C)]
struct Table {
    load_credit: extern "C" fn(u64) -> u64,
    store_credit: extern "C" fn(u64, u64),
    load_head: extern "C" fn(u64) -> u32,
    add_head: extern "C" fn(u64, u32) -> u32,
    load_gate: extern "C" fn(u64, &mut Gate),
    dice: extern "C" fn() -> u32,
    add_count: extern "C" fn(u64),
    store_units: unsafe extern "C" fn(u64, u32, *const u32),
    nap: extern "C" fn(u32),
    is_private: extern "C" fn(u64) -> u32,
}

extern "C" fn load_credit(at: u64) -> u64 {
    Machine.load_credit(at)
}
extern "C" fn store_credit(at: u64, credit: u64) {
    Machine.store_credit(at, credit);
}
extern "C" fn load_head(at: u64) -> u32 {
    Machine.load_head(at)
}
extern "C" fn add_head(at: u64, granules: u32) -> u32 {
    Machine.add_head(at, granules)
}
extern "C" fn load_gate(at: u64, gate: &mut Gate) {
    *gate = Machine.load_gate(at);
}
extern "C" fn dice() -> u32 {
    Machine::dice(Machine)
}
extern "C" fn add_count(at: u64) {
    Machine.add_count(at);
}
/// # Safety
/// `values` are so many.
unsafe extern "C" fn store_units(at: u64, count: u32, values: *const u32) {
    // SAFETY: the caller's.
    Machine.store_units(at, unsafe { std::slice::from_raw_parts(values, count as usize) });
}
extern "C" fn nap(attempt: u32) {
    Machine.nap(attempt);
}
extern "C" fn is_private(_: u64) -> u32 {
    Machine::is_private(Machine).into()
}

static TABLE: Table = Table { load_credit, store_credit, load_head, add_head, load_gate, dice, add_count, store_units, nap, is_private };

// The simulator's operations: of the lanes, the same.
extern "C" fn lane_info() -> *const LaneInfo {
    // The lane is where it is until its thread is done.
    with(|lane| std::ptr::from_ref(&lane.info))
}
extern "C" fn active_mask(_: usize) -> u64 {
    with(|lane| lane.wave.mask)
}
extern "C" fn ballot(mask: u64, predicate: u32) -> u64 {
    Machine.ballot(mask, predicate != 0)
}
extern "C" fn shuffle(mask: u64, value: u64, from: u32) -> u64 {
    Machine.broadcast(mask, value as u32, from).into()
}
extern "C" fn sync_wave(mask: u64) {
    Machine.sync(mask);
}
extern "C" fn clock_ns() -> u64 {
    Machine.now_ns()
}
extern "C" fn pause(_: u32) {
    unreachable!("streams nap");
}
extern "C" fn no_operation() {
    unreachable!("a message is of one wave");
}
extern "C" fn scratch() -> *mut u8 {
    unreachable!("a message needs none");
}
extern "C" fn end() -> ! {
    unreachable!("lanes that send do not end");
}
extern "C" fn wake_patient(_: u32) {}

extern "C" fn group_memory() -> *const GroupMemory {
    unreachable!("a message needs none");
}

extern "C" fn space(_: usize) -> u32 {
    unreachable!("a message needs none");
}

extern "C" fn lane_word() -> *mut u64 {
    unreachable!("a message needs none");
}

static OPERATIONS: SimOps = SimOps {
    lane_info,
    active_mask,
    ballot,
    shuffle,
    sync_wave,
    sync_group: no_operation,
    pause,
    clock_ns,
    group_scratch: scratch,
    exit_lane: end,
    trap: end,
    lane_word,
    wake_patient,
    group_memory,
    space,
};

/// `stream_message`.
#[repr(C)]
struct Words {
    kind: u32,
    word: u32,
    values: u32,
    units: u32,
    value: *const u32,
    address: u64,
    length: u64,
}

/// An image of the client.
pub(super) struct Library {
    begin: unsafe extern "C" fn(&Table, &SimOps, &Rings),
    send: unsafe extern "C" fn(&Words) -> u32,
    _image: libloading::Library,
}

impl Library {
    pub(super) fn load(image: &Path) -> Self {
        // SAFETY: an image of this crate's build script, without initialisers.
        let library = unsafe { libloading::Library::new(image) }.expect("the client loads");
        // SAFETY: functions of `cpp/recorded_streams.cc`, of these types; they are used as long as the image is there.
        let (begin, send) = unsafe {
            let begin = library.get(b"hc_ring_begin").map(|symbol| *symbol);
            (begin, library.get(b"hc_ring_send").map(|symbol| *symbol))
        };
        Self { begin: begin.expect("the function is there"), send: send.expect("the function is there"), _image: library }
    }

    /// Says where rings are.
    pub(super) fn begin(&self, rings: &Rings) {
        // SAFETY: the tables' functions do what the machine does; no lane runs.
        unsafe { (self.begin)(&TABLE, &OPERATIONS, rings) };
    }

    pub(super) fn send(&self, m: &Message, lane: u32) -> u32 {
        let (value, (address, length)) = (m.units_of(lane), m.bytes_of(lane));
        let length = u64::from(length);
        let words = Words { kind: m.kind, word: m.word, values: m.values, units: m.units, value: value.as_ptr(), address, length };
        // SAFETY: this thread is a lane, and what the words point at outlives the call.
        unsafe { (self.send)(&words) }
    }
}
