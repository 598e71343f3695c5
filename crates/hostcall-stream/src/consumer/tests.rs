//! One reading thread, over rings in host memory that the tests write.

use super::*;
use crate::batch::Origin;
use crate::counts::{StreamCounts, Summary};
use crate::file::{self, Program, Recording};
use crate::handler::{Each, TypedChain};
use crate::memory::Sizes;
use crate::schema::Schema;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::Group;
use hostcall_abi::stream::unit::{LATEST, Position};
use hostcall_abi::stream::{
    Access, Bounds, Counter, Credit, From, GRANULE, Gate, Header, Kind, Place, Policy, RingLink, RingMemory, Sent, Subject, encode,
    send_latest,
};
use offload::{Device, SimConfig};

fn ring() -> (Arc<RingSet>, Arc<Shared>) {
    ring_of(std::iter::empty())
}

fn ring_of(streams: impl Iterator<Item = Registered>) -> (Arc<RingSet>, Arc<Shared>) {
    ring_with(streams, false, None)
}

/// A ring, and whether it has an area of the latest messages; what keeps its messages, too.
fn ring_with(streams: impl Iterator<Item = Registered>, latest: bool, recording: Option<Recording>) -> (Arc<RingSet>, Arc<Shared>) {
    let device = Device::sim(SimConfig::default()).expect("a simulator");
    let set = RingSet::new(&device, Sizes { rings_log2: 0, ring_log2: 10 }, 1, false, false, latest).expect("rings");
    let shared = Shared::new(Registry::new(streams), recording, Arc::default(), Arc::default(), true);
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
fn a_recording_has_the_messages_of_every_pass_over_memory_that_was_put_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.hcs");
    let recording = Recording::start(&path, 1).expect("a file");
    let program = Program {
        name: "p".into(),
        device: file::Device { number: 0, name: "invented".into(), kind: "sim".into() },
        wave_size: 32,
        first_ring: 0,
        rings: 1,
        streams: vec![(1, Schema::of::<Access>())],
        sites: Vec::new(),
    };
    assert_eq!(recording.program(program).expect("rings"), 0);
    let (set, shared) = ring_with([accesses(|_, _| {})].into_iter(), false, Some(recording));
    let mut consumer = Consumer::new(shared.clone(), 0, 1);
    let send = |consumer: &mut Consumer, mut at: u64, groups: std::ops::Range<u64>| {
        for group in groups {
            at = store(&set, at, 1, group, usize::MAX);
            consumer.look_once();
        }
        at
    };
    let begin = send(&mut consumer, 0, 0..5);
    let before = set.memory_now();
    // More than a lap of the ring, and less.
    for groups in [100..1300, 2000..2007, 3000..3001] {
        send(&mut consumer, begin, groups);
        set.put_back(&before);
        while consumer.rings[0].position() != begin {
            assert!(!consumer.look());
        }
    }
    let recording = shared.recording.as_ref().expect("one");
    let (messages, values) = (5 + 1200 + 7 + 1, 5 + 1200 + 7 + 1);
    let counts = StreamCounts { name: "access".into(), messages, values, ..StreamCounts::default() };
    recording.turn(0).flush();
    recording.end(&Summary { streams: vec![counts], ..Summary::default() });
    let mut reader = file::open(&path).expect("a recording");
    let (mut groups, mut behind) = (Vec::new(), 0);
    while let Some(message) = reader.next().expect("a recording that can be read") {
        // Places go on, whatever was put back.
        assert_eq!(message.position, behind);
        behind += u64::from(message.header.granules);
        groups.push(message.header.from.group);
    }
    assert!(reader.ending().is_some());
    assert_eq!(groups, (0..5).chain(100..1300).chain(2000..2007).chain([3000]).collect::<Vec<_>>());
}

#[test]
fn the_latest_messages_of_every_pass_over_memory_that_was_put_back_are_handed_on() {
    let received: Arc<Mutex<Vec<u64>>> = Arc::default();
    let theirs = received.clone();
    let stream = accesses(move |origin, _| theirs.lock().expect("no panic").push(origin.group));
    let (set, shared) = ring_with([stream].into_iter(), true, None);
    let mut consumer = Consumer::new(shared, 0, 1);
    let head = AtomicU64::new(0);
    let send = |group| {
        let wave = One { set: &set, head: &head, group };
        let subject = Subject { stream: 1, site: 0, policy: Policy::Latest, timed: false, values: 1, live: false, weight: 0 };
        assert_eq!(send_latest(wave, &Group::new(1, 0), subject, &[7 << 29 | 5, 3, 0]), Sent::Sent);
    };
    let mut recalled = || {
        set.recall();
        consumer.look_once();
        std::mem::take(&mut *received.lock().expect("no panic"))
    };
    send(1);
    assert_eq!(recalled(), [1]);
    let (before, begin) = (set.memory_now(), head.load(Ordering::Relaxed));
    for pass in [10, 20, 30] {
        (pass..pass + 3).for_each(send);
        assert_eq!(recalled(), [pass, pass + 1, pass + 2], "of this pass, and each once");
        set.put_back(&before);
        // The device's head is put back, too.
        head.store(begin, Ordering::Relaxed);
        assert!(recalled().is_empty(), "what lies there was handed on before the passes");
    }
    // A pass that was asked about before it ended, and then says the same again: each message once.
    for _ in 0..2 {
        send(40);
        head.store(begin, Ordering::Relaxed);
    }
    assert_eq!(recalled(), [40]);
}

/// A wave of one lane, which stores into the area of the latest messages at once.
#[derive(Clone, Copy)]
struct One<'a> {
    set: &'a RingSet,
    head: &'a AtomicU64,
    group: u64,
}

impl Lanes for One<'_> {
    fn lane(self) -> u32 {
        0
    }
    fn ballot(self, _: u64, predicate: bool) -> u64 {
        predicate.into()
    }
    fn broadcast(self, _: u64, value: u32, _: u32) -> u32 {
        value
    }
    fn sync(self, _: u64) {}
    fn pause(self, _: u32) {}
    fn now_ns(self) -> u64 {
        0
    }
}

impl RingLink for One<'_> {
    fn ring_log2(self) -> u32 {
        self.set.sizes().ring_log2
    }
    fn is_wide(self) -> bool {
        false
    }
    fn from(self) -> From {
        From { group: self.group, ..From::default() }
    }
    fn head(self) -> u32 {
        0
    }
    fn reserve(self, _: u32) -> u32 {
        unreachable!("its messages go into the area")
    }
    fn reserve_latest(self, granules: u32) -> u32 {
        self.head.fetch_add(granules.into(), Ordering::Relaxed) as u32
    }
    fn credit(self) -> Credit {
        Credit::default()
    }
    fn learn(self) {}
    fn gate(self, _: u32) -> Gate {
        unreachable!("its stream asks none")
    }
    fn bounds(self, _: u32) -> Bounds {
        unreachable!("its stream asks none")
    }
    fn place(self) -> Place {
        Place { group: [0; 3], lane: [0; 3] }
    }
    fn dice(self) -> u32 {
        0
    }
    fn count(self, _: u32, _: Counter) {}
    fn store(self, unit: u32, value: u32) {
        self.set.latest(0).expect("an area").repair(unit & !LATEST, value);
    }
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
