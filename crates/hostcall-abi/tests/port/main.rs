//! Random programs of messages through the real client and the real server, over a bus that delivers stores in any order.
//!
//! The idea: waves run as fibers ([`lanes`]), so that a seed decides every step; every store that crosses the bus waits in a queue, from
//! which the seed delivers any that coherence does not hold back ([`bus`]); and a plain model says what must come of it ([`program`]).
//! So what a GPU's memory system may do to unordered stores is done here on purpose, in both forms of the words.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "a test")]

mod bus;
mod lanes;
mod program;

use hostcall_abi::geometry::WordForm;
use program::{Fault, Kind, Op, Program, run};
use proptest::prelude::*;

fn op(lanes: u32) -> impl Strategy<Value = Op> {
    let kind = prop_oneof![
        4 => Just(Kind::Call),
        4 => Just(Kind::Post),
        1 => Just(Kind::Drop),
        1 => (1..400u64).prop_map(Kind::Timeout),
        1 => Just(Kind::Start),
    ];
    (kind, 1..1u32 << lanes, 0..4u32, 0..14u32).prop_map(|(kind, mask, words, reply)| Op { kind, mask, words, reply })
}

fn program() -> impl Strategy<Value = Program> {
    let first = prop_oneof![Just(0), Just((1u32 << 30) - 3), Just((1u32 << 31) - 3), any::<u32>()];
    let waves = prop::collection::vec(prop::collection::vec(op(5), 0..7), 1..4);
    (waves, 1..4u32, 0..24u32, first, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(
        |(waves, ports, more, first, wide, triple, seed)| Program {
            waves,
            ports,
            // A message of five lanes and three words just fits.
            request_words: 16 + more,
            first,
            lanes: if wide { 64 } else { 32 },
            form: if triple { WordForm::Triple8 } else { WordForm::Single16 },
            seed,
            fault: Fault::None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]
    #[test]
    fn every_message_arrives_once_and_every_lane_gets_its_own_answer(program in program()) {
        run(&program);
    }
}

/// Two waves of two lanes over one port, across a scrub.
fn crowded(ops: &[(Kind, u32)], fault: Fault) {
    let wave: Vec<_> = ops.iter().map(|&(kind, words)| Op { kind, mask: 0b11, words, reply: 4 }).collect();
    for seed in 0..1500 {
        run(&Program {
            waves: vec![wave.clone(), wave.clone()],
            ports: 1,
            request_words: 8,
            first: (1 << 30) - 2,
            lanes: 32,
            form: WordForm::Single16,
            seed,
            fault,
        });
    }
}

const MIXED: [(Kind, u32); 6] =
    [(Kind::Post, 0), (Kind::Timeout(40), 1), (Kind::Call, 1), (Kind::Post, 2), (Kind::Post, 1), (Kind::Call, 0)];
const POSTS: [(Kind, u32); 2] = [(Kind::Post, 0), (Kind::Post, 0)];
const SHORT_AND_LONG: [(Kind, u32); 4] = [(Kind::Post, 0), (Kind::Call, 2), (Kind::Post, 0), (Kind::Call, 2)];
const GIVEN_UP: [(Kind, u32); 3] = [(Kind::Drop, 1), (Kind::Call, 1), (Kind::Call, 0)];

#[test]
fn a_crowded_port_works_with_every_seed() {
    crowded(&MIXED, Fault::None);
    crowded(&POSTS, Fault::None);
    crowded(&SHORT_AND_LONG, Fault::None);
    crowded(&GIVEN_UP, Fault::None);
}

#[test]
#[should_panic]
fn a_server_that_ignores_tags_is_found_out() {
    crowded(&MIXED, Fault::AnyTag);
}

#[test]
#[should_panic]
fn a_server_that_looks_at_a_port_it_still_serves_is_found_out() {
    crowded(&GIVEN_UP, Fault::LooksWhileServing);
}

#[test]
#[should_panic]
fn a_server_that_does_not_wait_for_a_scrub_is_found_out() {
    crowded(&SHORT_AND_LONG, Fault::ScrubUnseen);
}

#[test]
#[should_panic]
fn a_server_that_drains_by_the_doorbells_alone_is_found_out() {
    crowded(&POSTS, Fault::DrainsByDoorbell);
}

#[test]
#[should_panic(expected = "stuck")]
fn a_server_that_forgets_to_acknowledge_is_found_out() {
    crowded(&MIXED, Fault::NoAck);
}
