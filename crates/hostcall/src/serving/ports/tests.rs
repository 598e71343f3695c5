use std::ptr::NonNull;

use hostcall_abi::Flags;

use super::*;
use crate::server::BufferHandle;
use crate::service::{Completion, Service};
use crate::serving::{PostBounds, unbegun};
use crate::test_utils::{MockDevice, definition, fixed_service};
use crate::wire::PortBuffer;

/// Ports that a test sweeps itself.
struct Ours {
    served: Arc<Served>,
    worker: Worker,
    device: MockDevice,
    /// What was noted, in order.
    noted: Arc<Mutex<Vec<u32>>>,
    /// Calls of `double`.
    doubled: Arc<AtomicU64>,
    /// What was kept.
    kept: std::sync::mpsc::Receiver<Completion>,
}

/// A service to which is posted, that notes what comes.
const NOTE: u16 = 1;
/// One that handles its posts later: never.
const KEEP: u16 = 2;
/// One that is called.
const DOUBLE: u16 = 3;

impl Ours {
    fn new(ports: u32, bounds: PostBounds) -> Self {
        let (noted, doubled, (keep, kept)) = (Arc::<Mutex<Vec<u32>>>::default(), Arc::new(AtomicU64::new(0)), std::sync::mpsc::channel());
        let (notes, doubles) = (noted.clone(), doubled.clone());
        let note = Service::new(definition::<u32>("note", None), move |call| {
            notes.lock().unwrap().push(call.fixed::<u32>()?);
            Ok(())
        });
        let keep = Service::deferred(definition::<u32>("keep", None), move |_, done| keep.send(done).unwrap());
        // Relaxed: read by the thread that sweeps.
        let double = fixed_service("double", move |x: u32| (doubles.fetch_add(1, Ordering::Relaxed), 2 * x).1);
        let core = unbegun([note, keep, double], 1, 0);
        let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(ports, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 1, bounds);
        let device = MockDevice::new(BufferHandle(served.clone()));
        Self { worker: Worker::new(core, 0), served, device, noted, doubled, kept }
    }

    /// Each turn ends behind the messages that were handled first, as when another program has come.
    fn with_short_turns(mut self) -> Self {
        self.worker.version = u64::MAX;
        self
    }

    fn sweep(&mut self) -> Swept {
        self.served.shares[0].sweep(&self.served, &mut self.worker, Audit::Few)
    }

    fn sweep_all(&mut self) -> Swept {
        self.served.shares[0].sweep(&self.served, &mut self.worker, Audit::Many(u32::MAX))
    }

    /// Sends the port's message number `nth`, of which those before it were posts of a word each, and rings.
    fn send(&self, port: u32, nth: u16, service: u16, value: u32) {
        self.device.raw().send(port, u32::from(nth) - 1, Tag::new(nth), service, Flags::default(), 1, &[value]);
    }

    fn ring(&self, port: u32, nth: u16) {
        self.device.raw().ring(port, Tag::new(nth).payload().into());
    }

    fn post(&self, port: u32, nth: u16, service: u16, value: u32) {
        self.send(port, nth, service, value);
        self.ring(port, nth);
    }

    fn noted(&self) -> Vec<u32> {
        std::mem::take(&mut *self.noted.lock().unwrap())
    }

    fn ask_for_drain(&self) -> u64 {
        self.served.drain.fetch_add(1, Ordering::Release) + 1
    }

    fn drained(&self) -> u64 {
        self.served.shares[0].drained()
    }

    fn has_news(&self) -> bool {
        // A look is at fewer messages than there are ports.
        (0..3).any(|_| self.served.has_news())
    }
}

const ANY: PostBounds = PostBounds { messages: u64::MAX, bytes: u64::MAX };

#[test]
fn a_drain_goes_on_where_its_turn_ended_and_ends_before_the_next_one_begins() {
    let mut s = Ours::new(100, ANY).with_short_turns();
    (0..100).for_each(|port| s.send(port, 1, NOTE, port));
    let first = s.ask_for_drain();
    s.sweep();
    assert_eq!((s.noted(), s.drained()), ((0..64).collect(), 0), "it has not come to all ports");
    // What comes to a port behind it is of the next one.
    s.send(0, 2, NOTE, 1000);
    let next = s.ask_for_drain();
    s.sweep();
    assert_eq!((s.noted(), s.drained()), ((64..100).collect(), first));
    s.sweep();
    assert_eq!((s.noted(), s.drained()), (vec![1000], next));
}

#[test]
fn a_drain_takes_of_a_port_what_it_held_in_as_many_turns_as_that_takes() {
    let mut s = Ours::new(1, ANY).with_short_turns();
    (1..=128).for_each(|nth| s.send(0, nth, NOTE, nth.into()));
    let turn = s.ask_for_drain();
    s.sweep();
    assert_eq!((s.noted(), s.drained()), ((1..=64).collect(), 0));
    s.send(0, 129, NOTE, 129);
    s.sweep();
    assert_eq!((s.noted(), s.drained()), ((65..=128).collect(), turn));
}

#[test]
fn a_mark_that_no_server_leaves_is_written_over_and_the_port_goes_on() {
    let mut s = Ours::new(1, ANY);
    s.post(0, 1, NOTE, 1);
    s.sweep();
    let mark = |s: &Ours| s.served.memory.words().mark(0).load(Ordering::Relaxed);
    let left = mark(&s);
    s.served.memory.words().mark(0).store(u32::MAX, Ordering::Relaxed);
    let hangs = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while mark(&s) != left {
        assert!(std::time::Instant::now() < hangs, "the mark is the device's");
        s.sweep();
    }
    s.post(0, 2, NOTE, 2);
    s.sweep();
    assert_eq!(s.noted(), [1, 2]);
}

#[test]
fn posts_for_which_there_is_no_room_keep_a_drain_from_no_other_port() {
    let mut s = Ours::new(101, PostBounds { messages: 0, bytes: 0 }).with_short_turns();
    // Who has handled something knows the services.
    s.post(100, 1, NOTE, 100);
    s.sweep();
    assert_eq!(s.noted(), [100]);
    s.send(0, 1, KEEP, 0);
    (1..100).for_each(|port| s.send(port, 1, NOTE, port));
    let turn = s.ask_for_drain();
    let swept = s.sweep();
    assert_eq!((s.noted(), swept.left), ((1..65).collect(), true));
    s.sweep();
    assert_eq!((s.noted(), s.drained()), ((65..100).collect(), 0));
    s.sweep();
    assert_eq!(s.drained(), 0, "one waits for room");
    s.served.give_posts_up();
    s.sweep();
    assert_eq!(s.drained(), turn);
    assert!(s.kept.try_recv().is_err(), "it was given up");
}

#[test]
fn the_next_turn_begins_where_the_last_one_ended_whatever_has_come_before_that() {
    let mut s = Ours::new(200, ANY).with_short_turns();
    (40..200).for_each(|port| s.post(port, 1, NOTE, port));
    s.sweep();
    assert_eq!(s.noted(), (40..104).collect::<Vec<_>>());
    // (Of the block in which the turn ended, and of one before.)
    (50..100).for_each(|port| s.post(port, 2, NOTE, 1000 + port));
    s.sweep();
    assert_eq!(s.noted(), (104..168).collect::<Vec<_>>());
    s.sweep();
    assert_eq!(s.noted(), (168..200).collect::<Vec<_>>());
    s.sweep();
    assert_eq!(s.noted(), (1050..1100).collect::<Vec<_>>());
    // One that ends where ports have been handled that lie together.
    let mut s = Ours::new(300, ANY).with_short_turns();
    (1..11).for_each(|port| s.post(port, 1, NOTE, port));
    s.sweep();
    assert_eq!(s.noted(), (1..11).collect::<Vec<_>>());
    (1..11).for_each(|port| s.post(port, 2, NOTE, 1000 + port));
    (260..265).for_each(|port| s.post(port, 1, NOTE, port));
    s.sweep();
    assert_eq!(s.noted(), (260..265).collect::<Vec<_>>());
    s.sweep();
    assert_eq!(s.noted(), (1001..1011).collect::<Vec<_>>());
}

#[test]
fn an_early_doorbell_is_news_until_its_message_comes_and_a_late_one_until_it_was_looked_at() {
    let mut s = Ours::new(17, ANY);
    assert!(!s.has_news());
    // Behind the last port, where nobody is.
    s.ring(20, 1);
    assert!(!s.has_news());
    s.ring(3, 1);
    assert_eq!((s.has_news(), s.sweep().taken, s.has_news()), (true, 0, true), "early");
    let call = |s: &Ours, nth| s.device.raw().send(3, 0, Tag::new(nth), DOUBLE, Flags::REPLY, 1, &[7]);
    call(&s, 1);
    assert_eq!((s.has_news(), s.sweep().taken, s.has_news()), (true, 1, false));
    call(&s, 2);
    assert!(s.has_news(), "a message whose doorbell was lost");
    s.served.open_call(3);
    assert!(!s.has_news(), "nobody looks at a port whose message is open");
    s.served.close_call(3);
    assert_eq!(s.sweep_all().taken, 1);
    assert_eq!((s.has_news(), s.sweep().taken, s.has_news()), (true, 0, false), "late");
    let tags = (0..17).map(|port| if port == 3 { Tag::new(2) } else { Tag::new(0) });
    assert_eq!(s.served.shares[0].tags(), tags.collect::<Vec<_>>());
}

#[test]
fn a_message_whose_doorbell_was_lost_is_found_in_time() {
    let mut s = Ours::new(3, ANY);
    s.send(2, 1, NOTE, 7);
    assert_eq!((0..3 * AUDIT_EVERY).map(|_| s.sweep().taken).sum::<u32>(), 1);
}

#[test]
fn a_post_to_what_is_to_be_called_is_not_handled_with_the_calls_around_it() {
    let mut s = Ours::new(3, ANY);
    // Nobody rings, so all of them are taken before any is handled: in this order.
    for (port, flags) in [(1, Flags::REPLY), (2, Flags::default()), (0, Flags::REPLY)] {
        s.device.raw().send(port, 0, Tag::new(1), DOUBLE, flags, 1, &[port]);
    }
    assert_eq!(s.sweep_all().taken, 3);
    assert_eq!(s.doubled.load(Ordering::Relaxed), 2);
    assert!([0, 1].iter().all(|&port| s.device.raw().answered(port, Tag::new(1))));
}

#[test]
fn nothing_is_taken_while_memory_is_put_back_unless_a_drain_has_been_kept_waiting_by_that_already() {
    let mut s = Ours::new(2, ANY);
    s.post(0, 1, NOTE, 1);
    assert_eq!(s.sweep().taken, 1);
    let mark = s.served.shares[0].ports.0.lock().unwrap().ports[0].mark();
    s.post(0, 2, NOTE, 2);
    s.device.write_marks(0, mark + 1, None);
    let swept = s.sweep();
    assert_eq!((swept.taken, swept.left, s.served.shares[0].is_marked(&s.served)), (0, true, false));
    s.device.write_marks(0, mark, None);
    assert!(s.served.shares[0].is_marked(&s.served));
    assert_eq!(s.sweep().taken, 1);
    // A device that writes marks again and again.
    let mark = s.served.shares[0].ports.0.lock().unwrap().ports[0].mark();
    let turn = s.ask_for_drain();
    s.device.write_marks(0, mark + 1, None);
    s.sweep();
    assert_eq!(s.drained(), 0);
    s.served.shares[0].ports.0.lock().unwrap().disturbed = DISTURBED;
    s.post(1, 1, NOTE, 3);
    s.sweep();
    assert_eq!((s.drained(), s.noted()), (turn, vec![1, 2, 3]));
}

#[test]
fn both_comparisons_find_the_same_doorbells() {
    let shadow: Vec<u32> = (0..288).collect();
    let [first, second, last] = [(0, 1 << 17 | 1 << 31), (64, 1 << 31), (256, 1 << 30)];
    let cases = [
        (&[17, 31, 95][..], [Some(first), Some(second), None, None]),
        (&[95, 286], [Some(second), Some(second), Some(last), Some(last)]),
        (&[286], [Some(last); 4]),
        (&[], [None; 4]),
    ];
    for (rung, expected) in cases {
        let mut bells = shadow.clone();
        rung.iter().for_each(|&port: &usize| bells[port] += 1000);
        let bells = Doorbells(NonNull::from(&mut bells[..]).cast());
        for (from, expected) in [0, 64, 128, 192].into_iter().zip(expected) {
            assert_eq!(next_rung_portable(bells, 0, &shadow, from), expected, "{rung:?} from {from}");
            assert_eq!(next_rung(bells, 0, &shadow, from), expected, "{rung:?} from {from}");
        }
    }
}

#[test]
fn a_thread_that_finds_its_ports_taken_looks_again_before_it_sleeps() {
    let server = crate::Server::without_device().threads(1).without_built_in().start().unwrap();
    let served = server.add_buffer(PortBuffer::in_process(Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(16, 32) }).unwrap()).0;
    let held = served.shares[0].ports.0.lock().unwrap();
    let limit = std::time::Duration::from_secs(60);
    let drained = std::thread::scope(|scope| {
        let drained = scope.spawn(|| server.parts.core.drain_by(&served, Some(std::time::Instant::now() + limit)));
        // The thread is woken for it, and has nothing else to do.
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(held);
        drained.join().unwrap()
    });
    assert!(drained, "the thread sleeps");
}

#[test]
fn a_port_holds_posts_up_to_the_first_call_and_no_more_than_its_area() {
    let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(6, 32) };
    let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds::default());
    let raw = MockDevice::new(BufferHandle(served.clone())).raw();
    let fresh = ServerPort::new(served.memory.first_tag());
    let held = |port| fresh.held(served.memory.words(), &geometry, port).since(fresh.tag());
    let send = |port, at: u32, flags| raw.send(port, at, Tag::new(at as u16 + 1), 1, flags, 1, &[7]);
    assert_eq!(held(0), 0);
    (0..3).for_each(|at| send(0, at, Flags::default()));
    assert_eq!(held(0), 3);
    send(0, 3, Flags::REPLY);
    send(0, 4, Flags::default());
    assert_eq!(held(0), 4, "what comes behind a call is sent when it is answered");
    // As many as there are words, each of which a device may make a message.
    (0..geometry.request_words).for_each(|at| send(1, at, Flags::default()));
    assert_eq!(u32::from(held(1)), geometry.request_words);
    // The whole area again and again: the one at 0 is not behind the last.
    raw.send(1, 0, Tag::new(geometry.request_words as u16 + 1), 1, Flags::default(), 1, &[7]);
    assert_eq!(held(1), 0, "what was next is gone");
    // A header of which nothing makes sense is the last.
    send(2, 0, Flags::default());
    send(2, 1, Flags(0x40));
    send(2, 2, Flags::default());
    assert_eq!(held(2), 2);
    // Behind the end of the area is another port's.
    raw.send(3, 0, Tag::new(1), 1, Flags::default(), 1, &[7; 3]);
    (2..geometry.request_words).for_each(|at| raw.send(3, at, Tag::new(at as u16), 1, Flags::default(), 1, &[7]));
    raw.send(4, 0, Tag::new(geometry.request_words as u16), 1, Flags::default(), 1, &[7]);
    assert_eq!(u32::from(held(3)), geometry.request_words - 1);
    // A device that has read that all before was taken begins anew.
    raw.send(5, 0, Tag::new(3), 1, Flags::default(), 1, &[7]);
    let behind = ServerPort::at_mark(3 << 16 | 2, &geometry).unwrap();
    assert_eq!(behind.held(served.memory.words(), &geometry, 5), Tag::new(3));
}

#[test]
fn shares_cover_every_port_once_in_whole_lots() {
    for (ports, shares) in [(1, 4), (16, 1), (17, 2), (100, 3), (8448, 8), (33, 8)] {
        let split = Share::split(ports, shares, Tag::new(0));
        assert_eq!(split.len(), shares);
        let mut next = 0;
        for share in &split {
            let share = share.ports.0.lock().unwrap();
            if !share.ports.is_empty() {
                assert_eq!((share.first, share.first % LOT as u32), (next, 0));
            }
            assert!(share.shadow.len() % LOT == 0 && share.shadow.len() >= share.ports.len());
            next += share.ports.len() as u32;
        }
        assert_eq!(next, ports);
    }
}
