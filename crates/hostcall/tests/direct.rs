//! The direct way of messages ends as the other does: two servers get the same messages, one of services that may go
//! it, one of the same services as handlers of single lanes, or that could go on elsewhere, which may not.

mod common;

use std::sync::{Arc, Mutex, OnceLock};

use common::{geometry, with_window};
use hostcall::__private::{Geometry, PortBuffer};
use hostcall::test_utils::{RawPorts, Sweeper, definition, fixed_service, posted_service};
use hostcall::{Batch, Failure, KernelReport, Service};
use hostcall_abi::codec::Fixed;
use hostcall_abi::header::pack_lone;
use hostcall_abi::word::{pack, unpack};
use hostcall_abi::{Flags, Header, ReplyHead, Status, Tag, Word};

/// Handlers that were entered: the service, and the first unit of the arguments.
type Seen = Arc<Mutex<Vec<(u16, u32)>>>;

/// SplitMix64, by Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A service of these types that may go the direct way, or the same that may not.
fn service<A: Fixed + 'static, R: Fixed + 'static>(
    direct: bool,
    name: &'static str,
    f: impl Fn(A) -> R + Send + Sync + 'static,
) -> Service {
    if direct {
        return fixed_service(name, f);
    }
    Service::new(definition::<A>(name, Some(R::DWORDS)), move |call| {
        let arguments = call.fixed()?;
        call.reply(&f(arguments), &[]);
        Ok(())
    })
}

fn post<A: Fixed + 'static>(direct: bool, name: &'static str, f: impl Fn(A) + Send + Sync + 'static) -> Service {
    if direct {
        return posted_service(name, f);
    }
    Service::new(definition::<A>(name, None), move |call| {
        f(call.fixed()?);
        Ok(())
    })
}

/// Of whole messages.
fn whole<A: Fixed + 'static>(
    direct: bool,
    name: &'static str,
    result: Option<usize>,
    f: impl Fn(&mut Batch<'_>) + Send + Sync + 'static,
) -> Service {
    let service = Service::batch(definition::<A>(name, result), f);
    // (It never would block.)
    if direct { service } else { service.blocking_if_needed() }
}

/// Answers lane by lane, and not each of them well: the first unit of its arguments says so.
fn answer(batch: &mut Batch<'_>) {
    let rows = batch.rows();
    for (i, row) in rows.iter().enumerate() {
        match row[0] % 199 {
            3 => batch.fail(i, Failure::HandlerFailed { code: 3, message: "three".into() }),
            5 => {}
            7 => panic!("in the midst"),
            11 => batch.reply(i, &[row[0]; 9]),
            13 => batch.reply(i, &row[0]),
            _ => batch.reply(i, &[row[0], row[1]]),
        }
    }
}

/// Answers all lanes; then one may fail, or it panics.
fn answer_all(batch: &mut Batch<'_>) {
    let rows = batch.rows();
    batch.reply_all(|mut results| rows.iter().enumerate().for_each(|(i, row)| results.row_mut(i)[0] = !row[0]));
    for (i, row) in rows.iter().enumerate() {
        match row[0] % 199 {
            3 => batch.fail(i, Failure::Refused { code: 3 }),
            7 => panic!("at the end"),
            _ => {}
        }
    }
}

/// Needs no answer, and may give one.
fn take_all(batch: &mut Batch<'_>) {
    let rows = batch.rows();
    for (i, row) in rows.iter().enumerate() {
        match row[0] % 199 {
            3 => batch.fail(i, Failure::HandlerFailed { code: 4, message: "a post".into() }),
            5 => batch.reply(i, &()),
            7 => panic!("of a post"),
            _ => {}
        }
    }
}

/// Units of the arguments of each service, and whether it is posted.
const SERVICES: [(u32, bool); 11] =
    [(1, false), (1, false), (16, false), (3, false), (0, false), (1, false), (2, true), (40, false), (2, false), (1, false), (2, true)];

/// How many of them, the first ones, have handlers of single lanes.
const LANE_BY_LANE: usize = 8;

fn services(direct: bool, seen: &Seen) -> [Service; 11] {
    let note = |number: u16| {
        let seen = seen.clone();
        move |first: u32| {
            seen.lock().unwrap().push((number, first));
            assert_ne!(first % 16, 3, "as it should");
        }
    };
    let noted = |number, f: fn(&mut Batch<'_>)| {
        let seen = seen.clone();
        move |batch: &mut Batch<'_>| {
            seen.lock().unwrap().push((number, batch.rows().row(0)[0]));
            f(batch);
        }
    };
    let (nothing, one, wide, long, flag, posted, many) = (note(1), note(2), note(3), note(4), note(6), note(7), note(8));
    [
        service(direct, "nothing", move |x: u32| nothing(x)),
        service(direct, "one", move |x: u32| {
            one(x);
            !x
        }),
        service(direct, "wide", move |x: [u32; 16]| {
            wide(x[0]);
            [x[0], x[5], x[10], x[15]]
        }),
        // More than a line.
        service(direct, "long", move |x: [u32; 3]| {
            long(x[0]);
            std::array::from_fn::<u32, 15, _>(|i| x[i % 3] + i as u32)
        }),
        service(direct, "none", |()| 7_u32),
        // Not all units are one.
        service(direct, "flag", move |x: bool| {
            flag(x.into());
            u64::from(x)
        }),
        post(direct, "posted", move |x: [u32; 2]| posted(x[0])),
        // A payload of more words than are joined.
        service(direct, "many", move |x: [u32; 40]| {
            many(x[0]);
            x[39]
        }),
        whole::<[u32; 2]>(direct, "each", Some(2), noted(9, answer)),
        whole::<u32>(direct, "all", Some(1), noted(10, answer_all)),
        whole::<[u32; 2]>(direct, "taken", None, noted(11, take_all)),
    ]
}

struct Side {
    sweeper: Sweeper,
    raw: RawPorts,
    seen: Seen,
}

impl Side {
    fn new(direct: bool, geometry: Geometry, last: Tag) -> Self {
        let seen = Seen::default();
        let buffer = PortBuffer::in_process_from(geometry, last).unwrap();
        let sweeper = Sweeper::new(buffer, services(direct, &seen)).unwrap();
        let raw = sweeper.device().raw();
        Self { sweeper, raw, seen }
    }

    /// Looks until there is nothing left to take: how much that was.
    fn sweep(&mut self) -> u32 {
        let all: u32 = std::iter::from_fn(|| Some(self.sweeper.sweep()).filter(|&taken| taken > 0)).sum();
        all + self.sweeper.sweep_all()
    }

    /// The replies to a message: for each lane its status and its units.
    fn replies(&self, geometry: &Geometry, message: &Sent) -> Vec<(u16, Vec<u32>)> {
        let lanes = message.header.mask.count_ones();
        (0..lanes)
            .map(|rank| {
                let word = |j| self.raw.load(message.port, ReplyHead::place(lanes, rank, j, geometry.lone_stride()));
                assert_eq!(word(0).tag(), message.tag.payload(), "{message:?}, rank {rank}");
                let head = ReplyHead::decode(unpack(0, word));
                (head.status.0, (1..=u32::from(head.dwords)).map(|i| unpack(i, word)).collect())
            })
            .collect()
    }
}

/// A message that was sent to both.
#[derive(Debug)]
struct Sent {
    port: u32,
    tag: Tag,
    header: Header,
}

/// A port of a device, as its client knows it.
#[derive(Clone, Copy)]
struct Port {
    tag: Tag,
    at: u32,
}

/// Sends one message to both. `None`: there is no room for it behind what the port holds.
fn send(sides: &[Side; 2], geometry: &Geometry, number: u32, port: &mut Port, random: &mut Random, last: bool) -> Option<(Sent, bool)> {
    let service = if random.one_in(24) { 77 } else { 1 + random.below(SERVICES.len() as u32) as u16 };
    let (units, post) = SERVICES.get(usize::from(service) - 1).copied().unwrap_or((1, false));
    if !post && !last {
        return None;
    }
    let mask = match random.below(6) {
        0 | 1 => 1 << random.below(32),
        2 => 0xffff_ffff,
        3 => 0xff << random.below(24),
        _ => u64::from(random.next() as u32),
    };
    let lanes = mask.count_ones().max(1);
    let exact = Header::words_for(units, lanes);
    let words = match random.below(16) {
        0 => exact + 1,
        1 => exact.saturating_sub(1),
        _ => exact,
    };
    let mut flags = if post { Flags::default() } else { Flags::REPLY };
    if random.one_in(40) {
        flags = flags.and(Flags::STAGED);
    }
    let tag = port.tag.next();
    let end = port.at + 1 + lanes * words;
    if mask == 0 || end > geometry.request_words {
        return None;
    }
    let header = Header { service, words: words as u8, flags, mask };
    let payload: Vec<Vec<u32>> = (0..lanes).map(|_| (0..words * 4 + 4).map(|_| random.next() as u32 % 1000).collect()).collect();
    for side in sides {
        let put = |index, word| side.raw.store(number, index, word);
        for (rank, lane) in (0..).zip(&payload) {
            let unit = |i: u32| lane[i as usize];
            for j in 0..words {
                let units = if lanes == 1 { pack_lone(j, unit) } else { pack(j, unit) };
                put(port.at + 1 + j * lanes + rank, Word::new(units, tag.payload()));
            }
        }
        if tag.scrubs() {
            (end..geometry.request_words).for_each(|index| put(index, Word::new([0; 4], tag.payload())));
        }
        let [a, b] = [payload[0][0], payload[0][1]];
        put(port.at, if lanes == 1 { header.encode_lone(mask.trailing_zeros(), [a, b], tag) } else { header.encode(tag) });
        side.raw.ring(number, tag.payload().into());
    }
    let next = if post && !tag.scrubs() && end < geometry.request_words { end } else { 0 };
    *port = Port { tag, at: next };
    Some((Sent { port: number, tag, header }, post))
}

/// What is the same whatever the order in which things happened.
fn told(report: &KernelReport) -> (Vec<String>, Vec<String>, Vec<String>, u64) {
    let sorted = |texts: Vec<String>| {
        let mut texts = texts;
        texts.sort();
        texts
    };
    (
        sorted(report.handler_panics.iter().map(|panic| format!("{} {} {}", panic.service, panic.lanes, panic.message.len())).collect()),
        sorted(report.handler_failures.iter().map(|failure| format!("{failure:?}")).collect()),
        sorted(report.unknown_services.iter().map(|unknown| format!("{unknown:?}")).collect()),
        report.malformed,
    )
}

fn both_ways_end_alike(geometry: Geometry, seed: u64) {
    // Half a lap before the tags at which messages rewrite their ports.
    let last = Tag::new(Tag::SCRUB_PERIOD - 20);
    let mut random = Random(seed);
    let mut sides = [true, false].map(|direct| Side::new(direct, geometry, last));
    let geometry = *sides[0].sweeper.device().memory().geometry();
    let mut ports = vec![Port { tag: last, at: 0 }; geometry.ports as usize];
    let mut all = 0;
    for _ in 0..40 {
        let mut sent = Vec::new();
        for (number, port) in (0..).zip(&mut ports) {
            let posts = random.below(4);
            let before = sent.len();
            for i in 0..=posts {
                // (A port that has been silent for a while is found as well.)
                if random.one_in(3) {
                    continue;
                }
                let Some((message, post)) = send(&sides, &geometry, number, port, &mut random, i == posts) else { continue };
                sent.truncate(before);
                sent.push((message, post));
                // What begins anew waits until all before has been taken.
                if port.at == 0 {
                    break;
                }
            }
        }
        let [one, other] = sides.each_mut().map(Side::sweep);
        assert_eq!(one, other);
        all += one;
        for (message, post) in &sent {
            if *post {
                let acknowledged = sides.each_ref().map(|side| side.raw.answered(message.port, message.tag));
                assert_eq!(acknowledged, [true, true], "{message:?}");
            } else {
                let [one, other] = sides.each_ref().map(|side| side.replies(&geometry, message));
                assert_eq!(one, other, "{message:?}");
            }
        }
        assert!(sides.iter().all(|side| side.sweeper.is_marked()));
    }
    assert!(all > 1000, "{all} messages");
    let [one, other] = sides.each_ref().map(|side| side.sweeper.stats());
    assert_eq!(one, other);
    let [one, other] = sides.each_mut().map(|side| (told(&side.sweeper.take_report()), std::mem::take(&mut *side.seen.lock().unwrap())));
    assert_eq!(one.0, other.0);
    let [mut one, mut other] = [one.1, other.1];
    assert!(one.len() > 1000);
    one.sort_unstable();
    other.sort_unstable();
    assert_eq!(one, other, "each handler is entered as often");
}

#[test]
fn messages_end_alike_the_direct_way_and_the_other_through_a_window() {
    for seed in 0..20 {
        both_ways_end_alike(with_window(geometry(150, 32)), seed);
    }
}

#[test]
fn messages_end_alike_the_direct_way_and_the_other_in_host_memory() {
    for seed in 20..40 {
        both_ways_end_alike(Geometry { window: false, ..geometry(70, 32) }, seed);
    }
}

/// More replies than leave at once, of which each is its own message's.
#[test]
fn each_wave_of_a_full_block_has_its_own_replies() {
    let geometry = with_window(geometry(130, 32));
    let side = Side::new(true, geometry, Tag::new(0));
    let (raw, mut sweeper) = (side.raw, side.sweeper);
    let geometry = *sweeper.device().memory().geometry();
    let tag = Tag::new(1);
    for port in 0..130 {
        let payload: Vec<u32> = (0..16).map(|i| 1000 * port + 16 * i).collect();
        raw.send(port, 0, tag, 3, Flags::REPLY, 0xffff_ffff, &payload);
        raw.ring(port, tag.payload().into());
    }
    assert_eq!(sweeper.sweep(), 130);
    for port in 0..130 {
        for rank in 0..32 {
            let word = |j| raw.load(port, ReplyHead::place(32, rank, j, geometry.lone_stride()));
            let expected = [0, 5, 10, 15].map(|i| 1000 * port + 16 * i);
            let units: Vec<u32> = (0..5).map(|i| unpack(i, word)).collect();
            assert!(word(0).tag() == tag.payload() && word(1).tag() == tag.payload());
            assert!(units[1..] == expected && ReplyHead::decode(units[0]).dwords == 4, "port {port}, lane {rank}: {units:?}");
        }
    }
}

/// Nearly all messages are to go the direct way: those of each service here, of one lane and of several.
#[test]
fn messages_that_are_as_expected_go_the_direct_way() {
    for (number, (units, post)) in (1..).zip(SERVICES) {
        for lanes in [1, 8] {
            let geometry = with_window(geometry(100, 32));
            let entered = [true, false].map(|direct| {
                let Side { mut sweeper, raw, .. } = Side::new(direct, geometry, Tag::new(0));
                let payload: Vec<u32> = (0..units.max(2)).map(|i| 16 * i).collect();
                let (flags, mask) = (if post { Flags::default() } else { Flags::REPLY }, u64::MAX >> (64 - lanes));
                for port in 0..100 {
                    raw.send(port, 0, Tag::new(1), number, flags, mask, &payload[..units as usize]);
                    raw.ring(port, 1);
                }
                assert_eq!(sweeper.sweep(), 100);
                sweeper.entered()
            });
            // The other way takes together what is alike, if nothing of it can go on elsewhere.
            let together = usize::from(number) <= LANE_BY_LANE;
            assert!(entered[0] == 100 && (entered[1] < 100) == together, "service {number}, {lanes} lanes: {entered:?}");
        }
    }
}

/// A buffer that is taken out of service while a handler runs: what no handler has begun ends, and posts are handled.
#[test]
fn calls_that_have_not_begun_end_when_the_buffer_is_taken_out_of_service() {
    for (whole, post) in [(false, false), (false, true), (true, false), (true, true)] {
        let close = Arc::new(OnceLock::<Box<dyn Fn() + Send + Sync>>::new());
        let (closes, seen) = (close.clone(), Arc::new(Mutex::new(Vec::new())));
        let saw = seen.clone();
        let handle = move |x: u32| {
            saw.lock().unwrap().push(x);
            if x == 1 {
                closes.get().unwrap()();
            }
            x
        };
        let result = (!post).then_some(1);
        let service = match (whole, post) {
            (true, _) => Service::batch(definition::<u32>("it", result), move |batch| {
                let rows = batch.rows();
                rows.iter().for_each(|row| _ = handle(row[0]));
                if !batch.is_post() {
                    batch.reply_all(|mut results| rows.iter().enumerate().for_each(|(i, row)| results.row_mut(i)[0] = row[0]));
                }
            }),
            (false, false) => fixed_service("it", handle),
            (false, true) => posted_service("it", move |x: u32| _ = handle(x)),
        };
        let geometry = with_window(geometry(10, 32));
        let mut sweeper = Sweeper::new(PortBuffer::in_process(geometry).unwrap(), [service]).unwrap();
        let geometry = *sweeper.device().memory().geometry();
        assert!(close.set(Box::new(sweeper.closer())).is_ok());
        let raw = sweeper.device().raw();
        let flags = if post { Flags::default() } else { Flags::REPLY };
        // One lane, four of which the second closes, four more, and one more.
        let messages = [(0, 1, 100), (1, 0b1111, 0), (2, 0b1111, 200), (3, 0b10, 300)];
        for (port, mask, first) in messages {
            let words: Vec<u32> = (0..u64::from(mask as u32).count_ones()).map(|i| first + i).collect();
            send_lanes(&raw, 1, port, flags, mask, &words);
        }
        assert_eq!(sweeper.sweep(), 4);
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        if post {
            assert_eq!(seen, [100, 0, 1, 2, 3, 200, 201, 202, 203, 300], "whole: {whole}");
            continue;
        }
        assert_eq!(seen, if whole { vec![100, 0, 1, 2, 3] } else { vec![100, 0, 1] });
        let gone = Status::SERVER_GONE.0;
        let replies: Vec<Vec<(u16, u32)>> = messages
            .iter()
            .map(|&(port, mask, _)| {
                let lanes = u64::from(mask as u32).count_ones();
                (0..lanes)
                    .map(|rank| {
                        let word = |j| raw.load(port, ReplyHead::place(lanes, rank, j, geometry.lone_stride()));
                        let head = ReplyHead::decode(unpack(0, word));
                        (head.status.0, if head.status == Status::OK { unpack(1, word) } else { 0 })
                    })
                    .collect()
            })
            .collect();
        let second = if whole { vec![(0, 0), (0, 1), (0, 2), (0, 3)] } else { vec![(0, 0), (0, 1), (gone, 0), (gone, 0)] };
        assert_eq!(replies, [vec![(0, 100)], second, vec![(gone, 0); 4], vec![(gone, 0)]], "whole: {whole}");
    }
}

/// Whoever waits too long is told which handlers run, and for whom.
#[test]
fn what_runs_is_known_while_it_runs_and_not_afterwards() {
    for whole in [false, true] {
        let running = Arc::new(OnceLock::<Box<dyn Fn() -> Option<(u16, u32, u64)> + Send + Sync>>::new());
        let (runs, seen) = (running.clone(), Arc::new(Mutex::new(Vec::new())));
        let saw = seen.clone();
        let note = move || saw.lock().unwrap().push(runs.get().unwrap()().unwrap());
        let service = if whole {
            Service::batch(definition::<u32>("it", Some(1)), move |batch| {
                note();
                batch.reply_all(|_| {});
            })
        } else {
            fixed_service("it", move |x: u32| {
                note();
                x
            })
        };
        let mut sweeper = Sweeper::new(PortBuffer::in_process(with_window(geometry(10, 32))).unwrap(), [service]).unwrap();
        assert!(running.set(Box::new(sweeper.running())).is_ok());
        let raw = sweeper.device().raw();
        send_lanes(&raw, 1, 3, Flags::REPLY, 1 << 5, &[1]);
        send_lanes(&raw, 1, 4, Flags::REPLY, 0b110, &[1, 2]);
        assert_eq!(sweeper.sweep(), 2);
        let times = if whole { 1 } else { 2 };
        let expected: Vec<_> = [(1, 3, 1 << 5)].into_iter().chain(vec![(1, 4, 0b110); times]).collect();
        assert_eq!(*seen.lock().unwrap(), expected);
        assert_eq!(running.get().unwrap()(), None);
    }
}

/// Who makes a service of a definition may have another idea of its result than the definition has: the definition is
/// right, and there is no room for more.
#[test]
fn a_handler_whose_result_is_not_the_definitions_is_not_called_the_direct_way() {
    for (defined, expected) in [(1, Status::TOO_LARGE), (16, Status::OK)] {
        let service = hostcall::__private::typed(definition::<u32>("it", Some(defined)), |x: u32| Ok([x; 9]));
        let mut sweeper = Sweeper::new(PortBuffer::in_process(with_window(geometry(4, 32))).unwrap(), [service]).unwrap();
        let raw = sweeper.device().raw();
        send_lanes(&raw, 1, 0, Flags::REPLY, 1, &[7]);
        assert_eq!(sweeper.sweep(), 1);
        let head = ReplyHead::decode(unpack(0, |j| raw.load(0, j)));
        assert_eq!((head.status, head.dwords), (expected, if expected == Status::OK { 9 } else { 1 }));
    }
}

/// What takes one call only is not taken the direct way, and keeps nobody, also behind others in its block.
#[test]
fn a_service_that_takes_one_call_only_is_left_for_the_other_way_whatever_was_taken_before() {
    let add = |x: u32| x + 1;
    let services = [fixed_service("often", add), fixed_service("once", add).once(), fixed_service("behind", add)];
    let mut sweeper = Sweeper::new(PortBuffer::in_process(with_window(geometry(10, 32))).unwrap(), services).unwrap();
    let raw = sweeper.device().raw();
    for (port, service) in [(0, 1), (1, 2), (2, 2), (3, 3)] {
        send_lanes(&raw, service, port, Flags::REPLY, 1, &[5]);
    }
    assert_eq!(sweeper.sweep(), 4);
    let statuses = [0, 1, 2, 3].map(|port| ReplyHead::decode(unpack(0, |j| raw.load(port, j))).status);
    assert_eq!(statuses, [Status::OK, Status::OK, Status::FINISHED, Status::OK]);
}

/// A device may say that a message goes on behind the place where requests end. Nothing there is read.
#[test]
fn a_message_that_would_end_behind_its_port_is_malformed_both_ways() {
    for direct in [true, false] {
        for missing in [0, 1, 5] {
            let mut side = Side::new(direct, with_window(geometry(2, 32)), Tag::new(0));
            let geometry = *side.sweeper.device().memory().geometry();
            let words = Header::words_for(40, 1);
            // It has its place, or lacks some words of it.
            let base = geometry.request_words - 1 - words + missing;
            for i in 0..base {
                side.raw.send(0, i, Tag::new(i as u16 + 1), 7, Flags::default(), 1, &[16 * i, 0]);
            }
            let posts = Tag::new(base as u16);
            side.raw.ring(0, posts.payload().into());
            assert_eq!(side.sweep(), base);
            side.seen.lock().unwrap().clear();
            let tag = posts.next();
            let header = Header { service: 8, words: words as u8, flags: Flags::REPLY, mask: 1 };
            for j in 0..words - missing {
                side.raw.store(0, base + 1 + j, Word::new([0; 4], tag.payload()));
            }
            // The next port's lie behind, and could be taken for the missing ones.
            (0..missing).for_each(|j| side.raw.store(1, j, Word::new([0; 4], tag.payload())));
            side.raw.store(0, base, header.encode_lone(0, [16, 0], tag));
            side.raw.ring(0, tag.payload().into());
            assert_eq!(side.sweep(), 1);
            let status = ReplyHead::decode(unpack(0, |j| side.raw.load(0, j))).status;
            let (expected, entered) = if missing == 0 { (Status::OK, 1) } else { (Status::MALFORMED, 0) };
            assert_eq!((status, side.seen.lock().unwrap().len()), (expected, entered), "{missing} words, direct: {direct}");
            let report = side.sweeper.take_report();
            assert_eq!((report.malformed, report.handler_panics.len()), (u64::from(missing > 0), 0), "{report}");
        }
    }
}

/// Sends a message of lanes that have a unit each.
fn send_lanes(raw: &RawPorts, service: u16, port: u32, flags: Flags, mask: u64, units: &[u32]) {
    let (lanes, tag) = (mask.count_ones(), Tag::new(1));
    let header = Header { service, words: Header::words_for(1, lanes) as u8, flags, mask };
    if lanes == 1 {
        raw.store(port, 0, header.encode_lone(mask.trailing_zeros(), [units[0], 0], tag));
    } else {
        for (rank, unit) in (0..).zip(units) {
            raw.store(port, 1 + rank, Word::new([*unit, 0, 0, 0], tag.payload()));
        }
        raw.store(port, 0, header.encode(tag));
    }
    raw.ring(port, tag.payload().into());
}

/// Posts of one port are handled in their order, however many there are, and the call behind them in the same look.
#[test]
fn posts_and_the_call_behind_them_are_taken_in_their_order() {
    for posts in [1, 5, 31, 32, 33, 60] {
        let mut side = Side::new(true, geometry(3, 32), Tag::new(0));
        for i in 0..posts {
            side.raw.send(1, i, Tag::new(i as u16 + 1), 7, Flags::default(), 1, &[16 * i, 0]);
        }
        let last = Tag::new(posts as u16 + 1);
        side.raw.send(1, posts, last, 2, Flags::REPLY, 1 << 5, &[16 * posts]);
        side.raw.ring(1, last.payload().into());
        let first = side.sweeper.sweep();
        assert_eq!(first, if posts < 32 { posts + 1 } else { 32 }, "{posts} posts");
        assert_eq!(first + side.sweep(), posts + 1);
        assert!(side.raw.answered(1, last));
        let expected: Vec<_> = (0..posts).map(|i| (7, 16 * i)).chain([(2, 16 * posts)]).collect();
        assert_eq!(*side.seen.lock().unwrap(), expected);
    }
}
