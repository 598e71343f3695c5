//! Random programs of messages through the real client and the real server, over a bus that delivers stores in any
//! order.
//!
//! The idea: waves run as fibers ([`lanes`]), so that a seed decides every step; every store that crosses the bus waits
//! in a queue, from which the seed delivers any that coherence does not hold back ([`bus`]); the server takes, refuses
//! and answers when the seed says so ([`host`]); and a plain model says what must come of it ([`program`],
//! [`message`]). So what a GPU's memory system may do to unordered stores is done here on purpose, with replies in host
//! memory and in a window.
//!
//! [`words`] has the properties of the server's half alone: what it copies, what it writes, and that no device can make
//! it fail.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "a test")]

mod bus;
#[path = "../common/mod.rs"]
mod common;
mod end;
mod faults;
mod host;
mod lanes;
mod message;
mod program;
mod words;

use hostcall_abi::Tag;
use message::{Kind, Op};
use program::{Fault, Program, run};
use proptest::prelude::*;

/// The lanes that groups are made of: neither dense nor a prefix. Waves of 64 lanes use them from 32 on.
const LANES: [u32; 5] = [1, 2, 13, 30, 31];

/// The lanes that the bits of `few` stand for.
fn some_lanes(few: u32, lanes: u32) -> u64 {
    LANES.iter().enumerate().filter(|(bit, _)| few >> bit & 1 == 1).map(|(_, lane)| 1u64 << (lane + lanes - 32)).sum()
}

fn op(lanes: u32) -> impl Strategy<Value = Op> {
    let kind = prop_oneof![
        4 => Just(Kind::Call),
        4 => Just(Kind::Post),
        1 => Just(Kind::Drop),
        1 => (1..400u64).prop_map(Kind::Timeout),
        2 => Just(Kind::Keep),
        2 => Just(Kind::Together),
        2 => Just(Kind::PostTogether),
    ];
    let mask = prop_oneof![
        30 => (1..1u32 << LANES.len()).prop_map(move |few| some_lanes(few, lanes)),
        1 => Just(u64::MAX >> (64 - lanes)),
    ];
    (kind, mask, 0..11u32, 0..30u32).prop_map(|(kind, mask, units, reply)| Op { kind, mask, units, reply })
}

fn program() -> impl Strategy<Value = Program> {
    let period = Tag::SCRUB_PERIOD;
    // Before each of the two scrubs of a lap, at one, and anywhere.
    let first = prop_oneof![Just(0), Just(period - 3), Just(2 * period - 3), Just(period - 1), Just(2 * period - 1), 0..2 * period];
    // Mostly areas in which few messages fit.
    let more = prop_oneof![4 => 0..24u32, 1 => 24..90u32];
    let lanes = prop_oneof![3 => Just(32u32), 1 => Just(64u32)];
    let close = prop_oneof![3 => Just(0u32), 1 => 1..3000u32];
    lanes
        .prop_flat_map(move |lanes| {
            let waves = prop::collection::vec(prop::collection::vec(op(lanes), 0..7), 1..4);
            (waves, Just(lanes), 1..4u32, more.clone(), first.clone(), close.clone(), any::<bool>(), any::<u64>())
        })
        .prop_map(|(waves, lanes, ports, more, first, close, window, seed)| Program {
            waves,
            ports,
            // A message of five lanes and three words just fits.
            request_words: if more < 24 { 16 + more } else { (16 + more).max(lanes + 1) },
            first,
            lanes,
            window,
            close,
            seed,
            fault: Fault::None,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2500, ..ProptestConfig::default() })]
    #[test]
    fn every_message_arrives_once_and_every_lane_gets_its_own_answer(program in program()) {
        run(&program);
    }
}

/// Two waves over one port, that do the same.
fn crowded(ops: &[(Kind, u32)], lanes: u32, first: u16, window: bool, fault: Fault) {
    let wave: Vec<_> = ops.iter().map(|&(kind, units)| Op { kind, mask: some_lanes(lanes, 32), units, reply: 5 }).collect();
    for seed in 0..1500 {
        run(&Program {
            waves: vec![wave.clone(), wave.clone()],
            ports: 1,
            request_words: 8,
            first,
            lanes: 32,
            window,
            close: 0,
            seed,
            fault,
        });
    }
}

/// Two messages before a scrub.
const BEFORE_SCRUB: u16 = Tag::SCRUB_PERIOD - 2;
/// The next message scrubs.
const AT_SCRUB: u16 = Tag::SCRUB_PERIOD - 1;

const MIXED: [(Kind, u32); 6] =
    [(Kind::Post, 0), (Kind::Timeout(40), 1), (Kind::Call, 1), (Kind::Post, 4), (Kind::Post, 1), (Kind::Call, 0)];
const POSTS: [(Kind, u32); 2] = [(Kind::Post, 0), (Kind::Post, 0)];
const MANY_POSTS: [(Kind, u32); 6] = [(Kind::Post, 0), (Kind::Post, 2), (Kind::Post, 0), (Kind::Post, 1), (Kind::Post, 0), (Kind::Call, 0)];
const SHORT_AND_LONG: [(Kind, u32); 4] = [(Kind::Post, 0), (Kind::Call, 6), (Kind::Post, 0), (Kind::Call, 6)];
const GIVEN_UP: [(Kind, u32); 3] = [(Kind::Drop, 1), (Kind::Call, 1), (Kind::Call, 0)];
const TOGETHER: [(Kind, u32); 5] =
    [(Kind::PostTogether, 3), (Kind::Together, 14), (Kind::PostTogether, 0), (Kind::PostTogether, 9), (Kind::Together, 2)];

#[test]
fn a_crowded_port_works_with_every_seed() {
    for ops in [&MIXED[..], &POSTS, &MANY_POSTS, &SHORT_AND_LONG, &GIVEN_UP, &TOGETHER] {
        for window in [false, true] {
            crowded(ops, 0b11, BEFORE_SCRUB, window, Fault::None);
            crowded(ops, 0b1, AT_SCRUB, window, Fault::None);
        }
    }
}

/// Three waves that keep ports while they call, over one port or a few.
fn keeping(fault: Fault) {
    let kinds = [Kind::Keep, Kind::Call, Kind::Keep, Kind::Post, Kind::Together, Kind::Keep, Kind::Call];
    for seed in 0..1200 {
        let wave = |w: u64| {
            // Not all begin alike.
            let ops = kinds.iter().skip((w * (seed / 3) % 3) as usize);
            ops.map(|&kind| Op { kind, mask: some_lanes(0b11, 32), units: 2, reply: 5 }).collect()
        };
        let ports = 1 + (seed % 3) as u32;
        let (waves, window) = ((0..3).map(wave).collect(), seed % 2 == 0);
        run(&Program { waves, ports, request_words: 16, first: BEFORE_SCRUB, lanes: 32, window, close: 0, seed, fault });
    }
}

#[test]
fn waves_that_keep_ports_and_call_on_are_never_stuck() {
    keeping(Fault::None);
}

/// Two calls with long replies, of the same sequence number, and nothing but posts between them: words that only the
/// two scrubs rewrite.
fn long_replies_a_lap_apart(fault: Fault) {
    let op = |kind, reply| Op { kind, mask: 1, units: 0, reply };
    let mut ops = vec![op(Kind::Call, 60)];
    ops.extend((1..1 << 15).map(|_| op(Kind::Post, 0)));
    ops.extend([op(Kind::Call, 60); 3]);
    for seed in 0..6 {
        let waves = vec![ops.clone()];
        run(&Program { waves, ports: 1, request_words: 33, first: 100, lanes: 32, window: false, close: 0, seed, fault });
    }
}

#[test]
fn no_word_of_a_reply_lives_for_a_lap() {
    long_replies_a_lap_apart(Fault::None);
}

#[test]
fn a_port_lives_through_a_lap_of_the_tag() {
    // 2^15 messages and some more: calls and posts, of one lane and of two, short and long, so that most words of the
    // areas are as old as they can get when a scrub rewrites them.
    for window in [false, true] {
        let op = |i: u32| Op {
            kind: [Kind::Post, Kind::Call, Kind::Post, Kind::PostTogether, Kind::Together][(i % 5) as usize],
            mask: some_lanes(if i.is_multiple_of(3) { 0b1 } else { 0b11 }, 32),
            units: if i.is_multiple_of(1009) { 9 } else { i % 3 },
            reply: if i.is_multiple_of(1013) { 40 } else { i % 4 },
        };
        run(&Program {
            waves: vec![(0..(1 << 15) + 100).map(op).collect()],
            ports: 1,
            request_words: 12,
            first: 0x7000,
            lanes: 32,
            window,
            close: 0,
            seed: 1,
            fault: Fault::None,
        });
    }
}
