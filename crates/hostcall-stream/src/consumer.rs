//! The threads that read rings.
//!
//! A ring belongs to one thread, which walks it in order, and copies each message out. What it has found in all its
//! rings it hands on in batches, each of one stream. While kernels are in flight and nothing arrives, a thread sleeps
//! longer and longer. With none in flight it parks; where a program of its rings may be launched by others, of which
//! nobody tells, it keeps a heartbeat instead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use hostcall_abi::stream::{Counters, Packet, Rows};
use offload::host::{PutBack, Verdict};

use crate::batch::{Head, Pending};
use crate::counts::StreamCounts;
use crate::dispatch::{Dispatch, Dispatches, Look};
use crate::file::Recording;
use crate::handler::Part;
use crate::latest::Area;
use crate::memory::RingSet;
use crate::registry::{Registered, Registry, numbered};
use crate::rest::{Rest, Senders};
use crate::ring::Owned;
use crate::view::Eye;

/// Rings that are looked at together.
const EYES: usize = u64::BITS as usize;

/// What the threads share with one another and with those who wait for them.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) registry: Registry,
    /// Where all messages are kept, too.
    pub(crate) recording: Option<Recording>,
    pub(crate) dispatches: Arc<Dispatches>,
    /// Whether the simulator's kernels want the processors, too.
    modest: bool,
    rings: Mutex<Vec<Arc<RingSet>>>,
    /// How often `rings` has changed.
    generation: AtomicU64,
    /// Kernels are in flight, or somebody waits.
    awake: AtomicU64,
    ended: AtomicBool,
    threads: Mutex<Vec<Thread>>,
    pub(crate) torn: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) handler_panics: AtomicU64,
    /// What the devices had counted when somebody waited last, and whether one could not be asked.
    pub(crate) counted: Mutex<(Vec<Counters>, bool)>,
}

impl Shared {
    pub(crate) fn new(registry: Registry, recording: Option<Recording>, dispatches: Arc<Dispatches>, modest: bool) -> Arc<Self> {
        Arc::new(Self {
            registry,
            recording,
            dispatches,
            modest,
            rings: Mutex::default(),
            generation: AtomicU64::new(0),
            awake: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            threads: Mutex::default(),
            torn: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
            handler_panics: AtomicU64::new(0),
            counted: Mutex::default(),
        })
    }

    /// What has been counted for each stream, and whether a device could not be asked. What devices count is known
    /// since somebody waited last.
    pub(crate) fn counts(&self) -> (Vec<StreamCounts>, bool) {
        let (counted, end_unknown) = &*self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |(number, stream): (u32, &Registered)| {
            let counters = counted.get(number as usize - 1).copied().unwrap_or_default();
            // Relaxed: whoever wants all of them has asked `Progress::has_reached` before.
            let messages = stream.messages.load(Ordering::Relaxed);
            StreamCounts {
                name: stream.schema.name.clone(),
                messages,
                values: stream.values.load(Ordering::Relaxed),
                dropped: counters.dropped,
                waited: counters.waited,
                filtered: counters.filtered,
                // (More have been received than sent where some are sent since the device was asked, or it lies.)
                overwritten: counters.sent.saturating_sub(messages),
                unhandled: stream.unhandled.load(Ordering::Relaxed),
            }
        };
        (numbered(&self.registry.all()).map(of).collect(), *end_unknown)
    }

    /// The rings that are read.
    pub(crate) fn rings(&self) -> Vec<Arc<RingSet>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads rings from now on.
    pub(crate) fn add(&self, set: Arc<RingSet>) {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner).push(set);
        // Release pairs with the acquire in `Consumer::adopt`.
        self.generation.fetch_add(1, Ordering::Release);
        self.wake();
    }

    /// One more reason to look at rings.
    pub(crate) fn arm(&self) {
        // Pairs with `is_awake`; before the threads are woken.
        self.awake.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// One reason less.
    pub(crate) fn disarm(&self) {
        // Pairs with `is_awake`.
        self.awake.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_awake(&self) -> bool {
        // Pairs with `arm` and `disarm`.
        self.awake.load(Ordering::SeqCst) > 0
    }

    /// The threads read what is there, and end.
    pub(crate) fn end(&self) {
        // Pairs with the load in `Consumer::run`; before the threads are woken.
        self.ended.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub(crate) fn started(&self, thread: Thread) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    pub(crate) fn wake(&self) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
    }
}

/// What a thread has of a stream.
pub(crate) struct Slot {
    stream: Arc<Registered>,
    /// Units of a value; 0: messages are of bytes.
    units: u32,
    /// `None`: it has no handlers.
    part: Option<Box<dyn Part>>,
    /// Whether somebody takes or keeps its messages.
    taken: bool,
    pending: Pending,
    messages: u64,
    values: u64,
    /// Messages that nobody handled.
    unhandled: u64,
}

/// One thread.
pub(crate) struct Consumer {
    shared: Arc<Shared>,
    index: usize,
    threads: usize,
    generation: u64,
    /// Those of which it has rings, and rings.
    sets: Vec<Arc<RingSet>>,
    rings: Vec<Owned>,
    /// Areas of the latest messages of those of them that have one.
    areas: Vec<Area>,
    /// Where the next message of each ring begins.
    eyes: Vec<Eye>,
    /// Of which rings something was read in a look.
    moved: Vec<usize>,
    /// The last of them.
    last: Option<usize>,
    put_back: PutBack,
    look: Look,
    slots: Vec<Slot>,
}

impl Consumer {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, threads: usize) -> Self {
        let mut consumer = Self {
            look: shared.dispatches.look(),
            shared,
            index,
            threads,
            generation: 0,
            sets: Vec::new(),
            rings: Vec::new(),
            areas: Vec::new(),
            eyes: Vec::new(),
            moved: Vec::new(),
            last: None,
            put_back: PutBack::default(),
            slots: Vec::new(),
        };
        consumer.learn();
        consumer
    }

    /// Reads until [`Shared::end`].
    pub(crate) fn run(mut self) {
        let mut rest = Rest::new(self.shared.modest, self.threads);
        let mut last_granule = None;
        loop {
            self.adopt();
            // Before the look: what was there when the end was said is read.
            // Pairs with the store in `Shared::end`.
            let ended = self.shared.ended.load(Ordering::SeqCst);
            if ended && last_granule.is_none() {
                last_granule = Some(self.granules() + self.room());
            }
            // A device that keeps no rule may write for ever; honest waves have been told, and their rings hold no more
            // than this.
            let overdue = last_granule.is_some_and(|last| self.granules() > last);
            if self.look() && !overdue {
                rest.end();
                continue;
            }
            if ended {
                return;
            }
            rest.rest(self.senders(), || self.flush_recording());
        }
    }

    /// Takes its parts of streams that have come.
    fn learn(&mut self) {
        let slot = |stream: &Arc<Registered>| Slot {
            stream: stream.clone(),
            units: stream.schema.units(),
            part: stream.part(),
            taken: stream.is_taken() || self.shared.recording.is_some(),
            pending: Pending::default(),
            messages: 0,
            values: 0,
            unhandled: 0,
        };
        let streams = self.shared.registry.all();
        self.slots.extend(streams[self.slots.len()..].iter().map(slot));
    }

    /// Granules that have been read, of all rings.
    fn granules(&self) -> u64 {
        self.rings.iter().map(|owned| owned.position()).sum()
    }

    /// Granules that the rings hold.
    fn room(&self) -> u64 {
        self.rings.iter().map(|owned| owned.granules()).sum()
    }

    /// Reads all that is there.
    pub(crate) fn look_once(&mut self) {
        self.adopt();
        while self.look() {}
    }

    /// Takes its share of rings that have come.
    pub(crate) fn adopt(&mut self) {
        // Pairs with the addition in `Shared::add`.
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation == self.generation {
            return;
        }
        self.generation = generation;
        let sets = self.shared.rings();
        for set in &sets[self.sets.len()..] {
            let own = (self.index..set.sizes().rings()).step_by(self.threads);
            self.areas.extend(own.clone().filter_map(|ring| Area::new(set, ring)));
            self.rings.extend(own.map(|ring| Owned::new(set.clone(), ring)));
        }
        self.sets = sets;
        self.eyes = self.rings.iter().map(Owned::eye).collect();
        // Behind the rings: their streams came before them.
        self.learn();
    }

    /// What is known of kernels that may send to its rings.
    fn senders(&self) -> Senders {
        if self.shared.is_awake() {
            Senders::InFlight
        } else if self.sets.iter().any(|set| set.is_launched_elsewhere()) {
            Senders::Elsewhere
        } else {
            Senders::None
        }
    }

    /// What is recorded so far is to be written, before a sleep.
    fn flush_recording(&self) {
        if let Some(recording) = &self.shared.recording {
            recording.turn(self.index).flush();
        }
    }

    /// Looks at all rings once, and hands on what was there. Whether anything was.
    fn look(&mut self) -> bool {
        match self.last {
            Some(ring) if self.rings[ring].is_put_back() => {
                if !self.follow(ring) {
                    return false;
                }
            }
            _ => self.put_back.end(),
        }
        // Before the rings are looked at.
        let epoch = self.shared.dispatches.epoch();
        // Where no kernel runs, what is missing counts as well.
        let ending = self.sets.iter().any(|set| set.is_ending());
        let mut recording = None;
        for (first, eyes) in (0..).step_by(EYES).zip(self.eyes.chunks_mut(EYES)) {
            // All at once: what has come since the last look is in no cache of this processor.
            let mut news = if ending {
                u64::MAX >> (EYES - eyes.len())
            } else {
                // SAFETY: `sets` keeps them.
                unsafe { Eye::see(eyes) }
            };
            if epoch != self.look.seen() {
                let quiet = |at: &usize| news >> at & 1 == 0;
                (0..eyes.len()).filter(quiet).for_each(|at| self.rings[first + at].see(epoch));
            }
            while news != 0 {
                let at = news.trailing_zeros() as usize;
                news &= news - 1;
                let owned = &mut self.rings[first + at];
                let recording = self.shared.recording.as_ref().map(|shared| recording.get_or_insert_with(|| shared.turn(self.index)));
                owned.begin();
                if owned.read(&self.shared, &mut Slots(&mut self.slots), recording) {
                    self.moved.push(first + at);
                    eyes[at] = owned.eye();
                }
                if owned.is_dry() {
                    owned.see(epoch);
                }
            }
        }
        let recalled = self.areas.iter().any(Area::is_wanted);
        for area in self.areas.iter_mut().filter(|_| recalled) {
            let recording = self.shared.recording.as_ref().map(|shared| recording.get_or_insert_with(|| shared.turn(self.index)));
            area.read(&self.shared, &mut Slots(&mut self.slots), recording);
        }
        drop(recording);
        if self.moved.is_empty() && !recalled {
            self.tell_seen(epoch);
            return false;
        }
        for slot in &mut self.slots {
            slot.flush(&self.shared);
            if slot.messages > 0 {
                let messages = std::mem::take(&mut slot.messages);
                let unhandled = if slot.taken { std::mem::take(&mut slot.unhandled) } else { messages };
                slot.stream.count(messages, std::mem::take(&mut slot.values), unhandled);
            }
        }
        self.last = self.moved.last().copied().or(self.last);
        self.moved.drain(..).for_each(|ring| self.rings[ring].advance());
        if recalled {
            self.areas.iter().for_each(Area::answer);
        }
        self.tell_seen(epoch);
        true
    }

    /// Follows rings whose memory is put back, as soon as nobody writes it any more: whether that is so.
    #[cold]
    fn follow(&mut self, last: usize) -> bool {
        // A device that writes marks keeps nobody from the end. Pairs with the store in `Shared::end`.
        let ended = self.shared.ended.load(Ordering::SeqCst);
        let verdict = if ended { Verdict::Restore } else { self.put_back.look(self.rings[last].is_all_put_back()) };
        if verdict == Verdict::Wait {
            return false;
        }
        for (owned, eye) in self.rings.iter_mut().zip(&mut self.eyes) {
            if verdict == Verdict::Follow {
                owned.follow();
                *eye = owned.eye();
            }
            owned.mark();
            owned.advance();
        }
        true
    }

    /// Says which epoch has been seen of all rings, behind the handlers.
    #[inline(always)]
    fn tell_seen(&self, epoch: u64) {
        if self.look.seen() != epoch {
            self.look.has_seen(self.rings.iter().map(Owned::seen).min().unwrap_or(epoch));
        }
    }
}

/// What a thread has of all streams, by number.
pub(crate) struct Slots<'a>(&'a mut [Slot]);

impl Slots<'_> {
    /// That of a stream that there is.
    #[inline(always)]
    pub(crate) fn of(&mut self, stream: u32) -> &mut Slot {
        &mut self.0[stream as usize - 1]
    }
}

impl Rows for Slots<'_> {
    #[inline(always)]
    fn units(&self, stream: u32) -> Option<u32> {
        self.0.get((stream as usize).wrapping_sub(1)).map(|slot| slot.units)
    }

    #[inline(always)]
    fn room(&mut self, stream: u32, units: usize) -> &mut [u32] {
        self.of(stream).pending.room(units)
    }
}

impl Slot {
    /// Takes a message of a device and a launch that has been copied.
    #[inline(always)]
    pub(crate) fn take(&mut self, packet: &Packet<'_>, device: u32, dispatch: Dispatch, shared: &Shared) {
        let values = packet.header.mask.count_ones() * packet.header.values;
        if self.part.is_none() {
            self.messages += 1;
            self.values += u64::from(values);
            return;
        }
        let head = Head::raw(packet.raw_header(), device, packet.after_gap);
        if let Some(length) = packet.bytes() {
            self.pending.push_bytes(packet, length, head, dispatch);
            if self.pending.is_full() {
                self.flush(shared);
            }
            return;
        }
        let units = (packet.rows() * packet.units()) as usize;
        packet.copy_rows(self.pending.room(units));
        self.push(head, dispatch, values, units, shared);
    }

    /// Takes a message whose rows are in the room that was asked for last.
    #[inline(always)]
    pub(crate) fn push(&mut self, head: Head, dispatch: Dispatch, values: u32, units: usize, shared: &Shared) {
        self.pending.push(head, dispatch, values, units);
        if self.pending.is_full() {
            self.flush(shared);
        }
    }

    /// Hands on what is pending.
    fn flush(&mut self, shared: &Shared) {
        let pending = &mut self.pending;
        if pending.is_empty() {
            return;
        }
        let (messages, values) = pending.counts();
        self.messages += messages;
        self.values += values;
        if let Some(part) = &mut self.part
            && catch_unwind(AssertUnwindSafe(|| part.flush(pending))).is_err()
        {
            // Relaxed: counted before `advance`.
            shared.handler_panics.fetch_add(1, Ordering::Relaxed);
            self.unhandled += messages;
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Origin;
    use crate::handler::{Each, TypedChain};
    use crate::memory::Sizes;
    use crate::schema::Schema;
    use hostcall_abi::stream::unit::Position;
    use hostcall_abi::stream::{Access, From, GRANULE, Header, Kind, RingMemory, encode};
    use offload::{Device, SimConfig};

    fn ring() -> (Arc<RingSet>, Arc<Shared>) {
        ring_of(std::iter::empty())
    }

    fn ring_of(streams: impl Iterator<Item = Registered>) -> (Arc<RingSet>, Arc<Shared>) {
        let device = Device::sim(SimConfig::default()).expect("a simulator");
        let set = RingSet::new(&device, Sizes { rings_log2: 0, ring_log2: 10 }, 1, false, false, false).expect("rings");
        let shared = Shared::new(Registry::new(streams), None, Arc::default(), true);
        let set = Arc::new(set);
        shared.add(set.clone());
        (set, shared)
    }

    /// Stream 1.
    fn accesses(handle: impl Fn(&Origin, &Access) + Send + Sync + 'static) -> Registered {
        let mut chain = TypedChain::new(Arc::default());
        chain.push(Each(handle));
        Registered { chain: Some(Box::new(chain)), ..Registered::recorded(Schema::of::<Access>(), &[]) }
    }

    /// Stores the first `part` units of a message of `lanes` lanes from a wave, as a device does, at `granule`; and
    /// where the next message begins.
    fn store(set: &RingSet, granule: u64, lanes: u32, wave: u64, part: usize) -> u64 {
        let (mut units, from) = ([0; 2048], From { group: wave, ..From::default() });
        let mask = u64::MAX >> (64 - lanes);
        let (kind, time) = (Kind::Rows, None);
        let header = Header { stream: 1, granules: 0, kind, mask, wide: false, site: 0, weight: 0, user: 0, values: 1, time, from };
        let length = encode(header, &vec![7 << 29 | 5; 2 * lanes as usize], &mut units).expect("a message");
        let at = Position::new(granule as u32, set.sizes().ring_log2);
        (0..).zip(&units[..length.min(part)]).for_each(|(i, unit)| set.ring(0).repair(at.unit(i), at.with_phase(i, *unit)));
        granule + length as u64 / u64::from(GRANULE)
    }

    #[test]
    fn behind_what_a_lost_device_left_unfinished_whole_messages_are_searched_for() {
        let received: Arc<Mutex<Vec<(u64, bool)>>> = Arc::default();
        let theirs = received.clone();
        let (set, shared) =
            ring_of([accesses(move |origin, _| theirs.lock().expect("no panic").push((origin.group, origin.after_gap)))].into_iter());
        let mut at = 0;
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        // Granules of those that are whole, those of which nothing was stored, a part, and all but one unit.
        for (lanes, part) in
            [(32, usize::MAX), (32, 0), (1, usize::MAX), (32, 20), (32, 79), (7, usize::MAX), (1, 0), (1, 15), (3, usize::MAX), (32, 40)]
        {
            at = store(&set, at, lanes, at, part);
        }
        set.lose();
        consumer.look_once();
        assert!(set.is_searched());
        let received = std::mem::take(&mut *received.lock().expect("no panic"));
        let groups: Vec<_> = received.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
        assert_eq!(groups, [(32, (0, false)), (1, (10, true)), (7, (21, true)), (3, (25, true))]);
        // Before each of the three, and the last.
        assert_eq!((torn(&shared), shared.malformed.load(Ordering::Relaxed)), (4, 0));
        // Nothing is searched twice.
        assert!(!consumer.look());
    }

    #[test]
    fn a_message_that_comes_just_before_the_end_is_said_is_read_and_not_given_up() {
        // Of which one in some ten thousand came just then; fewer where the machine is busy.
        const MESSAGES: u64 = 100_000;
        const LIMIT: std::time::Duration = std::time::Duration::from_secs(3);
        let received: Arc<Mutex<Vec<u64>>> = Arc::default();
        let theirs = received.clone();
        let (set, shared) = ring_of([accesses(move |origin, _| theirs.lock().expect("no panic").push(origin.group))].into_iter());
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        consumer.adopt();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Pairs with nothing: what it was told of has been read.
                while !over.load(Ordering::Relaxed) {
                    consumer.look();
                }
            });
            let (mut head, start) = (0, std::time::Instant::now());
            for group in 0..MESSAGES {
                if start.elapsed() > LIMIT {
                    break;
                }
                // The first lets the ring be read, where the second is not there yet.
                head = store(&set, head, 1, group, usize::MAX);
                head = store(&set, head, 1, group, usize::MAX);
                set.set_ends(Some(&[head as u32]));
                while !set.progress()[0].has_reached(head as u32) {
                    std::hint::spin_loop();
                }
                set.set_ends(None);
            }
            over.store(true, Ordering::Relaxed);
        });
        let received = received.lock().expect("no panic");
        let expected = (0..).flat_map(|group| [group; 2]).take(received.len());
        assert!(received.len() >= 2 && received.iter().copied().eq(expected), "messages are lost");
        assert_eq!((torn(&shared), shared.malformed.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn every_pass_over_memory_that_was_put_back_is_read() {
        let received: Arc<Mutex<Vec<u64>>> = Arc::default();
        let theirs = received.clone();
        let (set, shared) = ring_of([accesses(move |origin, _| theirs.lock().expect("no panic").push(origin.group))].into_iter());
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        // More than a lap of the ring before, and within each pass.
        let send = |consumer: &mut Consumer, mut at: u64, groups: std::ops::Range<u64>| {
            for group in groups {
                at = store(&set, at, 1, group, usize::MAX);
                consumer.look_once();
            }
            at
        };
        let begin = send(&mut consumer, 0, 0..700);
        let before = set.memory_now();
        for pass in 1..=3 {
            let groups = 1000 * pass..1000 * pass + 900;
            received.lock().expect("no panic").clear();
            send(&mut consumer, begin, groups.clone());
            assert_eq!(*received.lock().expect("no panic"), groups.collect::<Vec<_>>(), "pass {pass}");
            set.put_back(&before);
            // Nothing of the pass before is taken for the next one's.
            while consumer.rings[0].position() != begin {
                assert!(!consumer.look());
            }
        }
        assert_eq!((torn(&shared), shared.malformed.load(Ordering::Relaxed)), (0, 0));
        // Marks ahead are not believed, nor is one alone.
        for marks in [[u64::MAX; 2], [0, u64::MAX], [begin, 0]] {
            let position = consumer.rings[0].position();
            (0..2).for_each(|at| set.marks(0)[at].store(marks[at], Ordering::Relaxed));
            send(&mut consumer, position, 0..1);
            while consumer.rings[0].position() == position {
                consumer.look_once();
            }
        }
    }

    #[test]
    fn memory_that_is_put_back_while_messages_are_handled_is_followed_as_well() {
        const LAST: u64 = 99;
        let received: Arc<Mutex<Vec<u64>>> = Arc::default();
        type Tool = Box<dyn FnOnce() + Send>;
        let put_back: Arc<Mutex<Option<Tool>>> = Arc::default();
        let (theirs, tool) = (received.clone(), put_back.clone());
        let stream = accesses(move |origin, _| {
            theirs.lock().expect("no panic").push(origin.group);
            if origin.group == LAST
                && let Some(put_back) = tool.lock().expect("no panic").take()
            {
                put_back();
            }
        });
        let (set, shared) = ring_of([stream].into_iter());
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        let mut begin = store(&set, 0, 1, 1, usize::MAX);
        consumer.look_once();
        for pass in 0..3 {
            let before = set.memory_now();
            let of_tool = set.clone();
            *put_back.lock().expect("no panic") = Some(Box::new(move || of_tool.put_back(&before)));
            store(&set, begin, 1, LAST, usize::MAX);
            consumer.look_once();
            let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
            while consumer.rings[0].position() != begin {
                consumer.look();
                assert!(std::time::Instant::now() < until, "pass {pass}: the memory was put back, and is not followed");
            }
            begin = store(&set, begin, 1, 10 + pass, usize::MAX);
            consumer.look_once();
        }
        assert_eq!(*received.lock().expect("no panic"), [1, LAST, 10, LAST, 11, LAST, 12]);
        assert_eq!((torn(&shared), shared.malformed.load(Ordering::Relaxed)), (0, 0));
    }

    #[test]
    fn a_ring_whose_device_said_what_cannot_be_is_not_searched_when_the_device_is_lost() {
        let (set, shared) = ring();
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        set.set_ends(Some(&[1 << 31]));
        consumer.look_once();
        set.lose();
        consumer.look_once();
        assert!(set.is_searched() && torn(&shared) == 1);
    }

    #[test]
    fn who_ends_reads_no_more_than_the_rings_held_from_a_device_that_writes_for_ever() {
        // Each message that is handled brings another: the ring is never empty.
        let ring: Arc<std::sync::OnceLock<Arc<RingSet>>> = Arc::default();
        let (theirs, end) = (ring.clone(), AtomicU64::new(1000));
        let endless = accesses(move |_, _| {
            let at = end.fetch_add(1, Ordering::Relaxed);
            store(theirs.get().expect("the ring"), at, 1, 0, usize::MAX);
        });
        let (set, shared) = ring_of([endless].into_iter());
        ring.set(set.clone()).expect("once");
        (0..1000).for_each(|at| _ = store(&set, at, 1, 0, usize::MAX));
        shared.end();
        Consumer::new(shared.clone(), 0, 1).run();
        let received = shared.registry.all()[0].messages.load(Ordering::Relaxed);
        assert!((1000..=1024 + 2 * 128).contains(&received), "{received} messages from a ring of 1024 granules");
    }

    #[test]
    fn messages_of_a_batch_at_which_a_handler_panicked_are_those_that_nobody_handled() {
        let (set, shared) = ring_of([accesses(|origin, _| assert_ne!(origin.group, 1, "a handler's own"))].into_iter());
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        let mut at = 0;
        for wave in [0, 1, 2] {
            at = store(&set, at, 1, wave, usize::MAX);
            consumer.look_once();
        }
        let stream = &shared.registry.all()[0];
        let counted = [&stream.messages, &stream.unhandled, &shared.handler_panics].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counted, [3, 1, 1]);
    }

    #[test]
    fn messages_of_kernels_that_nobody_announces_are_handled_where_others_may_launch_the_program() {
        let (set, shared) = ring_of([accesses(|_, _| {})].into_iter());
        set.set_launched_elsewhere();
        let consumer = Consumer::new(shared.clone(), 0, 1);
        let thread = std::thread::spawn(move || consumer.run());
        shared.started(thread.thread().clone());
        let (mut at, begun) = (0, std::time::Instant::now());
        for launch in 1..=5 {
            // As long as threads stay awake, and longer.
            std::thread::sleep(std::time::Duration::from_millis(10 * launch));
            at = store(&set, at, 1, launch, usize::MAX);
            while shared.registry.all()[0].messages.load(Ordering::Relaxed) < launch {
                assert!(begun.elapsed().as_secs() < 60, "message {launch} is not handled");
                std::thread::yield_now();
            }
        }
        shared.end();
        thread.join().expect("no panic");
    }

    fn torn(shared: &Shared) -> u64 {
        shared.torn.load(Ordering::Relaxed)
    }

    #[test]
    fn a_head_that_cannot_be_is_skipped_at_once_and_so_are_later_ones() {
        let (set, shared) = ring();
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        for head in [1 << 31, 3, u32::MAX] {
            set.set_ends(Some(&[head]));
            consumer.look_once();
            assert!(set.progress()[0].has_reached(head), "{head}");
            set.set_ends(None);
            assert_eq!(torn(&shared), 1, "the ring is spoiled once");
        }
    }

    #[test]
    fn what_waves_left_behind_is_counted_as_messages_and_not_as_granules() {
        let (set, shared) = ring();
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        let head = set.most_reserved();
        set.set_ends(Some(&[head]));
        consumer.look_once();
        assert!(set.progress()[0].has_reached(head));
        assert_eq!(torn(&shared), 1, "nothing says how long it was, or whether it was one");
        // A later kernel's is another one.
        set.set_ends(Some(&[head + 9]));
        consumer.look_once();
        assert!(set.progress()[0].has_reached(head + 9));
        assert_eq!(torn(&shared), 2);
    }

    #[test]
    fn as_many_messages_are_torn_as_there_are_holes_between_whole_ones() {
        let (set, shared) = ring_of([accesses(|_, _| {})].into_iter());
        let (mut at, mut consumer) = (0, Consumer::new(shared.clone(), 0, 1));
        // Of 32 lanes and five granules: nothing, the middle of one; two whose lengths are known.
        let last_units = |set: &RingSet, at: u64| {
            let at = Position::new(at as u32, set.sizes().ring_log2);
            (40..60).for_each(|i| set.ring(0).repair(at.unit(i), at.with_phase(i, 5)));
        };
        for part in [usize::MAX, 0, usize::MAX, 20, 79, usize::MAX] {
            at = store(&set, at, 32, at, part);
        }
        last_units(&set, at);
        at = store(&set, at, 32, at, 0);
        at = store(&set, at, 1, at, usize::MAX);
        set.set_ends(Some(&[at as u32]));
        consumer.look_once();
        assert!(set.progress()[0].has_reached(at as u32));
        assert_eq!(shared.registry.all()[0].messages.load(Ordering::Relaxed), 4);
        assert_eq!((torn(&shared), shared.malformed.load(Ordering::Relaxed)), (4, 0));
    }
}
