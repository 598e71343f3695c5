//! A buffer while a consumer serves it.
//!
//! The memory belongs to the client, who may free it as soon as the buffer is deregistered. So every look into it happens between `enter`
//! and its guard's end, which takes some hundred nanoseconds at most, and never while a handler runs: handlers get a copy.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::layout::{HeaderWords, LANES, QWORDS, control};
use crate::memory::Map;
use crate::stacks::{self, Held, Packets};

/// Set in a [`Gate`] when the buffer is closed.
const CLOSED: u32 = 1 << 31;

/// How many look into the memory, and whether it is closed. Serving threads have one, and clients have another: they count for each packet,
/// and would take the line from each other.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Gate(AtomicU32);

/// A registered buffer.
#[derive(Debug)]
pub(crate) struct Served {
    map: Map,
    /// For each packet, whether it was taken and not answered. A packet that is ready twice is one.
    taken: Box<[AtomicBool]>,
    serving: Gate,
    clients: Gate,
    /// How many packets were taken and not answered.
    open: AtomicU32,
}

/// One packet's call, copied.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) service: u32,
    pub(crate) mask: u64,
    /// The lanes' words as they came.
    before: [[u64; QWORDS]; LANES],
    /// The lanes' words as handlers leave them.
    pub(crate) lanes: [[u64; QWORDS]; LANES],
}

impl Default for Call {
    fn default() -> Call {
        Call { service: 0, mask: 0, before: [[0; QWORDS]; LANES], lanes: [[0; QWORDS]; LANES] }
    }
}

/// The lanes of a mask.
pub(crate) fn lanes(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The right to look into the memory.
struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Release: pairs with the acquire in `shut`: what was done inside is done before the memory is given up.
        self.0.0.fetch_sub(1, Ordering::Release);
    }
}

impl Gate {
    fn enter(&self) -> Option<Inside<'_>> {
        // Acquire: pairs with the acquire-release in `close`. Either this count is seen there, or the closing here.
        let before = self.0.fetch_add(1, Ordering::AcqRel);
        let inside = Inside(self);
        (before & CLOSED == 0).then_some(inside)
    }

    /// Lets nobody in any more; `false` if somebody else closed it.
    fn close(&self) -> bool {
        self.0.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED == 0
    }

    /// Waits until nobody is inside.
    fn wait(&self) {
        // Acquire: pairs with the release of `Inside`'s end.
        while self.0.load(Ordering::Acquire) != CLOSED {
            std::thread::yield_now();
        }
    }
}

impl Served {
    pub(crate) fn new(map: Map) -> Served {
        let taken = (0..map.count()).map(|_| AtomicBool::new(false)).collect();
        Served { map, taken, serving: Gate::default(), clients: Gate::default(), open: AtomicU32::new(0) }
    }

    pub(crate) fn address(&self) -> usize {
        self.map.address()
    }

    /// Where the parts lie, for a client whose buffer stays while it calls.
    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// Hands a packet of a client on the processor to the host, unless the buffer is closed: then nobody would ever answer it.
    pub(crate) fn push(&self, held: Held, contended: impl FnMut()) -> bool {
        let Some(_inside) = self.clients.enter() else { return false };
        stacks::push_ready(&self.map, held, contended);
        true
    }

    fn enter(&self) -> Option<Inside<'_>> {
        self.serving.enter()
    }

    /// Writes the doorbell's handle.
    pub(crate) fn set_doorbell(&self, handle: u64) {
        if let Some(_inside) = self.enter() {
            self.map.words().doorbell.store(handle, Ordering::Release);
        }
    }

    /// Takes the ready packets: appends to `taken` those that were not taken before, the oldest first.
    pub(crate) fn sweep(&self, taken: &mut Vec<u32>) {
        let Some(_inside) = self.enter() else { return };
        let begin = taken.len();
        stacks::take_ready(&self.map, taken);
        let mut kept = begin;
        for at in begin..taken.len() {
            let index = taken[at];
            if self.claim(index) {
                taken[kept] = index;
                kept += 1;
            }
        }
        taken.truncate(kept);
    }

    fn claim(&self, index: u32) -> bool {
        let (Some(header), Some(mark)) = (self.map.header(index), self.taken.get(index as usize)) else { return false };
        // One that is not ready has nobody waiting for it.
        if header.control.load(Ordering::Relaxed) & control::READY == 0 {
            return false;
        }
        // Acquire: pairs with the release in `finish`, so that the packet's last use is over.
        let fresh = !mark.swap(true, Ordering::Acquire);
        if fresh {
            self.open.fetch_add(1, Ordering::Relaxed);
        }
        fresh
    }

    /// Copies a taken packet's words; `false` if the buffer is closed.
    pub(crate) fn read(&self, index: u32, call: &mut Call) -> bool {
        let Some(_inside) = self.enter() else { return false };
        let (Some(header), Some(payload)) = (self.map.header(index), self.map.payload(index)) else { return false };
        // Relaxed: acquired with the stack's top. A device that writes them now gets what it deserves: these are copies.
        call.service = header.service.load(Ordering::Relaxed);
        call.mask = header.active_mask.load(Ordering::Relaxed);
        for lane in lanes(call.mask) {
            let words = &payload.lanes[lane];
            call.before[lane] = std::array::from_fn(|i| words[i].load(Ordering::Relaxed));
            call.lanes[lane] = call.before[lane];
        }
        true
    }

    /// Writes what handlers changed, and lets the wave go on. Does nothing if the buffer is closed: then the packet was refused.
    pub(crate) fn answer(&self, index: u32, call: &Call, refused: bool) {
        let Some(_inside) = self.enter() else { return };
        let (Some(header), Some(payload)) = (self.map.header(index), self.map.payload(index)) else { return };
        for lane in lanes(call.mask) {
            let words = call.lanes[lane].iter().zip(&call.before[lane]).zip(&payload.lanes[lane]);
            for ((after, _), place) in words.filter(|((after, before), _)| after != before) {
                place.store(*after, Ordering::Relaxed);
            }
        }
        self.finish(index, header, if refused { control::REFUSED } else { 0 });
    }

    /// Clears a packet's ready bit.
    fn finish(&self, index: u32, header: &HeaderWords, outcome: u32) {
        if let Some(mark) = self.taken.get(index as usize)
            && mark.swap(false, Ordering::Release)
        {
            self.open.fetch_sub(1, Ordering::Release);
        }
        let bits = control::READY | control::REFUSED | control::SLEEPER;
        let kept = header.control.load(Ordering::Relaxed) & !bits;
        // Release: pairs with the wave's acquire when it sees that it is not ready any more. A swap, because a client on the processor may
        // say at this moment that it sleeps. The host's memory: no atomic crosses the bus.
        let was = header.control.swap(kept | outcome, Ordering::AcqRel);
        if was & control::SLEEPER != 0 {
            // Shared: the buffer may be another process's too.
            let _ = futex::wake(&header.control, futex::Flags::empty(), i32::MAX as u32);
        }
    }

    /// Waits until no packet is ready or being served, up to a limit.
    pub(crate) fn drain(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut pause = Duration::from_micros(20);
        // Acquire: pairs with the release in `finish`.
        let waits = || self.open.load(Ordering::Acquire) != 0 || self.map.ready().load(Ordering::Acquire) != 0;
        // Somebody else may close it, and then free the memory, meanwhile.
        while self.enter().is_some_and(|_inside| waits()) && Instant::now() < end {
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(1));
        }
    }

    /// Closes the buffer and refuses what is ready or being served. Afterwards nothing here looks into the memory.
    pub(crate) fn shut(&self) {
        // In this order: of two that shut it at once, one goes on.
        if !self.serving.close() {
            return;
        }
        self.clients.close();
        self.serving.wait();
        self.clients.wait();
        // Nobody else is inside now, and the memory is the client's until this returns.
        let mut ready = Vec::new();
        stacks::take_ready(&self.map, &mut ready);
        let open = self.taken.iter().enumerate().filter(|(_, mark)| mark.load(Ordering::Relaxed)).map(|(index, _)| index as u32);
        for index in ready.into_iter().chain(open.collect::<Vec<_>>()) {
            if let Some(header) = self.map.header(index) {
                self.finish(index, header, control::REFUSED);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout;

    struct Memory(Vec<u64>);

    fn buffer(packets: u32) -> (Memory, Served) {
        let mut memory = Memory(vec![u64::MAX; layout::buffer_size(packets) / 8]);
        // SAFETY: as many bytes as the layout says, and nobody else's.
        let map = unsafe { Map::initialize(memory.0.as_mut_ptr().cast(), packets) }.unwrap();
        (memory, Served::new(map))
    }

    fn submit(served: &Served, service: u32, mask: u64) -> stacks::Held {
        let held = stacks::pop_free(&served.map, || {}).unwrap();
        let header = served.map.header(held.index(&served.map) as u32).unwrap();
        header.service.store(service, Ordering::Relaxed);
        header.active_mask.store(mask, Ordering::Relaxed);
        header.control.store(control::READY, Ordering::Relaxed);
        stacks::push_ready(&served.map, held, || {});
        held
    }

    fn swept(served: &Served) -> Vec<u32> {
        let mut taken = Vec::new();
        served.sweep(&mut taken);
        taken
    }

    #[test]
    fn packets_are_taken_in_the_order_in_which_they_came_and_once() {
        let (_memory, served) = buffer(5);
        let order: Vec<u32> = (0..5).map(|i| submit(&served, i, 1).index(&served.map) as u32).collect();
        assert_eq!(swept(&served), order);
        // A device pushes one again that is being served.
        served.map.header(order[2]).unwrap().next.store(0, Ordering::Relaxed);
        served.map.words().ready_stack.store(u64::from(order[2]) | 1 << 8, Ordering::Relaxed);
        assert_eq!(swept(&served), []);
        served.answer(order[2], &Call::default(), false);
        assert_eq!(served.map.header(order[2]).unwrap().control.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn links_that_go_in_circles_or_nowhere_end_the_sweep() {
        let (_memory, served) = buffer(4);
        for _ in 0..4 {
            submit(&served, 2, 1);
        }
        for index in 0..4 {
            served.map.header(index).unwrap().next.store(u64::from((index + 1) % 4) | 7 << 40, Ordering::Relaxed);
        }
        let mut taken = swept(&served);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3], "each once, although the stack has no end");
        for nowhere in [7, u64::MAX, 6 | 3 << 20] {
            served.map.words().ready_stack.store(nowhere, Ordering::Relaxed);
            assert_eq!(swept(&served), []);
        }
    }

    #[test]
    fn what_the_buffer_says_of_itself_after_registration_changes_nothing() {
        let (_memory, served) = buffer(3);
        let words = served.map.words();
        words.headers.store(8, Ordering::Relaxed);
        words.payloads.store(u64::MAX, Ordering::Relaxed);
        words.index_size.store(77, Ordering::Relaxed);
        let held = submit(&served, 2, u64::MAX);
        let index = held.index(&served.map) as u32;
        assert_eq!(swept(&served), [index]);
        let mut call = Call::default();
        assert!(served.read(index, &mut call));
        assert_eq!((call.service, call.mask), (2, u64::MAX));
    }

    #[test]
    fn a_closed_buffer_is_not_looked_into_and_its_waves_are_refused() {
        let (_memory, served) = buffer(4);
        let (first, second) = (submit(&served, 2, 1).index(&served.map) as u32, submit(&served, 2, 1).index(&served.map) as u32);
        let mut taken = swept(&served);
        assert_eq!(taken.len(), 2);
        let third = submit(&served, 2, 1).index(&served.map) as u32;
        served.shut();
        for index in [first, second, third] {
            assert_eq!(served.map.header(index).unwrap().control.load(Ordering::Relaxed), control::REFUSED);
        }
        submit(&served, 2, 1);
        taken.clear();
        served.sweep(&mut taken);
        assert!(taken.is_empty() && !served.read(first, &mut Call::default()));
    }

    #[test]
    fn only_words_that_a_handler_changed_are_written() {
        let (_memory, served) = buffer(1);
        let index = submit(&served, 2, 0b101).index(&served.map) as u32;
        assert_eq!(swept(&served), [index]);
        let payload = served.map.payload(index).unwrap();
        payload.lanes[0][0].store(5, Ordering::Relaxed);
        payload.lanes[1][0].store(6, Ordering::Relaxed);
        let mut call = Call::default();
        assert!(served.read(index, &mut call));
        call.lanes[0][0] = 50;
        call.lanes[1][0] = 60;
        payload.lanes[2][7].store(99, Ordering::Relaxed);
        served.answer(index, &call, false);
        let words = [(0, 0), (1, 0), (2, 7)].map(|(lane, word)| payload.lanes[lane][word].load(Ordering::Relaxed));
        assert_eq!(words, [50, 6, 99], "lane 1 took no part, and word 7 of lane 2 was not the handler's");
    }

    #[test]
    fn the_lanes_of_a_mask_are_its_bits() {
        assert_eq!(lanes(0).count(), 0);
        assert_eq!(lanes(0x8421).collect::<Vec<_>>(), [0, 5, 10, 15]);
        assert_eq!(lanes(u64::MAX).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
    }
}
