//! Posts: many are taken in one look, left where they are for a while, and acknowledged together.

use hostcall_abi::Tag;
use loom::thread;

use crate::machine::{Fault, Server, answer, call, post};
use crate::{ONE, TWO, explore, host, memory, wave};

#[test]
fn posts_of_one_look_are_acknowledged_once_and_the_ring_goes_on() {
    explore(TWO, || {
        // Two posts fill the ring; the third waits until the host has taken the second.
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            for value in [1, 2, 3] {
                assert_eq!(post(wave, value, 0), Ok(()));
            }
        });
        let seen = host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            let (first, second) = (server.wait(), server.wait());
            server.acknowledge(second.tag);
            vec![first.value, second.value, server.serve(1)[0]]
        });
        assert_eq!(seen, [1, 2, 3]);
        client.join().unwrap();
    });
}

#[test]
fn a_post_and_a_call_are_taken_in_one_look_or_in_two() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 0), Ok(()));
            assert_eq!(call(wave, 2, 0, 0), Ok(answer(2)));
        });
        assert_eq!(host(&memory, |memory| Server::new(memory, Tag::new(0)).serve_in_looks(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn posts_of_two_waves_are_acknowledged_to_whoever_posts_next() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let clients = [1, 2].map(|value| wave(&memory, move |wave| assert_eq!(post(wave, value, 0), Ok(()))));
        let mut seen = host(&memory, |memory| Server::new(memory, Tag::new(0)).serve_in_looks(2));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        for client in clients {
            client.join().unwrap();
        }
    });
}

#[test]
fn a_post_that_is_left_for_a_while_is_neither_lost_nor_doubled() {
    explore(TWO, || {
        let memory = memory(0, 4, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 0), Ok(()));
            assert_eq!(call(wave, 2, 0, 0), Ok(answer(2)));
        });
        let seen = host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            // There is no room for the post yet: it stays, and so does all behind it.
            while server.peek().is_none() {
                thread::yield_now();
            }
            thread::yield_now();
            let left = server.peek().expect("what was there").0;
            let taken = server.look().expect("what was there");
            assert_eq!(left, taken);
            server.answer_all(taken);
            vec![taken.value, server.serve(1)[0]]
        });
        assert_eq!(seen, [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn a_scrubbing_post_is_acknowledged_by_its_own_tag() {
    explore(TWO, || {
        // Everything carries the tag that the second message will have.
        let last = Tag::new((1 << 14) - 1);
        let memory = memory(last.seq(), 4, 2, last.next().next().payload());
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 0), Ok(()));
            assert_eq!(post(wave, 2, 1), Ok(()));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, last).serve_in_looks(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn a_wave_that_waits_makes_good_a_ring_that_was_lost() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let wave = wave.broken(Fault::FirstRingLost);
            assert_eq!(post(wave, 1, 1), Ok(()));
            assert_eq!(post(wave, 2, 1), Ok(()));
        });
        assert_eq!(host(&memory, |memory| Server::new(memory, Tag::new(0)).serve_in_looks(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn an_acknowledgement_behind_a_later_answer_takes_the_answer_away() {
    explore(ONE, || {
        let memory = memory(0, 4, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 0), Ok(()));
            assert_eq!(call(wave, 2, 0, 0), Ok(answer(2)));
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            let (posted, called) = (server.wait(), server.wait());
            server.answer_all(called);
            server.acknowledge(posted.tag);
        });
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn an_acknowledgement_of_what_was_not_taken_loses_a_post() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 1), Ok(()));
            assert_eq!(post(wave, 2, 1), Ok(()));
        });
        host(&memory, |memory| {
            while memory.rung() == Tag::new(0) {
                thread::yield_now();
            }
            let mut server = Server::new(memory, Tag::new(0));
            server.acknowledge(memory.rung());
            server.serve(2);
        });
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_scrubbing_post_that_is_not_acknowledged_blocks_its_port() {
    explore(ONE, || {
        let last = Tag::new((1 << 14) - 1);
        let memory = memory(last.seq(), 4, 2, last.payload());
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 0), Ok(()));
            let _ = post(wave, 2, 0);
        });
        host(&memory, move |memory| {
            let mut server = Server::new(memory, last);
            server.wait();
            server.acknowledge(last);
        });
        client.join().unwrap();
    });
}
