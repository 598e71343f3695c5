//! What must fail: each test breaks one rule, and some execution shows it.

use hostcall_abi::port::{Client, HostMemory};
use hostcall_abi::{Flags, Status, Tag, Word};
use std::cell::Cell;

use crate::machine::{Fault, Memory, Registers, Server, Wave, answer, call, payload, post};
use crate::{ONE, TWO, explore, host, memory, wave};

/// Host memory whose payload words always seem to carry the tag of the last header seen.
struct Trusting<'a>(&'a Memory, Cell<u16>);

impl HostMemory for Trusting<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        let word = self.0.load_request(port, index);
        let tag = Tag::new(word.tag());
        if word.tag() == tag.header() {
            self.1.set(tag.payload());
            word
        } else {
            Word::new(word.0, self.1.get())
        }
    }
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        self.0.store_reply(port, index, word);
    }
}

#[test]
#[should_panic(expected = "a payload of two messages")]
fn a_server_that_ignores_the_tags_of_payload_reads_stale_words() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| assert_eq!(call(wave, 1, 1, 0), Ok(answer(1))));
        host(&memory, |memory| Server::through(memory, &Trusting(memory, Cell::new(0)), Tag::new(0)).serve(1));
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_client_that_ignores_the_tags_of_replies_takes_an_old_one() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let wave = wave.broken(Fault::AnyReply);
            assert_eq!(call(wave, 1, 1, 0), Ok(answer(1)));
        });
        host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(1));
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "a payload of two messages")]
fn without_the_scrub_words_of_the_last_lap_are_taken_for_new_ones() {
    explore(TWO, || {
        // As in `words_of_the_last_lap_are_never_taken_for_new_ones`; the server does not wait for the scrub either, as
        // it finds the tags it wants in the words of the last lap.
        let last = Tag::new((1 << 15) - 1);
        let memory = memory(last.seq(), 3, 2, last.next().next().payload());
        let client = wave(&memory, |wave| {
            let wave = wave.broken(Fault::NoScrub);
            assert_eq!(call(wave, 1, 0, 0), Ok(answer(1)));
            assert_eq!(call(wave, 2, 2, 0), Ok(answer(2)));
        });
        host(&memory, move |memory| Server::through(memory, &Unscrubbed(memory, Cell::new(false)), last).serve(2));
        client.join().unwrap();
    });
}

/// Host memory that pretends that the scrub of message 0 is there.
struct Unscrubbed<'a>(&'a Memory, Cell<bool>);

impl HostMemory for Unscrubbed<'_> {
    fn load_request(&self, port: u32, index: u32) -> Word {
        if index > 0 && self.1.get() {
            return Word::new([0; 4], Tag::new(0).payload());
        }
        let word = self.0.load_request(port, index);
        if index == 0 {
            self.1.set(word.tag() == Tag::new(0).header());
        }
        word
    }
    fn store_reply(&self, port: u32, index: u32, word: Word) {
        self.0.store_reply(port, index, word);
    }
}

/// A wave posts; then the thread that serves posts as another wave, over the same port, and serves both. (Two threads,
/// so that loom need not be fair to a third.)
fn two_owners_post(fault: Fault) {
    explore(ONE, move || {
        let memory = memory(0, 4, 2, 0);
        let first = wave(&memory, move |wave| assert_eq!(post(wave.broken(fault), 1, 1), Ok(())));
        let mut seen = host(&memory, move |memory| {
            let registers = Registers::default();
            assert_eq!(post(Wave::new(memory, &registers).broken(fault), 2, 1), Ok(()));
            Server::new(memory, Tag::new(0)).serve(2)
        });
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        first.join().unwrap();
    });
}

#[test]
fn a_lock_that_acquires_and_releases_keeps_both_owners_posts() {
    two_owners_post(Fault::SpinLock);
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_lock_that_orders_nothing_may_leave_the_older_ring() {
    // In C++'s model the first owner's ring may come after the second's in the doorbell's own order; a server that
    // never looks at the port unasked then misses the second post.
    two_owners_post(Fault::RelaxedLock);
}

#[test]
#[should_panic]
fn a_lock_that_is_not_atomic_gives_a_port_to_two_waves() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let clients =
            [1, 2].map(|value| wave(&memory, move |wave| assert_eq!(call(wave.broken(Fault::TornLock), value, 1, 0), Ok(answer(value)))));
        let mut seen = host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        for client in clients {
            client.join().unwrap();
        }
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_client_that_forgets_the_call_it_gave_up_overwrites_it() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let (client, group) = (Client(wave), wave.group());
            let mut held = client.acquire(&group, true).unwrap();
            assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, 5, |i| payload(1, i)), Status::OK);
            // It gives up, and releases the port as if the reply had come.
            held.state = hostcall_abi::port::PortState::new(held.tag(), 0, false);
            client.release(&group, held);
            let _ = call(wave, 2, 1, 0);
        });
        host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_client_that_restarts_the_ring_unasked_loses_a_post() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let (client, group) = (Client(wave), wave.group());
            for value in [1, 2] {
                let mut held = client.acquire(&group, true).unwrap();
                assert_eq!(client.send(&group, &mut held, 1, Flags::default(), 5, |i| payload(value, i)), Status::OK);
                held.state = hostcall_abi::port::PortState::new(held.tag(), 0, false);
                client.release(&group, held);
            }
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_port_released_before_its_lanes_have_read_loses_their_replies() {
    explore(TWO, || {
        let memory = memory(0, 1, 2, 0);
        let hasty = wave(&memory, |wave| {
            let (client, group) = (Client(wave), wave.group());
            let mut held = client.acquire(&group, true).unwrap();
            assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, 0, |i| payload(0, i)), Status::OK);
            assert_eq!(client.receive::<1>(&group, &mut held, 0).head.status, Status::OK);
            client.release(&group, held);
            // A lane still reads: the words may be the next owner's by now.
            client.reply_word(&group, &held, 0);
        });
        let next = wave(&memory, |wave| assert_eq!(call(wave, 0, 0, 0), Ok(answer(0))));
        host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        hasty.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_server_that_looks_at_a_port_it_still_serves_overwrites_the_next_calls_reply() {
    explore(TWO, || {
        let memory = memory(0, 3, 2, 0);
        let client = wave(&memory, |wave| {
            let wave = wave.lockstep();
            let _ = call(wave, 1, 1, 1);
            assert_eq!(call(wave, 2, 1, 0), Ok(answer(2)));
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            let first = server.wait();
            server.answer_one(first, 0);
            // The second lane's handler has not ended, yet the server takes the next message …
            let second = server.wait();
            server.answer_all(second);
            // … and the late reply lies over that of the next call.
            server.answer_one(first, 1);
        });
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_server_that_goes_without_a_word_leaves_a_wave_waiting() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let _ = call(wave, 1, 1, 0);
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            if let Some(seen) = server.look() {
                server.answer_all(seen);
            }
        });
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn a_server_that_never_acknowledges_posts_blocks_the_ring() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let _ = post(wave, 1, 1);
            let _ = post(wave, 2, 1);
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            server.wait();
            server.wait();
        });
        client.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "the server is gone")]
fn a_server_that_closes_while_it_could_answer_fails_the_call() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| assert_eq!(call(wave, 1, 1, 0), Ok(answer(1))));
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            let seen = server.wait();
            memory.close(Status::SERVER_GONE);
            server.answer_all(seen);
        });
        client.join().unwrap();
    });
}
