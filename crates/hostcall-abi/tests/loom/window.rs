//! Replies in a window: whole lines, of which the device may see any words first.

use hostcall_abi::Tag;

use crate::machine::{Lines, Server, answer, call, post};
use crate::{ONE, TWO, explore, host, memory_with_window, wave};

/// A short and a long call after message `seq`, whose replies lie in the same line.
fn short_and_long(seq: u16, filler: fn(Tag) -> Tag) {
    explore(TWO, move || {
        let memory = memory_with_window(seq, 3, 1, Tag::new(seq).payload());
        let client = wave(&memory, |wave| {
            assert_eq!(call(wave, 1, 0, 0), Ok(answer(1)));
            assert_eq!(call(wave, 10, 0, 0), Ok(answer(10)));
        });
        let seen = host(&memory, move |memory| {
            let lines = Lines { memory, filler };
            Server::through(memory, &lines, Tag::new(seq)).serve(2)
        });
        assert_eq!(seen, [1, 10]);
        client.join().unwrap();
    });
}

#[test]
fn what_fills_a_line_up_is_never_taken_for_a_reply() {
    short_and_long(0, |tag| tag);
}

#[test]
fn lines_are_right_across_a_scrub() {
    short_and_long((1 << 14) - 2, |tag| tag);
}

#[test]
#[should_panic(expected = "a torn reply")]
fn a_line_filled_up_with_the_next_tag_is_taken_for_the_next_reply() {
    short_and_long(0, Tag::next);
}

#[test]
fn lanes_of_a_group_share_a_line() {
    explore(ONE, || {
        let memory = memory_with_window(0, 3, 1, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(call(wave.lockstep(), 1, 1, 0), Ok(answer(1)));
            assert_eq!(call(wave, 2, 0, 0), Ok(answer(2)));
        });
        let seen = host(&memory, |memory| {
            let lines = Lines { memory, filler: |tag| tag };
            Server::through(memory, &lines, Tag::new(0)).serve(2)
        });
        assert_eq!(seen, [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn a_line_acknowledges_a_post() {
    explore(TWO, || {
        let memory = memory_with_window(0, 2, 1, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 1), Ok(()));
            assert_eq!(call(wave, 10, 0, 0), Ok(answer(10)));
        });
        let seen = host(&memory, |memory| {
            let lines = Lines { memory, filler: |tag| tag };
            Server::through(memory, &lines, Tag::new(0)).serve_in_looks(2)
        });
        assert_eq!(seen, [1, 10]);
        client.join().unwrap();
    });
}
