//! The server's half alone: what it copies and writes, word by word, against a plain reference; and words of any bits.

use std::cell::{Cell, RefCell};

use hostcall_abi::lanes::Lanes;
use hostcall_abi::port::{
    Arch, Client, Group, Held, HostMemory, LaneReplies, Message, Polled, PortState, Reply, ServerPort, Usual, largest_reply_dwords,
    payload_units,
};
use hostcall_abi::word::unpack;
use hostcall_abi::{Flags, Geometry, Header, ReplyHead, Status, Tag, Word};
use proptest::prelude::*;

use crate::bus::stores;
use crate::program::Fault;

/// One port's areas, without any bus.
struct Areas {
    requests: RefCell<Vec<Word>>,
    replies: RefCell<Vec<Word>>,
    geometry: Geometry,
}

impl Areas {
    fn new(geometry: Geometry, stale: Word) -> Self {
        let area = |words: u32| RefCell::new(vec![stale; words as usize]);
        Self { requests: area(geometry.request_words), replies: area(geometry.reply_words), geometry }
    }

    fn answer(&self, tag: Tag, replies: &LaneReplies<'_>) {
        for (index, word) in stores(&self.geometry, Fault::None, tag, replies) {
            self.store_reply(0, index, word);
        }
    }
}

impl HostMemory for Areas {
    fn load_request(&self, port: u32, index: u32) -> Word {
        assert_eq!(port, 0);
        self.requests.borrow()[index as usize]
    }
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        assert_eq!(port, 0);
        self.replies.borrow_mut()[index as usize] = word;
    }
}

/// One lane of a wave whose lanes run one after another: nothing here waits for another lane.
#[derive(Clone, Copy)]
struct Alone<'a> {
    areas: &'a Areas,
    lane: u32,
}

impl Lanes for Alone<'_> {
    fn lane(self) -> u32 {
        self.lane
    }
    fn ballot(self, _: u64, predicate: bool) -> u64 {
        u64::from(predicate)
    }
    fn broadcast(self, _: u64, value: u32, _: u32) -> u32 {
        value
    }
    fn sync(self, _: u64) {}
    fn pause(self, _: u32) {
        panic!("all words are there, so nothing waits");
    }
    fn now_ns(self) -> u64 {
        0
    }
}

impl Arch for Alone<'_> {
    fn first_port(self) -> u32 {
        0
    }
    fn ports(self) -> u32 {
        1
    }
    fn request_words(self) -> u32 {
        self.areas.geometry.request_words
    }
    fn reply_words(self) -> u32 {
        self.areas.geometry.reply_words
    }
    fn lone_stride(self) -> u32 {
        self.areas.geometry.lone_stride()
    }
    fn has_window(self) -> bool {
        self.areas.geometry.window
    }
    fn launch(self) -> u32 {
        0
    }
    fn mark(self, _: u32) -> u32 {
        unreachable!("there is one launch")
    }
    fn lock_port(self, _: u32) -> u64 {
        0
    }
    fn unlock_port(self, _: u32, _: u64) {}
    fn store_request(self, _: u32, index: usize, word: Word) {
        self.areas.requests.borrow_mut()[index] = word;
    }
    fn load_reply(self, _: u32, index: usize) -> Word {
        self.areas.replies.borrow()[index]
    }
    fn ring(self, _: u32, _: Tag) {}
    fn closed(self) -> u32 {
        0
    }
    fn known_closed(self) -> u32 {
        0
    }
    fn remember_closed(self, _: u32) {}
}

/// The message's payload byte by byte, as [`Header`] says where it lies: lane by lane, `None` where a word's tag is
/// another.
fn reference(areas: &Areas, at: u32, lanes: u32, words: u32, tag: u16) -> Vec<Option<Vec<u8>>> {
    let word = |j: u32, rank: u32| areas.load_request(0, at + j * lanes + rank);
    (0..lanes)
        .map(|rank| {
            (0..words).try_fold(Vec::new(), |mut bytes, j| {
                let word = word(j, rank);
                let all: Vec<u8> = word.0.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                bytes.extend_from_slice(&all[..14]);
                (word.tag() == tag).then_some(bytes)
            })
        })
        .collect()
}

fn some_mask(lanes: u32, seed: u64) -> u64 {
    // The lowest bits of a word's permutation: any number of lanes is as likely as any other.
    let mut order: Vec<u32> = (0..64).collect();
    let mut state = seed | 1;
    for i in (1..64).rev() {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    order[..lanes as usize].iter().map(|lane| 1u64 << lane).sum()
}

fn unit_of(lane: u32, i: u32, seed: u32) -> u32 {
    (lane << 16 | i).wrapping_mul(0x9e37_79b1) ^ seed
}

/// Sends one message of the lanes of `mask`, lane after lane, over a port whose next message has tag `tag` and goes to
/// 0.
fn send(areas: &Areas, mask: u64, together: bool, tag: Tag, units: u32, seed: u32) {
    let state = PortState::new(Tag::new(tag.seq().wrapping_sub(1)), 0, false);
    let leader = mask.trailing_zeros();
    for lane in (0..64).filter(|lane| mask >> lane & 1 == 1) {
        let (client, mut held) = (Client(Alone { areas, lane }), Held { port: 0, state });
        let group = Group::new(mask, lane);
        let status = if together {
            client.send_together(&group, &mut held, 77, Flags::REPLY, units, |i| unit_of(leader, i, seed))
        } else {
            client.send(&group, &mut held, 77, Flags::REPLY, units, |i| unit_of(lane, i, seed))
        };
        assert_eq!((status, held.tag()), (Status::OK, tag));
    }
}

proptest! {
    #[test]
    fn payload_is_copied_as_a_bytewise_reference_says(
        lanes in 1..=64u32, words in 0..12u32, at in 0..9u32, tag in 0..0x8000u16, wrong in prop::option::of(any::<prop::sample::Index>()),
        seed: u32
    ) {
        let areas = Areas::new(Geometry { request_words: 64 * 12 + 10, ..Geometry::new(1, 64) }, Word::default());
        for (i, word) in areas.requests.borrow_mut().iter_mut().enumerate() {
            let i = i as u32;
            *word = Word::new([unit_of(1, i, seed), unit_of(2, i, seed), unit_of(3, i, seed), unit_of(4, i, seed)], tag);
        }
        if let Some(wrong) = wrong {
            let index = wrong.index(areas.requests.borrow().len());
            let mut requests = areas.requests.borrow_mut();
            requests[index] = Word::new(requests[index].0, tag ^ 0x8000);
        }
        let expected = reference(&areas, at, lanes, words, tag);
        let mut out = vec![0xcccc_cccc; payload_units(&areas.geometry)];
        let whole = areas.load_payload(0, at, lanes, words, tag, &mut out);
        prop_assert_eq!(whole, expected.iter().all(Option::is_some));
        for (rank, bytes) in expected.into_iter().enumerate().filter(|_| whole) {
            let start = rank * hostcall_abi::port::lane_stride(words);
            let got: Vec<u8> = out[start..].iter().flat_map(|unit| unit.to_le_bytes()).take(words as usize * 14).collect();
            prop_assert_eq!(Some(got), bytes);
        }
        // Nothing behind the last lane is touched.
        let end = lanes as usize * hostcall_abi::port::lane_stride(words);
        prop_assert!(out[end..].iter().all(|&unit| unit == 0xcccc_cccc));
    }

    #[test]
    fn what_any_number_of_lanes_sends_is_what_the_server_copies(
        lanes in 1..=64u32, together: bool, units in 0..60u32, tag in prop_oneof![Just(0u16), Just(1 << 14), 0..0x8000u16], seed: u64
    ) {
        // Also with a scrub, and with more words than lanes, and fewer.
        let mask = some_mask(lanes, seed);
        let callers = if together { 1 } else { lanes };
        let geometry = Geometry { request_words: 1 + callers.max(64) * 18, ..Geometry::new(1, 64) };
        let tag = Tag::new(tag);
        let areas = Areas::new(geometry, Word::new([7; 4], Tag::new(tag.seq().wrapping_sub(1)).payload()));
        send(&areas, mask, together, tag, units, seed as u32);
        let mut out = vec![0; payload_units(&geometry)];
        let mut port = ServerPort::new(Tag::new(tag.seq().wrapping_sub(1)));
        let Polled::Message(message) = port.poll(&areas, &geometry, 0, &mut out) else { return Err(TestCaseError::fail("no message")) };
        let callers = if together { 1 << mask.trailing_zeros() } else { mask };
        let words = Header::words_for(units, callers.count_ones()) as u8;
        prop_assert_eq!(message.header, Header { service: 77, words, flags: Flags::REPLY, mask: callers });
        prop_assert!(message.lane_units() as u32 >= units && message.units() <= out.len());
        for (rank, lane) in (0..64).filter(|lane| callers >> lane & 1 == 1).enumerate() {
            for i in 0..units {
                prop_assert_eq!(out[rank * message.stride() + i as usize], unit_of(lane, i, seed as u32), "unit {} of {}", i, lane);
            }
        }
        prop_assert_eq!(port.poll(&areas, &geometry, 0, &mut out), Polled::Message(message), "it stays until it is taken");
        port.consume(&message, &geometry);
        prop_assert_eq!(port.tag(), tag);
        prop_assert_eq!(port.poll(&areas, &geometry, 0, &mut out), Polled::Nothing);
        // Words that no scrub and no message reaches are left alone.
        let all = areas.requests.borrow().iter().skip(message.header.message_words() as usize).all(|word| word.0[0] == 7);
        prop_assert!(tag.scrubs() || all);
    }

    #[test]
    fn replies_of_any_length_reach_any_number_of_lanes(
        lanes in 1..=64u32, window: bool, lines in 16..40u32, share in 0..=100u32, spare in 0..4usize,
        tag in prop_oneof![Just(0u16), Just(1 << 14), 0..0x8000u16], seed: u64
    ) {
        let geometry = Geometry { reply_words: lines * 4, window, ..Geometry::new(1, 64) };
        let (mask, tag) = (some_mask(lanes, seed), Tag::new(tag));
        let areas = Areas::new(geometry, Word::new([0xffff_ffff; 4], tag.next().payload()));
        let most = largest_reply_dwords(&geometry, lanes) as u32;
        let longest = most * share / 100;
        // Lanes' replies are of all lengths, one of them of the longest.
        let length = |rank: u32| if rank == seed as u32 % lanes { longest } else { longest * (rank % 5) / 5 };
        let stride = 1 + longest as usize + spare;
        let mut streams = vec![0xeeee_eeee; lanes as usize * stride + LaneReplies::SPARE];
        for rank in 0..lanes {
            let head = ReplyHead { status: Status::OK, dwords: length(rank) as u16 };
            streams[rank as usize * stride] = head.encode();
            (0..length(rank)).for_each(|i| streams[rank as usize * stride + 1 + i as usize] = unit_of(rank, i, seed as u32));
        }
        areas.answer(tag, &LaneReplies { lanes, words: ReplyHead::words(longest), stride, streams: &streams });
        for (rank, lane) in (0..64).filter(|lane| mask >> lane & 1 == 1).enumerate() {
            let (client, group, rank) = (Client(Alone { areas: &areas, lane }), Group::new(mask, lane), rank as u32);
            let mut held = Held { port: 0, state: PortState::new(tag, 0, true) };
            prop_assert!(client.ready(&group, &held));
            // (All words that are asked for must have room.)
            let fits = ReplyHead::area(lanes, 3, geometry.lone_stride()) <= geometry.reply_words;
            let reply = if fits {
                client.receive::<3>(&group, &mut held, 0)
            } else {
                let Reply { head, words: [first] } = client.receive::<1>(&group, &mut held, 0);
                Reply { head, words: [first, Word::default(), Word::default()] }
            };
            prop_assert_eq!(reply.head, ReplyHead { status: Status::OK, dwords: length(rank) as u16 });
            prop_assert_eq!(held.state, PortState::new(tag, 0, false));
            let words: Vec<Word> =
                (0..ReplyHead::words(length(rank))).map(|j| client.reply_word(&group, &held, j)).collect();
            let read = if fits { 3 } else { 1 };
            for i in 0..length(rank) {
                let expected = unit_of(rank, i, seed as u32);
                prop_assert_eq!(unpack(i + 1, |j| words[j as usize]), expected);
                prop_assert!(ReplyHead::words(i + 1) > read || reply.unit(i) == expected);
            }
        }
        // A scrub leaves no word of another tag; any other reply leaves the words behind its last line.
        let replies = areas.replies.borrow();
        let reached = ReplyHead::area(lanes, ReplyHead::words(longest), geometry.lone_stride()).next_multiple_of(4);
        prop_assert!(!tag.scrubs() || replies.iter().all(|word| word.tag() == tag.payload()));
        prop_assert!(tag.scrubs() || replies[reached as usize..].iter().all(|word| word.tag() == tag.next().payload()));
    }

    #[test]
    fn one_more_unit_than_the_largest_reply_does_not_fit(lanes in prop_oneof![Just(1u32), 1..=64u32], window: bool, lines in 16..=8191u32) {
        let geometry = Geometry { reply_words: lines * 4, window, ..Geometry::new(1, 64) };
        prop_assert_eq!(geometry.validate(), Ok(()));
        let most = largest_reply_dwords(&geometry, lanes) as u32;
        prop_assert!(ReplyHead::area(lanes, ReplyHead::words(most), geometry.lone_stride()) <= geometry.reply_words);
        // Its length is a number that a head can carry.
        prop_assert_eq!(u32::from(ReplyHead::decode(ReplyHead { status: Status::OK, dwords: most as u16 }.encode()).dwords), most);
        let more = ReplyHead::area(lanes, ReplyHead::words(most + 1), geometry.lone_stride());
        prop_assert!(most == u32::from(u16::MAX) || more > geometry.reply_words);
    }
}

/// Counts the words that the server loads.
struct Counted<'a> {
    areas: &'a Areas,
    loads: Cell<u32>,
}

impl HostMemory for Counted<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        self.loads.set(self.loads.get() + 1);
        self.areas.load_request(port, index)
    }
    fn store_reply(&self, _: u32, _: u32, _: Word) {
        unreachable!("nothing is answered");
    }
}

#[test]
fn a_message_that_arrives_word_by_word_is_not_copied_at_each_look() {
    let geometry = Geometry { request_words: 32 * 15 + 20, ..Geometry::new(1, 32) };
    // Plain messages, and one that scrubs.
    for (last, lanes) in [(7, 32), (7, 1), (Tag::SCRUB_PERIOD - 1, 32)] {
        let (tag, units) = (Tag::new(last).next(), if lanes == 1 { 300 } else { 50 });
        let whole = Areas::new(geometry, Word::default());
        send(&whole, some_mask(lanes, 3) & u64::from(u32::MAX) | 1, false, tag, units, 3);
        let whole = whole.requests.into_inner();
        let words = whole.iter().filter(|word| word.tag() & 0x7fff == tag.seq()).count();
        // The header first, then the others from the front, from the back, and from both ends in turn.
        for order in 0..3 {
            let areas = Areas::new(geometry, Word::default());
            let counted = Counted { areas: &areas, loads: Cell::new(0) };
            let (mut port, mut out) = (ServerPort::new(Tag::new(last)), vec![0; payload_units(&geometry)]);
            for step in 0..words {
                let at = match order {
                    _ if step == 0 => 0,
                    0 => step,
                    1 => words - step,
                    _ if step % 2 == 1 => 1 + step / 2,
                    _ => words - step / 2,
                };
                areas.requests.borrow_mut()[at] = whole[at];
                let polled = port.poll(&counted, &geometry, 0, &mut out);
                assert_eq!(matches!(polled, Polled::Message(_)), step == words - 1, "step {step} of {words}");
            }
            assert!(counted.loads.get() as usize <= 6 * words, "{} loads of {words} words in as many looks", counted.loads.get());
        }
    }
}

#[test]
fn a_mark_that_no_server_leaves_is_no_port_s() {
    let geometry = Geometry { request_words: 40, ..Geometry::new(1, 32) };
    let at = |position: u32, seq: u32| ServerPort::at_mark(position << 16 | seq, &geometry);
    for (position, seq) in [(0, 0), (39, 7), (39, 0x7fff)] {
        let port = at(position, seq).expect("a server leaves such a mark");
        assert_eq!((port.position(), u32::from(port.tag().seq()), port.mark()), (position, seq, position << 16 | seq));
    }
    for (position, seq) in [(40, 7), (0xffff, 0), (0, 0x8000), (39, 0x8007), (40, 0x8007)] {
        assert_eq!(at(position, seq), None, "{position} {seq:#x}");
    }
}

/// A word that is likely to be taken for something: of the next tags, with a header that is nearly right.
fn hostile_word(next: u16) -> impl Strategy<Value = Word> {
    let raw = prop_oneof![
        4 => (0..3u16).prop_map(move |ahead| Tag::new(next.wrapping_add(ahead)).header()),
        4 => (0..3u16).prop_map(move |ahead| Tag::new(next.wrapping_add(ahead)).payload()),
        1 => any::<u16>(),
    ];
    let head = (any::<u16>(), prop_oneof![0..4u8, any::<u8>()], prop_oneof![0..8u8, any::<u8>()])
        .prop_map(|(service, words, flags)| u32::from(service) | u32::from(words) << 16 | u32::from(flags) << 24);
    let lane = prop_oneof![0..70u32, any::<u32>()];
    let rest = prop_oneof![Just(0u32), 1..8u32, any::<u32>()];
    (head, lane, rest.clone(), rest, raw).prop_map(|(head, lane, b, c, raw)| Word::new([head, lane, b, c], raw))
}

/// Takes the port's next message as one of a service whose arguments are as long as its payload, if there is one.
fn take(port: &mut ServerPort, areas: &Areas, out: &mut [u32]) -> Option<Message> {
    let (geometry, head) = (&areas.geometry, port.peek(areas, 0)?);
    let number = areas.requests.borrow()[port.position() as usize].0[0] as u16;
    for (units, post) in (0..40).flat_map(|units| [(units, false), (units, true)]) {
        let usual = Usual::new(number, units, post).unwrap();
        if usual.is_lone(&head) {
            let lane = port.take_lone(areas, geometry, 0, &head, &usual, out)?;
            return Some(usual.lone(head.tag(), lane));
        }
        if usual.is_many(&head) {
            return port.take_many(areas, geometry, 0, &head, &usual, out);
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
    #[test]
    fn no_words_of_a_device_make_the_server_fail(
        lanes in prop_oneof![Just(32u32), Just(64)], more in 1..40u32, window: bool, last in prop_oneof![Just(0x3fffu16), Just(0x7fff), 0..0x8000u16],
        words in last_words()
    ) {
        let geometry = Geometry { request_words: lanes + more, reply_words: lanes * 2, window, ..Geometry::new(1, lanes) };
        prop_assert_eq!(geometry.validate(), Ok(()));
        let areas = Areas::new(geometry, Word::default());
        let mut port = ServerPort::new(Tag::new(last));
        let mut out = vec![0; payload_units(&geometry)];
        for (round, words) in words.iter().enumerate() {
            for &(at, word) in words {
                // Its tag is near the one that the server wants now.
                let raw = word.tag().wrapping_add(port.tag().next().seq()) & 0x7fff | word.tag() & 0x8000;
                let index = if at < 24 { 0 } else if at < 40 { port.position() } else { at % geometry.request_words };
                areas.requests.borrow_mut()[index as usize] = Word::new(word.0, raw);
            }
            if round % 3 == 2 {
                // Everything that a header could ask for is there.
                let tag = port.tag().next().payload();
                let keep = port.position() as usize;
                for (index, word) in areas.requests.borrow_mut().iter_mut().enumerate().filter(|&(index, _)| index != 0 && index != keep) {
                    *word = Word::new([index as u32; 4], tag);
                }
            }
            let before = port;
            let (mut quick, mut copy) = (port, vec![0; payload_units(&geometry)]);
            let taken = take(&mut quick, &areas, &mut copy);
            let polled = port.poll(&areas, &geometry, 0, &mut out);
            if let Some(taken) = taken {
                let Polled::Message(message) = polled else { return Err(TestCaseError::fail("`poll` finds nothing of what was taken")) };
                prop_assert!(taken.header == message.header && taken.tag == message.tag && taken.lane_units() == message.lane_units());
                for rank in 0..message.lanes() as usize {
                    let units = |all: &[u32], stride: usize| all[rank * stride..][..message.lane_units()].to_vec();
                    prop_assert_eq!(units(&copy, taken.stride()), units(&out, message.stride()));
                }
                let mut after = port;
                after.consume(&message, &geometry);
                prop_assert_eq!((after.tag(), after.position()), (quick.tag(), quick.position()));
            } else {
                prop_assert_eq!((before.tag(), before.position()), (quick.tag(), quick.position()));
            }
            match polled {
                Polled::Nothing => {}
                Polled::Malformed(malformed) => {
                    prop_assert_eq!(malformed.tag, before.tag().next());
                    port.skip(&malformed);
                    prop_assert_eq!(port.position(), 0);
                    areas.acknowledge(&geometry, 0, malformed.tag);
                }
                Polled::Message(message) => {
                    let header = message.header;
                    prop_assert_eq!(message.tag, before.tag().next());
                    prop_assert!(header.mask != 0 && header.mask & !geometry.lane_mask() == 0 && header.flags.0 & !Flags::KNOWN.0 == 0);
                    prop_assert!(before.position() + header.message_words() <= geometry.request_words || header.message_words() <= geometry.request_words);
                    prop_assert!(message.units() <= out.len() && message.lane_units() <= message.stride());
                    port.consume(&message, &geometry);
                    if message.is_post() {
                        areas.acknowledge(&geometry, 0, message.tag);
                    } else {
                        let words = ReplyHead::words(largest_reply_dwords(&geometry, message.lanes()) as u32);
                        let streams = vec![0; LaneReplies::SPARE + 1];
                        areas.answer(message.tag, &LaneReplies { lanes: message.lanes(), words, stride: 1, streams: &streams });
                    }
                }
            }
            prop_assert!(port.position() < geometry.request_words);
        }
    }
}

fn last_words() -> impl Strategy<Value = Vec<Vec<(u32, Word)>>> {
    prop::collection::vec(prop::collection::vec((0..60u32, hostile_word(0)), 1..6), 1..12)
}
