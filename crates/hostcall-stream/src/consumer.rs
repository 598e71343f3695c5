//! The threads that read rings.
//!
//! A ring belongs to one thread, which walks it in order, and copies each message out. What it has found in all its rings it hands on in batches, each of
//! one stream. While kernels are in flight and nothing arrives, a thread sleeps longer and longer. With none in flight it parks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use hostcall_abi::stream::{Credit, Found, Packet, Reader};

use crate::batch::{Head, Pending};
use crate::file::{Recording, Turn};
use crate::handler::Part;
use crate::memory::RingSet;
use crate::registry::{Registered, Registry};

/// Messages that are taken from a ring before the next ring has its turn.
const TURN: usize = 128;
/// How long a thread looks at its rings without a pause when nothing arrives.
const EAGER: Duration = Duration::from_micros(500);
/// The longest pause between two looks. Rings hold what arrives meanwhile: at a bus's full speed 64 MiB are filled in a millisecond.
const NAP: Duration = Duration::from_micros(100);

/// What the threads share with one another and with those who wait for them.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) registry: Registry,
    /// Where all messages are kept, too.
    pub(crate) recording: Option<Recording>,
    /// Whether the simulator's kernels want the processors, too.
    modest: bool,
    rings: Mutex<Vec<Arc<RingSet>>>,
    /// How often `rings` has changed.
    generation: AtomicU64,
    /// Kernels are in flight, or somebody waits.
    awake: AtomicU64,
    ended: AtomicBool,
    threads: Mutex<Vec<Thread>>,
    /// Looks at all rings so far that found nothing, by thread; for who waits although nobody knows for what.
    idle_looks: Vec<AtomicU64>,
    pub(crate) torn: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) handler_panics: AtomicU64,
}

impl Shared {
    pub(crate) fn new(registry: Registry, recording: Option<Recording>, threads: usize, modest: bool) -> Arc<Self> {
        Arc::new(Self {
            registry,
            recording,
            modest,
            rings: Mutex::default(),
            generation: AtomicU64::new(0),
            awake: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            threads: Mutex::default(),
            idle_looks: (0..threads).map(|_| AtomicU64::new(0)).collect(),
            torn: AtomicU64::new(0),
            malformed: AtomicU64::new(0),
            handler_panics: AtomicU64::new(0),
        })
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

    fn wake(&self) {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(Thread::unpark);
    }

    /// Waits until every thread has looked at all its rings twice and found nothing: as long as kernels send, those of other devices included. The caller
    /// has [armed](Shared::arm) the threads.
    pub(crate) fn wait_until_idle(&self) {
        // Pairs with the additions in `Consumer::run`: what was handed on before is seen.
        let looks = || self.idle_looks.iter().map(|looks| looks.load(Ordering::Acquire)).collect::<Vec<_>>();
        let before = looks();
        while looks().iter().zip(&before).any(|(now, before)| now - before < 2) {
            std::thread::sleep(NAP);
        }
    }
}

/// One ring as its thread has it.
struct Owned {
    set: Arc<RingSet>,
    ring: usize,
    device: u32,
    reader: Box<Reader>,
    /// The device says that more has been reserved than can be. What it stores is no longer looked at; this is how far it is skipped.
    spoiled: Option<u64>,
}

/// What a thread has of a stream.
struct Slot {
    stream: Arc<Registered>,
    /// Units of a value.
    units: u32,
    /// `None`: it has no handlers.
    part: Option<Box<dyn Part>>,
    pending: Pending,
    messages: u64,
    values: u64,
}

/// One thread.
pub(crate) struct Consumer {
    shared: Arc<Shared>,
    index: usize,
    threads: usize,
    generation: u64,
    rings: Vec<Owned>,
    /// Rings that the thread has, in its sets' order.
    adopted: usize,
    slots: Vec<Slot>,
}

impl Consumer {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, threads: usize) -> Self {
        let mut consumer = Self { shared, index, threads, generation: 0, rings: Vec::new(), adopted: 0, slots: Vec::new() };
        consumer.learn();
        consumer
    }

    /// Reads until [`Shared::end`].
    pub(crate) fn run(mut self) {
        let mut last = Instant::now();
        let mut looks = 0u32;
        let mut last_granule = None;
        loop {
            self.adopt();
            // Before the look: what was there when the end was said is read.
            // Pairs with the store in `Shared::end`.
            let ended = self.shared.ended.load(Ordering::SeqCst);
            if ended && last_granule.is_none() {
                last_granule = Some(self.granules() + self.room());
            }
            // A device that keeps no rule may write for ever; honest waves have been told, and their rings hold no more than this.
            let overdue = last_granule.is_some_and(|last| self.granules() > last);
            if self.look() && !overdue {
                looks = 0;
                continue;
            }
            // Release pairs with the acquire in `wait_until_idle`.
            self.shared.idle_looks[self.index].fetch_add(1, Ordering::Release);
            if ended {
                return;
            }
            if !self.shared.is_awake() {
                self.flush_recording();
                std::thread::park();
                last = Instant::now();
                continue;
            }
            looks += 1;
            if looks == 1 {
                last = Instant::now();
            }
            self.pause(looks, last);
        }
    }

    /// Takes its parts of streams that have come.
    fn learn(&mut self) {
        let slot = |stream: &Arc<Registered>| Slot {
            stream: stream.clone(),
            units: stream.schema.units(),
            part: stream.chain.as_ref().map(|chain| chain.thread()),
            pending: Pending::default(),
            messages: 0,
            values: 0,
        };
        let streams = self.shared.registry.all();
        self.slots.extend(streams[self.slots.len()..].iter().map(slot));
    }

    /// Granules that have been read, of all rings.
    fn granules(&self) -> u64 {
        self.rings.iter().map(|owned| owned.reader.position()).sum()
    }

    /// Granules that the rings hold.
    fn room(&self) -> u64 {
        self.rings.iter().map(|owned| 1 << owned.set.sizes().ring_log2).sum()
    }

    /// Reads all that is there.
    pub(crate) fn look_once(&mut self) {
        self.adopt();
        while self.look() {}
    }

    /// Takes its share of rings that have come.
    fn adopt(&mut self) {
        // Pairs with the addition in `Shared::add`.
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation == self.generation {
            return;
        }
        self.generation = generation;
        let sets = self.shared.rings();
        for set in &sets[self.adopted..] {
            for ring in (self.index..set.sizes().rings()).step_by(self.threads) {
                let reader = Box::new(Reader::new(set.sizes().ring_log2, set.is_wide()));
                self.rings.push(Owned { set: set.clone(), ring, device: set.device().info().ordinal, reader, spoiled: None });
            }
        }
        self.adopted = sets.len();
        // Behind the rings: their streams came before them.
        self.learn();
    }

    /// What is recorded so far is to be written, before a sleep.
    fn flush_recording(&self) {
        if let Some(recording) = &self.shared.recording {
            recording.turn(self.index).flush();
        }
    }

    fn pause(&self, looks: u32, since: Instant) {
        if self.shared.modest {
            // Kernels of the simulator run on the same processors.
            if looks < 4 {
                return std::thread::yield_now();
            }
            self.flush_recording();
            return std::thread::sleep(NAP);
        }
        if looks.is_multiple_of(64) && since.elapsed() > EAGER {
            self.flush_recording();
            return std::thread::sleep(NAP);
        }
        std::hint::spin_loop();
    }

    /// Looks at all rings once, and hands on what was there. Whether anything was.
    fn look(&mut self) -> bool {
        let mut found = false;
        // What has come since the last look is in no cache of this processor.
        self.rings.iter().for_each(|owned| owned.reader.prefetch(&owned.set.ring(owned.ring)));
        let mut recording = self.shared.recording.as_ref().map(|recording| recording.turn(self.index));
        for owned in &mut self.rings {
            found |= owned.read(&self.shared, &mut self.slots, recording.as_mut());
        }
        drop(recording);
        if !found {
            return false;
        }
        for slot in &mut self.slots {
            if slot.messages > 0 {
                slot.flush(&self.shared);
                slot.stream.count(std::mem::take(&mut slot.messages), std::mem::take(&mut slot.values));
            }
        }
        for Owned { set, ring, reader, spoiled, .. } in &self.rings {
            set.progress()[*ring].advance(spoiled.unwrap_or(reader.position()));
        }
        true
    }
}

impl Owned {
    /// Reads a ring, as long as messages are there. Whether one was.
    fn read(&mut self, shared: &Shared, slots: &mut [Slot], recording: Option<&mut Turn<'_>>) -> bool {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            /// The same code with more of the processor's instructions.
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn read_avx2(owned: &mut Owned, shared: &Shared, slots: &mut [Slot], recording: Option<&mut Turn<'_>>) -> bool {
                owned.read_with(shared, slots, recording)
            }
            // SAFETY: the processor has these instructions.
            return unsafe { read_avx2(self, shared, slots, recording) };
        }
        self.read_with(shared, slots, recording)
    }

    #[inline(always)]
    fn read_with(&mut self, shared: &Shared, slots: &mut [Slot], mut recording: Option<&mut Turn<'_>>) -> bool {
        let Self { set, ring, device, reader, spoiled } = self;
        if let Some(skipped) = spoiled {
            return skip(skipped, set.progress()[*ring].end());
        }
        let view = set.ring(*ring);
        let before = reader.position();
        for _ in 0..TURN {
            let position = reader.position();
            let units = |stream: u32| slots.get((stream as usize).wrapping_sub(1)).map(|slot| slot.units);
            match reader.next(&view, units) {
                Found::Packet(packet) => {
                    if let Some(recording) = &mut recording {
                        recording.push(set.first_ring() + *ring as u32, position, &packet);
                    }
                    let slot = &mut slots[packet.header.stream as usize - 1];
                    slot.take(&packet, *device);
                    if slot.pending.is_full() {
                        slot.flush(shared);
                    }
                }
                Found::Malformed => {
                    // Relaxed: counted before `advance`.
                    shared.malformed.fetch_add(1, Ordering::Relaxed);
                }
                Found::Absent | Found::Partial => {
                    let Some(head) = set.progress()[*ring].end().filter(|head| *head != reader.position() as u32) else { break };
                    // No kernel runs, so it will never be whole.
                    // Relaxed: as above.
                    shared.torn.fetch_add(1, Ordering::Relaxed);
                    if head.wrapping_sub(reader.position() as u32) > set.most_reserved() {
                        return skip(spoiled.insert(reader.position()), Some(head));
                    }
                    reader.give_up(&view, head, units);
                }
            }
            if let Some(credit) = reader.credit(false) {
                set.tell(*ring, Credit { freed: credit as u32, closed: 0 });
            }
        }
        reader.position() != before
    }
}

/// Goes on in a ring that is no longer read to what the device says has been reserved, if anybody waits for it. Whether that is any further.
fn skip(skipped: &mut u64, end: Option<u32>) -> bool {
    let by = end.map_or(0, |head| head.wrapping_sub(*skipped as u32));
    *skipped += u64::from(by);
    by > 0
}

/// Whether the processor has AVX2 and what came with it.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

impl Slot {
    #[inline(always)]
    fn take(&mut self, packet: &Packet<'_>, device: u32) {
        let head = Head { header: packet.header, device, after_gap: packet.after_gap, first: 0 };
        self.messages += 1;
        self.values += u64::from(head.values());
        if self.part.is_none() {
            return;
        }
        let units = (packet.rows() * packet.units()) as usize;
        packet.copy_rows(self.pending.push(head, units));
    }

    fn flush(&mut self, shared: &Shared) {
        let (Some(part), false) = (&mut self.part, self.pending.is_empty()) else { return };
        let pending = &mut self.pending;
        if catch_unwind(AssertUnwindSafe(|| part.flush(pending))).is_err() {
            // Relaxed: counted before `advance`.
            shared.handler_panics.fetch_add(1, Ordering::Relaxed);
            self.pending.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Sizes;
    use offload::{Device, SimConfig};

    fn ring() -> (Arc<RingSet>, Arc<Shared>) {
        let device = Device::sim(SimConfig::default()).expect("a simulator");
        let set = RingSet::new(&device, Sizes { rings_log2: 0, ring_log2: 10 }, 1, false).expect("rings");
        let shared = Shared::new(Registry::new(std::iter::empty()), None, 1, true);
        let set = Arc::new(set);
        shared.add(set.clone());
        (set, shared)
    }

    fn torn(shared: &Shared) -> u64 {
        shared.torn.load(Ordering::Relaxed)
    }

    #[test]
    fn a_head_that_cannot_be_is_skipped_at_once_and_so_are_later_ones() {
        let (set, shared) = ring();
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        for head in [1 << 31, 3, u32::MAX] {
            set.progress()[0].set_end(Some(head));
            consumer.look_once();
            assert!(set.progress()[0].has_reached(head), "{head}");
            set.progress()[0].set_end(None);
            assert_eq!(torn(&shared), 1, "the ring is spoiled once");
        }
    }

    #[test]
    fn what_waves_left_behind_is_given_up_granule_by_granule() {
        let (set, shared) = ring();
        let mut consumer = Consumer::new(shared.clone(), 0, 1);
        let head = set.most_reserved();
        set.progress()[0].set_end(Some(head));
        consumer.look_once();
        assert!(set.progress()[0].has_reached(head));
        assert_eq!(torn(&shared), u64::from(head), "nothing says how long messages were");
    }
}
