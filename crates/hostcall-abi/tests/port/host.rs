//! The serving thread: takes messages from ports, acknowledges posts once per look, and answers calls when it likes.

use std::cell::Cell;
use std::collections::{HashSet, VecDeque};

use hostcall_abi::port::{LaneReplies, Message, Polled, ServerPort, largest_reply_dwords, payload_units};
use hostcall_abi::{Geometry, ReplyHead, Status, Tag, Word};

use crate::bus::{Bus, HostView, stores};
use crate::common::Random;
use crate::message::{Op, payload, unit};
use crate::program::{Fault, Number, Program};

/// A call that is not answered yet.
#[derive(Debug)]
struct Serving {
    port: u32,
    /// What is still to be stored.
    stores: VecDeque<(u32, Word)>,
    /// It goes on once in so many turns: who answers may be slow.
    pace: u32,
    /// An acknowledgement that should have been written long ago, see [`Fault::LateAck`].
    late: Option<Tag>,
}

pub struct Host<'a> {
    program: &'a Program,
    bus: &'a Bus,
    random: &'a Random,
    numbers: &'a [Number],
    pub ports: Vec<ServerPort>,
    /// Looks at each port, and words loaded of it, since its last message was taken.
    effort: Vec<(u32, Cell<u32>)>,
    serving: Vec<Serving>,
    pub seen: HashSet<Number>,
    units: Vec<u32>,
}

impl std::fmt::Debug for Host<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the host at {:?} with {} calls to answer", self.ports, self.serving.len())
    }
}

impl<'a> Host<'a> {
    pub fn new(program: &'a Program, bus: &'a Bus, random: &'a Random, numbers: &'a [Number], last: Tag) -> Self {
        Self {
            program,
            bus,
            random,
            numbers,
            ports: vec![ServerPort::new(last); program.ports as usize],
            effort: vec![Default::default(); program.ports as usize],
            serving: Vec::new(),
            seen: HashSet::new(),
            units: vec![0xcafe_f00d; payload_units(&bus.geometry)],
        }
    }

    /// The most units of each lane's reply.
    pub fn room(geometry: &Geometry, op: &Op) -> u32 {
        largest_reply_dwords(geometry, op.callers().count_ones()) as u32
    }

    /// Whether the doorbell asks for a look that the server may take.
    pub fn rang(&self, port: u32) -> bool {
        let busy = self.serving.iter().any(|one| one.port == port) && self.program.fault != Fault::LooksWhileServing;
        !busy && self.bus.doorbell(port) != self.ports[port as usize].tag()
    }

    /// A look at one port: takes posts until there is none, or a call is found; `full`: until there is no room for the
    /// next message. Whether anything was taken.
    pub fn look(&mut self, port: u32, full: bool) -> bool {
        let fault = self.program.fault;
        let room = if full { self.random.below(3) } else { u32::MAX };
        if room == 0 && self.ports[port as usize].is_left() {
            return false;
        }
        let mut posted = None;
        let mut taken = 0;
        let mut call = None;
        while call.is_none() {
            let (looks, loads) = &mut self.effort[port as usize];
            *looks += 1;
            let mut state = self.ports[port as usize];
            let host = HostView { bus: self.bus, fault, wanted: state.tag().next(), loads };
            let polled = state.poll(&host, &self.bus.geometry, port, &mut self.units);
            if fault != Fault::ForgetsWhatItFound {
                self.ports[port as usize] = state;
            }
            let message = match polled {
                Polled::Nothing => break,
                Polled::Malformed(malformed) => panic!("no client sends {malformed:?}"),
                Polled::Message(message) => message,
            };
            let number = self.check(&message);
            let words = if message.tag.scrubs() { self.bus.geometry.request_words } else { message.header.message_words() };
            let (looks, loads) = &mut self.effort[port as usize];
            // (Once more if it was left, and then there was room.)
            assert!(loads.get() <= 4 * (words + *looks), "{} words loaded in {looks} looks at a message of {words}", loads.get());
            if taken >= room && fault != Fault::DropsWhenFull {
                // It stays where it is, and is found again.
                self.ports[port as usize].leave();
                break;
            }
            self.ports[port as usize].consume(&message, &self.bus.geometry);
            self.bus.marks[port as usize].set(self.ports[port as usize].mark());
            self.effort[port as usize] = Default::default();
            taken += 1;
            if taken <= room {
                assert!(self.seen.insert(number), "a message that came twice");
            }
            if message.is_post() {
                posted = Some(message.tag);
            } else {
                call = Some((message, number));
            }
        }
        if fault == Fault::AcksTheDoorbell {
            posted = Some(self.bus.doorbell(port));
        }
        if fault == Fault::NoAckOfScrub {
            posted = posted.filter(|tag| !tag.scrubs());
        }
        if let Some((message, number)) = call {
            // A call behind the posts: its answer tells the client as much, so their acknowledgement may be left out.
            // But it may not be late.
            if fault != Fault::LateAck && self.random.below(2) == 0 {
                posted.take().into_iter().for_each(|tag| self.acknowledge(port, tag));
            }
            let late = posted.take().filter(|_| fault == Fault::LateAck);
            let stores = self.reply(&message, number).into();
            let pace = if self.random.below(4) == 0 { 60 } else { 1 };
            self.serving.push(Serving { port, stores, pace, late });
        }
        posted.into_iter().for_each(|tag| self.acknowledge(port, tag));
        taken > 0
    }

    /// Which operation a message is of; its payload must be that one's.
    fn check(&self, message: &Message) -> Number {
        let (w, o) = self.numbers[message.header.service as usize - 1];
        let op = self.program.waves[w][o];
        assert_eq!((message.header.mask, message.is_post()), (op.callers(), op.is_post()), "another message's header");
        assert_eq!(message.header.message_words(), op.words());
        assert!(message.lane_units() >= op.units as usize && message.units() <= self.units.len());
        for (rank, lane) in lanes_of(op.callers()).enumerate() {
            for i in 0..op.units {
                let got = self.units[rank * message.stride() + i as usize];
                assert_eq!(got, payload(w, o, lane, i), "another message's payload");
            }
        }
        (w, o)
    }

    fn acknowledge(&self, port: u32, tag: Tag) {
        let fault = self.program.fault;
        if fault == Fault::NoAck {
            return;
        }
        let geometry = &self.bus.geometry;
        let only_one = LaneReplies { lanes: 1, words: 1, stride: 1, streams: &[0; 1 + LaneReplies::SPARE] };
        let mut words = stores(geometry, fault, tag, &only_one);
        if fault == Fault::PlainAckOfScrub {
            words.retain(|&(index, _)| index == 0);
        }
        words.into_iter().for_each(|(index, word)| self.bus.store_reply(port, index, word));
    }

    /// The words that answer a call.
    fn reply(&self, message: &Message, (w, o): Number) -> Vec<(u32, Word)> {
        let op = self.program.waves[w][o];
        let geometry = &self.bus.geometry;
        let stride = 1 + op.reply as usize + self.random.below(3) as usize;
        let lanes = message.lanes();
        let mut streams = vec![0x0bad_0bad; lanes as usize * stride + LaneReplies::SPARE];
        for (rank, lane) in lanes_of(op.callers()).enumerate() {
            let dwords = op.reply_of(lane);
            streams[rank * stride] = ReplyHead { status: Status::OK, dwords: dwords as u16 }.encode();
            for i in 0..dwords {
                streams[rank * stride + 1 + i as usize] = unit(message.tag, message.header.service, lane, i);
            }
        }
        let longest = lanes_of(op.callers()).map(|lane| op.reply_of(lane)).max().expect("a lane");
        let replies = LaneReplies { lanes, words: ReplyHead::words(longest), stride, streams: &streams };
        let fault = self.program.fault;
        let words = stores(geometry, fault, message.tag, &replies);
        if fault != Fault::LaneByLane {
            return words;
        }
        // Each lane's words as they should be, and whatever else lies in their lines as filler.
        let filler = Word::new([0xdead_beef; 4], message.tag.payload());
        let line = |index: u32| index / Geometry::LINE_WORDS;
        let of = |rank: u32| move |index: u32| index % lanes == rank && index < lanes * replies.words;
        let mut torn = Vec::new();
        for rank in 0..lanes {
            let lines: HashSet<u32> = words.iter().filter(|w| of(rank)(w.0)).map(|w| line(w.0)).collect();
            torn.extend(words.iter().filter(|w| lines.contains(&line(w.0))).map(|w| (w.0, if of(rank)(w.0) { w.1 } else { filler })));
        }
        // The lanes' own words come to stand at last.
        torn.extend(words);
        torn
    }

    /// Stores some words of the answer to one call.
    pub fn answer(&mut self) {
        if self.serving.is_empty() {
            return;
        }
        let which = self.random.below(self.serving.len() as u32) as usize;
        let one = &mut self.serving[which];
        let port = one.port;
        if self.random.below(one.pace) != 0 {
            return;
        }
        let some = if self.random.below(2) == 0 { 1 } else { 1 + self.random.below(16) as usize };
        for (index, word) in one.stores.drain(..some.min(one.stores.len())) {
            self.bus.store_reply(port, index, word);
        }
        if one.stores.is_empty() {
            let late = self.serving.swap_remove(which).late;
            late.into_iter().for_each(|tag| self.acknowledge(port, tag));
        }
    }

    /// Answers all calls, and serves all that has arrived, whether it rang or not.
    pub fn drain(&mut self) {
        loop {
            while !self.serving.is_empty() {
                self.answer();
            }
            let by_doorbell = self.program.fault == Fault::DrainsByDoorbell;
            let more = (0..self.program.ports).any(|port| (!by_doorbell || self.rang(port)) && self.look(port, false));
            if !more {
                return;
            }
        }
    }
}

/// The lanes of a mask, in order.
fn lanes_of(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |lane| mask >> lane & 1 == 1)
}
