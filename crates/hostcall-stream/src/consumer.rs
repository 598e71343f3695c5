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
use crate::sites::Sites;
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
    pub(crate) sites: Arc<Sites>,
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
    pub(crate) fn new(
        registry: Registry,
        recording: Option<Recording>,
        dispatches: Arc<Dispatches>,
        sites: Arc<Sites>,
        modest: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            registry,
            recording,
            dispatches,
            sites,
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
mod tests;
