//! The same programs with one rule broken: they must notice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hostcall_abi::stream::{Bounds, Gate, Policy};

use crate::program::{BYTES, Op, Program, run};
use crate::ring::Fault;

fn op(units: u32, mask: u64) -> Op {
    Op { mask, units, policy: Policy::Block, live: false }
}

/// Programs that fill the ring several times over; the more of the seeds notice, the better.
fn noticed(fault: Fault, slowness: u32) -> usize {
    noticed_of((0..60).map(|i| if i % 3 == 0 { op(31, 0xc000_2005) } else { op(7, u64::from(u32::MAX)) }).collect(), fault, slowness)
}

/// The same of messages of bytes.
fn noticed_of_bytes(fault: Fault, slowness: u32) -> usize {
    noticed_of((0..40).map(|_| op(BYTES, 0xc000_2005)).collect(), fault, slowness)
}

fn noticed_of(ops: Vec<Op>, fault: Fault, slowness: u32) -> usize {
    (0..6)
        .filter(|seed| {
            let waves = vec![ops.clone(); 4];
            let program = Program {
                waves,
                wide: false,
                first: 0,
                seed: *seed,
                slowness,
                fault,
                gates: [Gate::OPEN; 2],
                bounds: Bounds::NONE,
                killed: None,
            };
            catch_unwind(AssertUnwindSafe(|| run(&program))).is_err()
        })
        .count()
}

#[test]
fn the_programs_pass_with_no_rule_broken() {
    assert_eq!((noticed(Fault::None, 40), noticed_of_bytes(Fault::None, 40)), (0, 0));
}

#[test]
fn quads_without_bytes_that_are_not_stored_are_noticed() {
    assert_eq!(noticed_of_bytes(Fault::NoPadding, 40), 6);
}

#[test]
fn quads_that_say_that_they_have_more_bytes_than_they_have_are_noticed() {
    assert_eq!(noticed_of_bytes(Fault::TooManyBytes, 40), 6);
}

#[test]
fn top_bits_of_bytes_that_get_lost_are_noticed() {
    assert_eq!(noticed_of_bytes(Fault::NoTopsOfBytes, 40), 6);
}

#[test]
fn rules_of_the_ring_that_are_broken_are_noticed_by_messages_of_bytes() {
    for (fault, slowness) in [(Fault::NoCredit, 4000), (Fault::TooMuchCredit, 4000), (Fault::OnePhaseInFour, 4), (Fault::AnyPhase, 4)] {
        assert_eq!(noticed_of_bytes(fault, slowness), 6, "{fault:?}");
    }
}

#[test]
fn waves_that_do_not_wait_for_credit_are_noticed() {
    assert_eq!(noticed(Fault::NoCredit, 4000), 6);
}

#[test]
fn credit_for_what_has_not_been_read_is_noticed() {
    assert_eq!(noticed(Fault::TooMuchCredit, 4000), 6);
}

#[test]
fn a_reader_that_looks_at_one_phase_in_four_is_noticed() {
    assert_eq!(noticed(Fault::OnePhaseInFour, 4), 6);
}

#[test]
fn a_reader_that_looks_at_the_first_phase_alone_is_noticed() {
    assert_eq!(noticed(Fault::AnyPhase, 4), 6);
}

#[test]
fn padding_that_is_not_stored_is_noticed() {
    assert_eq!(noticed(Fault::NoPadding, 40), 6);
}

#[test]
fn top_bits_of_the_last_lane_that_get_lost_are_noticed() {
    assert_eq!(noticed(Fault::NoLastLane, 40), 6);
}
