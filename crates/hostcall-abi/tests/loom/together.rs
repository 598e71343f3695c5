//! Messages of one lane that several lanes send: each stores a word, or several.

use hostcall_abi::Tag;

use crate::machine::{Server, answer, together};
use crate::{ONE, TWO, explore, host, memory, wave};

/// A post and a call after message `seq`, of `lanes` lanes each, with `words` words behind their headers.
fn post_and_call(seq: u16, lanes: u32, words: u32, room: u32) {
    explore(TWO, move || {
        let memory = memory(seq, room, 2, Tag::new(seq).payload());
        let client = wave(&memory, move |wave| {
            assert_eq!(together(wave, 1, words, lanes, 0, false), Ok(0));
            assert_eq!(together(wave, 2, words, lanes, 0, true), Ok(answer(2)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(seq)).serve_in_looks(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn two_lanes_send_the_message_of_one() {
    post_and_call(0, 2, 1, 4);
}

#[test]
fn lanes_send_more_words_than_they_are() {
    // (Two lanes, three words; the call restarts the ring.)
    post_and_call(0, 2, 2, 3);
}

#[test]
fn more_lanes_than_words_send_a_message_across_a_scrub() {
    post_and_call((1 << 14) - 1, 3, 1, 3);
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_lane_that_does_not_help_leaves_the_message_open() {
    explore(ONE, || {
        let memory = memory(0, 4, 2, 0);
        let client = wave(&memory, |wave| {
            let _ = together(wave, 1, 1, 2, 1, true);
        });
        host(&memory, |memory| Server::new(memory, Tag::new(0)).serve(1));
        client.join().unwrap();
    });
}
