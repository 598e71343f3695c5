//! A buffer while a consumer serves it: which packets were taken, and which of them are still to be begun.
//!
//! Every look into the memory happens behind a [`Gate`], which takes some hundred nanoseconds at most, and never while
//! a handler runs: handlers get a copy.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::call::Call;
use super::gate::{Gate, Inside};
use super::memory::Memory;
use crate::memory::Map;
use crate::stacks::{self, Held};

/// How long closing a buffer waits for waves that have said that a packet is ready and have not pushed it yet.
const PUSHING: Duration = Duration::from_millis(1);

/// So many mailboxes are looked at while the consumer waits, at least.
const WARM: u32 = 64;

/// Held by whoever refuses packets of a closed buffer, from taking them until all are refused: so nobody refuses a
/// packet that another has refused, and that its client has given back since. One for the process, because the memory
/// of a closed buffer may be registered again.
static REFUSING: Mutex<()> = Mutex::new(());

/// Lets nobody else refuse packets of closed buffers.
pub(crate) fn refusing() -> MutexGuard<'static, ()> {
    REFUSING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A registered buffer.
#[derive(Debug)]
pub(crate) struct Served {
    memory: Memory,
    /// For each packet, whether it was taken and not answered. A packet that is ready twice is one. The leader sets it,
    /// and whoever answers the packet clears it.
    taken: Box<[AtomicBool]>,
    gate: Gate,
    /// Whether it is closed and everything was refused: nobody answers a packet any more.
    over: AtomicBool,
    /// Mailboxes up to here are looked at while the consumer waits: one more than the highest in which the last look
    /// found a packet.
    warm: AtomicU32,
    pending: Pending,
}

/// Packets that were taken and not begun, the oldest first. Only the thread that leads uses it. The lead goes from
/// thread to thread by a release and an acquire, so the words are relaxed. On lines of its own: it is written for each
/// packet, and what lies beside it is read by clients.
#[repr(align(128))]
#[derive(Debug)]
struct Pending {
    /// As many places as there are packets or more, a power of two. A packet is here once at most.
    ring: Box<[AtomicU32]>,
    begin: AtomicU32,
    end: AtomicU32,
}

impl Pending {
    fn new(packets: u32) -> Pending {
        let ring = (0..packets.next_power_of_two()).map(|_| AtomicU32::new(0)).collect();
        Pending { ring, begin: AtomicU32::new(0), end: AtomicU32::new(0) }
    }

    fn place(&self, at: u32) -> &AtomicU32 {
        &self.ring[at as usize & (self.ring.len() - 1)]
    }

    fn push(&self, index: u32) {
        let end = self.end.load(Ordering::Relaxed);
        self.place(end).store(index, Ordering::Relaxed);
        self.end.store(end.wrapping_add(1), Ordering::Relaxed);
    }

    fn pop(&self) -> Option<u32> {
        let first = self.first()?;
        self.begin.store(self.begin.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        Some(first)
    }

    /// What `pop` returns next.
    fn first(&self) -> Option<u32> {
        let begin = self.begin.load(Ordering::Relaxed);
        (begin != self.end.load(Ordering::Relaxed)).then(|| self.place(begin).load(Ordering::Relaxed))
    }
}

/// A packet whose handlers have run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) index: u32,
    pub(super) refused: bool,
}

impl Served {
    pub(crate) fn new(memory: Memory) -> Served {
        let packets = memory.count();
        let taken = (0..packets).map(|_| AtomicBool::new(false)).collect();
        Served {
            memory,
            taken,
            gate: Gate::default(),
            over: AtomicBool::new(false),
            warm: AtomicU32::new(WARM),
            pending: Pending::new(packets),
        }
    }

    pub(crate) fn address(&self) -> usize {
        self.memory.address()
    }

    /// Where the parts of a buffer of stacks lie, for a client whose buffer stays while it calls.
    pub(crate) fn map(&self) -> Option<&Map> {
        match &self.memory {
            Memory::Stacks(map) => Some(map),
            Memory::Mailboxes(_) => None,
        }
    }

    /// Whether the packets are in mailboxes.
    pub(super) fn in_mailboxes(&self) -> bool {
        matches!(self.memory, Memory::Mailboxes(_))
    }

    /// Hands a packet of a client on the processor to the host. If the buffer is closed, it is refused at once.
    pub(crate) fn push(&self, map: &Map, held: Held, contended: impl FnMut()) {
        stacks::push_ready(map, held, contended);
        // Sequentially consistent with `shut`, which closes, then takes what is ready. Either it takes this packet, or
        // it is seen here, and taking whatever is left is this client's: its buffer stays.
        if self.gate.closed() {
            let _refusing = refusing();
            self.refuse_pushed();
        }
    }

    /// Refuses what lies on the stack, and is ready. `refusing` is held.
    fn refuse_pushed(&self) {
        let mut left = Vec::new();
        self.memory.take(&mut left);
        for index in left {
            // A packet may lie there twice, or have been refused before it was pushed.
            if self.memory.ready(index) {
                self.finish(index, true);
            }
        }
    }

    /// For a client of a packet that has waited for long: refuses it if nobody will answer it, which happens if a
    /// device has written to its control word after everything was refused.
    pub(crate) fn refuse_if_over(&self, index: u32) {
        // Acquire: pairs with the release in `shut`: nobody else looks into the memory any more.
        if self.over.load(Ordering::Acquire) {
            let _refusing = refusing();
            if self.memory.ready(index) {
                self.memory.finish(index, true);
            }
        }
    }

    /// Writes the doorbell's handle.
    pub(crate) fn set_doorbell(&self, handle: u64) {
        if let Some(_inside) = self.gate.enter() {
            self.memory.doorbell().store(handle, Ordering::Release);
        }
    }

    /// The leader's step: answers what is done, and copies the packet that comes next. If none was left and `look` is
    /// set, takes what is ready first; `rung` says that something is likely to be. `None` if nothing is left, or if the
    /// buffer is closed: then what was taken was refused.
    pub(super) fn step(&self, done: Option<Done>, look: bool, rung: bool, call: &mut Call, taken: &mut Vec<u32>) -> Option<u32> {
        let inside = self.gate.enter_leading()?;
        if let Some(done) = done {
            self.answer(&inside, done, call);
        }
        loop {
            let next = match self.pending.pop() {
                None if look => {
                    self.take(&inside, rung, taken);
                    self.pending.pop()?
                }
                next => next?,
            };
            if self.memory.read(next, call) {
                // The words of the next one come while this one's handlers run. A lone lane's come when its packet is
                // found.
                if !call.is_lone()
                    && let Some(after) = self.pending.first()
                {
                    self.memory.expect(after);
                }
                return Some(next);
            }
        }
    }

    /// Answers a packet as a thread that leads no longer.
    pub(super) fn answer_late(&self, done: Done, call: &Call) {
        if let Some(inside) = self.gate.enter() {
            self.answer(&inside, done, call);
        }
    }

    fn answer(&self, _inside: &Inside, done: Done, call: &Call) {
        self.memory.write(done.index, call);
        self.finish(done.index, done.refused);
    }

    /// Takes the ready packets that were not taken before.
    fn take(&self, _inside: &Inside, rung: bool, taken: &mut Vec<u32>) {
        taken.clear();
        if rung {
            self.memory.expect_ready();
        }
        self.memory.take(taken);
        if let (true, Some(highest)) = (self.in_mailboxes(), taken.last()) {
            self.warm.store((highest + 1).max(WARM), Ordering::Relaxed);
        }
        for index in taken.iter() {
            let Some(mark) = self.taken.get(*index as usize) else { continue };
            // Acquire: pairs with the release in `finish`, so that the packet's last use is over, and whether it is
            // ready is asked after it. Nobody else sets the mark.
            if !mark.load(Ordering::Acquire) && self.memory.ready(*index) {
                mark.store(true, Ordering::Relaxed);
                self.pending.push(*index);
            }
        }
    }

    /// For the leader while it waits: whether a packet in a mailbox waits that was not taken. Its wave need not have
    /// rung. Mailboxes in which nothing was lately are left to the next look at all.
    pub(super) fn has_mail(&self) -> bool {
        let Memory::Mailboxes(boxes) = &self.memory else { return false };
        let Some(_inside) = self.gate.enter_leading() else { return false };
        let warm = self.taken.iter().take(self.warm.load(Ordering::Relaxed) as usize);
        // Relaxed: what is found here is looked at again, and acquired, when it is taken.
        warm.zip(0..).any(|(mark, index)| boxes.waits(index) && !mark.load(Ordering::Relaxed))
    }

    /// Lets the wave of a taken packet go on.
    fn finish(&self, index: u32, refused: bool) {
        if let Some(mark) = self.taken.get(index as usize) {
            self.memory.settle(index);
            // Before the wave goes on, which may ask again at once. Release: pairs with the acquires in `take` and
            // `rests`.
            mark.store(false, Ordering::Release);
            self.memory.finish(index, refused);
        }
    }

    /// Whether no packet is ready, and none is being served.
    fn rests(&self) -> bool {
        // In this order: what is not ready any more was taken by a leader that was inside then. If it is outside now,
        // its marks are seen.
        !self.memory.waits() && !self.gate.led() && !self.taken.iter().any(|mark| mark.load(Ordering::Acquire))
    }

    /// Waits until no packet is ready or being served, up to a limit.
    pub(crate) fn drain(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut pause = Duration::from_micros(20);
        // Somebody else may close it, and then free the memory, meanwhile.
        while self.gate.enter().is_some_and(|_inside| !self.rests()) && Instant::now() < end {
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(1));
        }
    }

    /// Closes the buffer and refuses what is ready or being served. Afterwards nothing here looks into the memory.
    pub(crate) fn shut(&self) {
        // Of two that shut it at once, one goes on.
        if !self.gate.close() {
            return;
        }
        self.gate.wait();
        // Nobody else is inside now, and the memory is the client's until this returns.
        let _refusing = refusing();
        for (index, mark) in self.taken.iter().enumerate() {
            if mark.load(Ordering::Relaxed) {
                self.finish(index as u32, true);
            }
        }
        self.refuse_pushed();
        // A packet that is ready now was lost by a link that somebody has broken, or its wave is about to push it. The
        // latter takes a moment, after which it is on the stack. A client of this library may take longer: it finds the
        // buffer closed, and its packet refused.
        let mut lost = self.memory.all_ready();
        if !lost.is_empty() {
            std::thread::sleep(PUSHING);
            self.refuse_pushed();
            lost.retain(|index| self.memory.ready(*index));
            lost.into_iter().for_each(|index| self.finish(index, true));
        }
        // Release: pairs with the acquire in `refuse_if_over`.
        self.over.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{self, Form, control};
    use crate::stacks::Packets;

    struct Words(Vec<u64>);

    fn buffer(packets: u32) -> (Words, Served) {
        let mut memory = Words(vec![u64::MAX; layout::buffer_size(packets) / 8]);
        // SAFETY: as many bytes as the layout says, and nobody else's.
        let map = unsafe { Map::initialize(memory.0.as_mut_ptr().cast(), packets, Form::Stacks) }.unwrap();
        (memory, Served::new(Memory::Stacks(map)))
    }

    fn map(served: &Served) -> &Map {
        served.map().expect("it has stacks")
    }

    fn submit(served: &Served, service: u32, mask: u64) -> u32 {
        let map = map(served);
        let held = stacks::pop_free(map, || {}).unwrap();
        let header = map.header(held.index(map) as u32).unwrap();
        header.service.store(service, Ordering::Relaxed);
        header.active_mask.store(mask, Ordering::Relaxed);
        header.control.store(control::READY | control::TELL, Ordering::Relaxed);
        stacks::push_ready(map, held, || {});
        held.index(map) as u32
    }

    /// The packets that the leader would begin now, in its order.
    fn swept(served: &Served) -> Vec<u32> {
        let (mut call, mut taken) = (Call::default(), Vec::new());
        let mut look = true;
        std::iter::from_fn(|| served.step(None, std::mem::take(&mut look), true, &mut call, &mut taken)).collect()
    }

    fn answer(served: &Served, index: u32) {
        served.answer_late(Done { index, refused: false }, &Call::default());
    }

    fn control_of(served: &Served, index: u32) -> u32 {
        map(served).header(index).unwrap().control.load(Ordering::Relaxed)
    }

    #[test]
    fn packets_are_taken_in_the_order_in_which_they_came_and_once() {
        let (_memory, served) = buffer(5);
        let order: Vec<u32> = (0..5).map(|i| submit(&served, i, 1)).collect();
        assert_eq!(swept(&served), order);
        // A device pushes one again that is being served.
        map(&served).header(order[2]).unwrap().next.store(0, Ordering::Relaxed);
        map(&served).words().ready_stack.store(u64::from(order[2]) | 1 << 8, Ordering::Relaxed);
        assert_eq!(swept(&served), []);
        assert!(!served.rests());
        order.iter().for_each(|index| answer(&served, *index));
        assert_eq!(control_of(&served, order[2]), 0);
        assert!(served.rests());
    }

    #[test]
    fn links_that_go_in_circles_or_nowhere_end_the_sweep() {
        let (_memory, served) = buffer(4);
        for _ in 0..4 {
            submit(&served, 2, 1);
        }
        for index in 0..4 {
            map(&served).header(index).unwrap().next.store(u64::from((index + 1) % 4) | 7 << 40, Ordering::Relaxed);
        }
        let mut taken = swept(&served);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2, 3], "each once, although the stack has no end");
        for nowhere in [7, u64::MAX, 6 | 3 << 20] {
            map(&served).words().ready_stack.store(nowhere, Ordering::Relaxed);
            assert_eq!(swept(&served), []);
        }
    }

    #[test]
    fn what_the_buffer_says_of_itself_after_registration_changes_nothing() {
        let (_memory, served) = buffer(3);
        let words = map(&served).words();
        words.headers.store(8, Ordering::Relaxed);
        words.payloads.store(u64::MAX, Ordering::Relaxed);
        words.index.store(77, Ordering::Relaxed);
        let index = submit(&served, 2, u64::MAX);
        let mut call = Call::default();
        assert_eq!(served.step(None, true, false, &mut call, &mut Vec::new()), Some(index));
        assert_eq!((call.service, call.mask), (2, u64::MAX));
    }

    #[test]
    fn a_closed_buffer_is_not_looked_into_and_its_waves_are_refused() {
        let (_memory, served) = buffer(5);
        let (first, second) = (submit(&served, 2, 1), submit(&served, 2, 1));
        assert_eq!(swept(&served), [first, second]);
        let third = submit(&served, 2, 1);
        served.shut();
        for index in [first, second, third] {
            assert_eq!(control_of(&served, index), control::REFUSED);
        }
        let fourth = submit(&served, 2, 1);
        assert_eq!(swept(&served), []);
        assert_eq!(control_of(&served, fourth), control::READY | control::TELL, "nobody looks there");
        // A client of this library's refuses what is left when it finds the buffer closed.
        let held = stacks::pop_free(map(&served), || {}).unwrap();
        served.push(map(&served), held, || {});
        assert_eq!(control_of(&served, fourth), control::REFUSED);
    }

    #[test]
    fn a_refused_packet_of_a_client_that_does_not_ask_to_be_told_has_a_control_word_of_zero() {
        let (_memory, served) = buffer(2);
        // As AMD's clients do: what the last user of the packet left there, and the ready bit.
        let index = submit(&served, 2, 1);
        map(&served).header(index).unwrap().control.store(control::REFUSED | control::READY, Ordering::Relaxed);
        served.shut();
        assert_eq!(control_of(&served, index), 0);
    }

    #[test]
    fn a_packet_that_fell_out_of_the_stack_is_refused_when_the_buffer_is_closed() {
        let (_memory, served) = buffer(5);
        let [below, twice, above] = std::array::from_fn(|_| submit(&served, 2, 1));
        // Pushed again while it lies in the stack: its link leads to the one above it, and no link to the one below.
        let again = Held(map(&served).ready().load(Ordering::Relaxed) & !7 | u64::from(twice));
        stacks::push_ready(map(&served), again, || {});
        let mut found = swept(&served);
        found.sort_unstable();
        let mut reachable = [twice, above];
        reachable.sort_unstable();
        assert_eq!(found, reachable, "nothing leads to the lowest");
        answer(&served, twice);
        assert_eq!(control_of(&served, below), control::READY | control::TELL);
        served.shut();
        assert_eq!([below, twice, above].map(|index| control_of(&served, index)), [control::REFUSED, 0, control::REFUSED]);
    }

    #[test]
    fn a_client_that_pushes_after_the_end_is_refused_once_even_if_its_packet_was_ready_before() {
        let (_memory, served) = buffer(2);
        let map = map(&served);
        let held = stacks::pop_free(map, || {}).unwrap();
        let header = map.header(held.index(map) as u32).unwrap();
        // Between saying that it is ready and pushing it.
        header.control.store(control::READY | control::TELL, Ordering::Relaxed);
        served.shut();
        assert_eq!(header.control.load(Ordering::Relaxed), control::REFUSED);
        served.push(map, held, || {});
        assert_eq!(map.ready().load(Ordering::Relaxed), 0, "nothing stays on the stack for who is served next");
        assert_eq!(header.control.load(Ordering::Relaxed), control::REFUSED);
        // A device says so again. The client that looks asks who is to answer.
        header.control.store(control::READY | control::TELL, Ordering::Relaxed);
        served.refuse_if_over(held.index(map) as u32);
        assert_eq!(header.control.load(Ordering::Relaxed), control::REFUSED);
    }

    #[test]
    fn a_wave_that_pushes_while_the_buffer_is_closed_is_refused() {
        let (_memory, served) = buffer(2);
        let map = map(&served);
        for _ in 0..50 {
            let held = stacks::pop_free(map, || {}).unwrap();
            let header = map.header(held.index(map) as u32).unwrap();
            header.control.store(control::READY | control::TELL, Ordering::Relaxed);
            let served = Served::new(Memory::Stacks(*map));
            std::thread::scope(|scope| {
                scope.spawn(|| served.shut());
                stacks::push_ready(map, held, || {});
            });
            // It came in time, or so late that only its header was seen.
            assert_eq!(header.control.load(Ordering::Relaxed), control::REFUSED);
            map.ready().store(0, Ordering::Relaxed);
            stacks::give_back(map, held, || {});
        }
    }

    #[test]
    fn only_words_that_a_handler_changed_are_written() {
        let (_memory, served) = buffer(1);
        let index = submit(&served, 2, 0b101);
        let payload = map(&served).payload(index).unwrap();
        payload.lanes[0][0].store(5, Ordering::Relaxed);
        payload.lanes[1][0].store(6, Ordering::Relaxed);
        let mut call = Call::default();
        assert_eq!(served.step(None, true, false, &mut call, &mut Vec::new()), Some(index));
        call.lanes[0][0] = 50;
        call.lanes[1][0] = 60;
        payload.lanes[2][7].store(99, Ordering::Relaxed);
        assert_eq!(served.step(Some(Done { index, refused: false }), false, false, &mut call, &mut Vec::new()), None);
        let words = [(0, 0), (1, 0), (2, 7)].map(|(lane, word)| payload.lanes[lane][word].load(Ordering::Relaxed));
        assert_eq!(words, [50, 6, 99], "lane 1 took no part, and word 7 of lane 2 was not the handler's");
        assert_eq!(control_of(&served, index), 0);
    }
}
