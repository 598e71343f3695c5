//! What must be found out: each test breaks one rule, and some seed shows it.

use crate::message::{Kind, Op};
use crate::program::{Fault, Program, run};
use crate::{
    BEFORE_SCRUB, GIVEN_UP, MANY_POSTS, MIXED, POSTS, SHORT_AND_LONG, TOGETHER, crowded, keeping, long_replies_a_lap_apart, some_lanes,
};

#[test]
#[should_panic]
fn a_server_that_ignores_tags_is_found_out() {
    crowded(&MIXED, 0b11, BEFORE_SCRUB, false, Fault::AnyTag);
}

#[test]
#[should_panic]
fn a_server_that_looks_at_a_port_it_still_serves_is_found_out() {
    crowded(&GIVEN_UP, 0b1_1111, BEFORE_SCRUB, false, Fault::LooksWhileServing);
}

#[test]
#[should_panic]
fn a_server_that_does_not_wait_for_a_scrub_is_found_out() {
    crowded(&SHORT_AND_LONG, 0b11, BEFORE_SCRUB, false, Fault::ScrubUnseen);
}

#[test]
#[should_panic(expected = "messages that were sent")]
fn a_server_that_drains_by_the_doorbells_alone_is_found_out() {
    crowded(&POSTS, 0b11, BEFORE_SCRUB, false, Fault::DrainsByDoorbell);
}

#[test]
#[should_panic(expected = "stuck")]
fn a_server_that_forgets_to_acknowledge_is_found_out() {
    crowded(&MIXED, 0b11, BEFORE_SCRUB, false, Fault::NoAck);
}

#[test]
#[should_panic]
fn an_acknowledgement_behind_the_answer_to_a_later_call_is_found_out() {
    crowded(&MANY_POSTS, 0b1, BEFORE_SCRUB, false, Fault::LateAck);
}

#[test]
#[should_panic]
fn a_server_that_acknowledges_what_it_has_not_taken_is_found_out() {
    crowded(&MANY_POSTS, 0b1, BEFORE_SCRUB, false, Fault::AcksTheDoorbell);
}

#[test]
#[should_panic(expected = "stuck")]
fn a_scrubbing_post_that_is_not_acknowledged_is_found_out() {
    crowded(&MANY_POSTS, 0b1, BEFORE_SCRUB, false, Fault::NoAckOfScrub);
}

#[test]
#[should_panic(expected = "another lane's reply")]
fn a_scrubbing_post_whose_acknowledgement_leaves_old_replies_is_found_out() {
    long_replies_a_lap_apart(Fault::PlainAckOfScrub);
}

#[test]
#[should_panic(expected = "messages that were sent")]
fn a_server_that_drops_what_it_has_no_room_for_is_found_out() {
    crowded(&MANY_POSTS, 0b1, BEFORE_SCRUB, false, Fault::DropsWhenFull);
}

#[test]
#[should_panic(expected = "stuck")]
fn waves_that_wait_for_ports_to_keep_are_found_out() {
    keeping(Fault::WaitsToKeep);
}

#[test]
#[should_panic(expected = "stuck")]
fn waves_that_keep_the_last_port_are_found_out() {
    keeping(Fault::KeepsTheLast);
}

#[test]
#[should_panic(expected = "words loaded")]
fn a_server_that_copies_a_slow_message_at_each_look_is_found_out() {
    let op = |units| Op { kind: Kind::Post, mask: some_lanes(0b1_1111, 32), units, reply: 0 };
    for seed in 0..200 {
        let waves = vec![vec![op(30), op(38), op(20)]];
        let fault = Fault::ForgetsWhatItFound;
        run(&Program { waves, ports: 1, request_words: 64, first: 5, lanes: 32, window: false, close: 0, seed, fault });
    }
}

#[test]
#[should_panic]
fn a_window_whose_lines_are_filled_with_later_tags_is_found_out() {
    crowded(&TOGETHER, 0b11, BEFORE_SCRUB, true, Fault::FillerAhead);
}

#[test]
#[should_panic]
fn lines_of_a_window_that_are_written_lane_by_lane_are_found_out() {
    crowded(&MIXED, 0b11, BEFORE_SCRUB, true, Fault::LaneByLane);
}

#[test]
#[should_panic]
fn lanes_that_send_together_and_receive_apart_are_found_out() {
    crowded(&TOGETHER, 0b11, BEFORE_SCRUB, false, Fault::ReceivesApart);
}

#[test]
#[should_panic]
fn lanes_that_send_together_and_receive_apart_take_what_fills_a_line() {
    crowded(&TOGETHER, 0b11, BEFORE_SCRUB, true, Fault::ReceivesApart);
}
