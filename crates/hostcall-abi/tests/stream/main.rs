//! Random programs of messages through the real sender and the real reader of a ring, over a bus that delivers every
//! unit by itself, in any order.
//!
//! The idea: waves run as fibers, so that a seed decides every step ([`ring`]). Each unit that a lane stores waits in a
//! bag, from which the seed draws. Credit travels back with a delay of its own. The reader looks when the seed says so.
//! What must come of it is simple ([`program`]): every message arrives once, whole, in the order of its wave, or its
//! sender was told that it was dropped. [`faults`] breaks one rule at a time, and must be found out. [`hostile`] has
//! what a device may write that keeps no rule at all.
#![cfg(not(loom))]
#![allow(missing_docs, unreachable_pub, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;
mod faults;
mod hostile;
mod latest;
mod program;
mod ring;

use hostcall_abi::stream::bounds::{MOST, span};
use hostcall_abi::stream::{Bounds, Gate, Policy};
use program::{Op, Program, run};
use proptest::prelude::*;
use ring::Fault;

/// The lanes that groups are made of: neither dense nor a prefix, and those whose bits need a place of their own.
const LANES: [u32; 5] = [0, 2, 13, 30, 31];

fn op(wide: bool) -> impl Strategy<Value = Op> {
    let some = 1..1u64 << if wide { 2 * LANES.len() } else { LANES.len() };
    let mask = prop_oneof![
        8 => some.prop_map(|few| {
            let lanes = LANES.iter().copied().chain(LANES.iter().map(|lane| lane + 32)).enumerate();
            lanes.filter(|(bit, _)| few >> bit & 1 == 1).map(|(_, lane)| 1u64 << lane).sum()
        }),
        1 => Just(if wide { u64::MAX } else { u64::from(u32::MAX) }),
    ];
    let policy = prop::sample::select(&Policy::CHOICES);
    let live = prop::bool::weighted(0.25);
    let units = prop_oneof![3 => prop::sample::select(&program::UNITS), 1 => Just(program::BYTES)];
    (mask, units, policy, live).prop_map(|(mask, units, policy, live)| Op { mask, units, policy, live })
}

/// Gates of all kinds. Waves are workgroups here.
fn gate() -> impl Strategy<Value = Gate> {
    let lanes = prop_oneof![Just(u64::MAX), Just(0x8000_2001_8000_2001), any::<u64>()];
    let groups = prop_oneof![Just((0, u32::MAX)), (0..4u32, 0..4u32)];
    let switches = (prop::bool::weighted(0.1), prop::bool::weighted(0.5));
    (lanes, groups, 0..4u32, switches, 0..2000u32).prop_map(|(lanes, (first, groups), rate_log2, (shut, bounded), patience)| Gate {
        lanes,
        first,
        groups,
        rate_log2,
        shut: shut.into(),
        patience,
        bounded: bounded.into(),
    })
}

/// Bounds of what there is: y of workgroups, x of lanes, waves.
fn bounds() -> impl Strategy<Value = Bounds> {
    (0..4u32, 0..8u32, 0..64u32, 0..64u32, any::<u32>()).prop_map(|(group, last_group, lane, last_lane, waves)| Bounds {
        group_y: span(group, last_group),
        lane_x: span(lane.min(last_lane), MOST),
        waves: waves | waves >> 8,
        ..Bounds::NONE
    })
}

fn gates() -> impl Strategy<Value = [Gate; 2]> {
    prop_oneof![gate().prop_map(|gate| [gate; 2]), [gate(), gate()]]
}

pub fn program() -> impl Strategy<Value = Program> {
    // At the start, before the first lap's end, and where the low bits of positions wrap.
    let first = prop_oneof![Just(0u64), 1000..1030u64, (1u64 << 32) - 30..(1u64 << 32) + 10];
    any::<bool>().prop_flat_map(move |wide| {
        let waves = prop::collection::vec(prop::collection::vec(op(wide), 1..40), 1..5);
        (waves, first.clone(), any::<u64>(), 1..200u32, gates(), bounds()).prop_map(move |(waves, first, seed, slowness, gates, bounds)| {
            Program { waves, wide, first, seed, slowness, fault: Fault::None, gates, bounds, killed: None }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_message_arrives_once_and_whole_in_the_order_of_its_wave_or_is_counted(program in program()) {
        run(&program);
    }

    #[test]
    fn a_kernel_that_is_killed_anywhere_costs_what_was_under_way_and_the_ring_goes_on(program in program(), after in 0..4000u32) {
        run(&Program { killed: Some(after), ..program });
    }
}

/// One of these waves alone fills the ring several times.
fn flood(policy: Policy, slowness: u32) -> Program {
    let op = Op { mask: u64::from(u32::MAX), units: 31, policy, live: false };
    let gates = [Gate { patience: 100, ..Gate::OPEN }; 2];
    Program {
        waves: vec![vec![op; 60]; 3],
        wide: false,
        first: 0,
        seed: 7,
        slowness,
        fault: Fault::None,
        gates,
        bounds: Bounds::NONE,
        killed: None,
    }
}

#[test]
fn waves_wait_for_a_slow_reader_and_lose_nothing() {
    let counted = run(&flood(Policy::Block, 10_000));
    assert!(counted.waited > 0 && counted.dropped == 0, "{counted:?}");
}

#[test]
fn messages_are_dropped_for_a_slow_reader_and_counted_and_hardly_any_wait() {
    let counted = run(&flood(Policy::Drop, 10_000));
    assert!(counted.dropped > 10 * counted.waited, "{counted:?}");
}

#[test]
fn messages_that_wait_for_a_while_are_dropped_when_it_is_over_and_counted() {
    let counted = run(&flood(Policy::Wait, 10_000));
    assert!(counted.dropped > 0 && counted.waited >= counted.dropped, "{counted:?}");
    let patient = Program { gates: [Gate { patience: u32::MAX, ..Gate::OPEN }; 2], ..flood(Policy::Wait, 10_000) };
    let counted = run(&patient);
    assert!(counted.waited > 0 && counted.dropped == 0, "{counted:?}");
}

#[test]
fn the_fuller_the_ring_the_fewer_samples_are_sent_and_they_stand_for_the_others() {
    let counted = run(&flood(Policy::Sample, 10_000));
    assert!(counted.filtered > 0 && counted.stand_for > counted.received, "{counted:?}");
    assert_eq!(counted.received + u64::from(counted.filtered + counted.dropped), 180, "{counted:?}");
}

#[test]
fn what_samples_stand_for_is_what_was_sent_however_slow_the_reader_is() {
    let op = Op { mask: 1, units: 1, policy: Policy::Sample, live: false };
    for slowness in [100, 1000, 10_000] {
        let flood = Program { waves: vec![vec![op; 8000]; 3], ..flood(Policy::Sample, slowness) };
        let counted = run(&flood);
        assert_eq!(counted.received + u64::from(counted.filtered + counted.dropped), 24_000, "{counted:?}");
        assert!(counted.filtered > 12_000 && counted.dropped < 240, "{slowness}: {counted:?}");
        // The numbers are those of the seed: this is by how much the sum of the weights is off.
        assert!((20_000..28_000).contains(&counted.stand_for), "{slowness}: {counted:?}");
    }
}

#[test]
fn a_gate_lets_through_the_workgroups_and_lanes_that_are_wanted() {
    let op = Op { mask: 0x8000_2005, units: 4, policy: Policy::Block, live: true };
    let program = |gate: Gate| Program { waves: vec![vec![op; 5]; 4], gates: [gate; 2], ..flood(Policy::Block, 4) };
    for (gate, received, filtered) in [
        (Gate::OPEN, 20, 0),
        (Gate { first: 1, groups: 2, ..Gate::OPEN }, 10, 10),
        (Gate { lanes: 0x2004, ..Gate::OPEN }, 20, 0),
        (Gate { lanes: 2, ..Gate::OPEN }, 0, 20),
        (Gate { shut: 1, ..Gate::OPEN }, 0, 0),
    ] {
        let counted = run(&program(gate));
        assert_eq!((counted.received, counted.filtered), (received, filtered), "{gate:?}");
    }
    let counted = run(&program(Gate { rate_log2: 1, ..Gate::OPEN }));
    assert!(counted.received > 0 && counted.filtered > 0 && counted.received + u64::from(counted.filtered) == 20, "{counted:?}");
    assert_eq!(counted.stand_for, 2 * counted.received);
}

#[test]
fn bounds_let_through_the_places_that_are_wanted_and_only_if_the_gate_says_that_there_are_any() {
    let op = Op { mask: 0x8000_2005, units: 4, policy: Policy::Block, live: true };
    let program = |gate: Gate, bounds| Program { waves: vec![vec![op; 5]; 4], gates: [gate; 2], bounds, ..flood(Policy::Block, 4) };
    let bounded = Gate { bounded: 1, ..Gate::OPEN };
    for (gate, bounds, received, filtered) in [
        (bounded, Bounds::NONE, 20, 0),
        (Gate::OPEN, Bounds { waves: 0, ..Bounds::NONE }, 20, 0),
        (bounded, Bounds { waves: 0b1010, ..Bounds::NONE }, 10, 10),
        (bounded, Bounds { group_y: span(1, 3), ..Bounds::NONE }, 15, 5),
        (bounded, Bounds { group_z: span(1, 3), ..Bounds::NONE }, 0, 20),
        (bounded, Bounds { first_x: 1, ..Bounds::NONE }, 0, 20),
        (bounded, Bounds { lane_x: span(2, 13), ..Bounds::NONE }, 20, 0),
        (bounded, Bounds { lane_x: span(3, 12), ..Bounds::NONE }, 0, 20),
        (Gate { first: 1, groups: 2, ..bounded }, Bounds { group_y: span(2, 3), ..Bounds::NONE }, 5, 15),
    ] {
        let counted = run(&program(gate, bounds));
        assert_eq!((counted.received, counted.filtered), (received, filtered), "{gate:?} {bounds:?}");
    }
}
