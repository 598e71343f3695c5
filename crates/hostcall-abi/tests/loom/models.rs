//! What must hold.

use hostcall_abi::port::Client;
use hostcall_abi::{CallError, Flags, Status, Tag};
use loom::thread;

use crate::machine::{Server, answer, call, payload, post};
use crate::{ONE, TWO, explore, host, memory, wave};

/// Two calls of one wave after message `seq`, in a port of words that are a lap old.
fn two_calls_from(seq: u16) {
    explore(TWO, move || {
        // The oldest tags that could be taken for those of the first message.
        let memory = memory(seq, 3, 2, Tag::new(seq).payload());
        let client = wave(&memory, |wave| {
            assert_eq!(call(wave, 1, 2, 0), Ok(answer(1)));
            assert_eq!(call(wave, 2, 1, 0), Ok(answer(2)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(seq)).serve(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn no_call_is_lost_or_answered_twice() {
    two_calls_from(0);
}

#[test]
fn a_call_is_answered_across_the_end_of_the_tags() {
    two_calls_from((1 << 15) - 2);
}

#[test]
fn a_call_is_answered_across_a_scrub() {
    two_calls_from((1 << 14) - 2);
}

#[test]
fn words_of_the_last_lap_are_never_taken_for_new_ones() {
    explore(TWO, || {
        // Everything still carries the tag that the *second* message will have: without the scrub of the first, the
        // second's payload would seem to be there before it is.
        let last = Tag::new((1 << 15) - 1);
        let memory = memory(last.seq(), 3, 2, last.next().next().payload());
        let client = wave(&memory, |wave| {
            assert_eq!(call(wave, 1, 0, 0), Ok(answer(1)));
            assert_eq!(call(wave, 2, 2, 0), Ok(answer(2)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, last).serve(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn two_waves_share_one_port() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let clients = [1, 2].map(|value| wave(&memory, move |wave| assert_eq!(call(wave, value, 1, 0), Ok(answer(value)))));
        let mut seen = host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        for client in clients {
            client.join().unwrap();
        }
    });
}

#[test]
fn posts_go_round_the_ring_and_a_call_follows_them() {
    explore(TWO, || {
        // One post fills the ring; the second waits for the host, and so does the call.
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 1), Ok(()));
            assert_eq!(post(wave, 2, 1), Ok(()));
            assert_eq!(call(wave, 3, 0, 0), Ok(answer(3)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(3)), [1, 2, 3]);
        client.join().unwrap();
    });
}

#[test]
fn posts_lie_one_behind_another_and_a_call_behind_them() {
    explore(TWO, || {
        let memory = memory(0, 5, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 1), Ok(()));
            assert_eq!(post(wave, 2, 1), Ok(()));
            assert_eq!(call(wave, 3, 0, 0), Ok(answer(3)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(3)), [1, 2, 3]);
        client.join().unwrap();
    });
}

#[test]
fn posts_of_two_waves_over_one_port_all_arrive() {
    explore(TWO, || {
        let memory = memory(0, 3, 2, 0);
        let clients = [1, 2].map(|value| wave(&memory, move |wave| assert_eq!(post(wave, value, 1), Ok(()))));
        let mut seen = host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        for client in clients {
            client.join().unwrap();
        }
    });
}

#[test]
fn a_wave_that_waits_learns_of_the_shutdown() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let result = call(wave, 1, 1, 0);
            assert!(matches!(result, Ok(1001) | Err(CallError::ServerGone)), "{result:?}");
            // Everything after it fails as well, and ends.
            if result.is_err() {
                assert_eq!(call(wave, 2, 1, 0), Err(CallError::ServerGone));
            }
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            if let Some(seen) = server.look() {
                server.answer_all(seen);
            }
            memory.close(Status::SERVER_GONE);
        });
        client.join().unwrap();
    });
}

#[test]
fn a_wave_whose_posts_fill_the_ring_learns_of_the_shutdown() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            assert_eq!(post(wave, 1, 1), Ok(()));
            let result = post(wave, 2, 1);
            assert!(matches!(result, Ok(()) | Err(CallError::ServerGone)), "{result:?}");
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            if let Some(seen) = server.look() {
                server.answer_all(seen);
            }
            memory.close(Status::SERVER_GONE);
        });
        client.join().unwrap();
    });
}

#[test]
fn a_buffer_is_deregistered_while_a_handler_runs() {
    explore(ONE, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let result = call(wave, 1, 1, 0);
            assert!(matches!(result, Ok(1001) | Err(CallError::Detached)), "{result:?}");
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            let seen = server.wait();
            memory.close(Status::DETACHED);
            // The handler ends after all, when perhaps nobody waits any more.
            server.answer_all(seen);
        });
        client.join().unwrap();
    });
}

#[test]
fn a_port_is_reused_after_a_call_that_was_given_up() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let client = wave(&memory, |wave| {
            let first = call(wave, 1, 1, 1);
            assert!(matches!(first, Ok(1001) | Err(CallError::Timeout)), "{first:?}");
            assert_eq!(call(wave, 2, 1, 0), Ok(answer(2)));
        });
        assert_eq!(host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2)), [1, 2]);
        client.join().unwrap();
    });
}

#[test]
fn another_wave_takes_the_port_of_a_call_that_was_given_up() {
    explore(TWO, || {
        let memory = memory(0, 2, 2, 0);
        let impatient = wave(&memory, |wave| {
            let first = call(wave, 1, 1, 1);
            assert!(matches!(first, Ok(1001) | Err(CallError::Timeout)), "{first:?}");
        });
        let patient = wave(&memory, |wave| assert_eq!(call(wave, 2, 1, 0), Ok(answer(2))));
        let mut seen = host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        impatient.join().unwrap();
        patient.join().unwrap();
    });
}

#[test]
fn a_port_is_reused_while_a_lane_of_a_given_up_call_is_still_unanswered() {
    explore(TWO, || {
        let memory = memory(0, 3, 2, 0);
        let client = wave(&memory, |wave| {
            let wave = wave.lockstep();
            let first = call(wave, 1, 1, 1);
            assert!(matches!(first, Ok(1001) | Err(CallError::Timeout)), "{first:?}");
            assert_eq!(call(wave, 2, 1, 0), Ok(answer(2)));
        });
        host(&memory, |memory| {
            let mut server = Server::new(memory, Tag::new(0));
            for value in [1, 2] {
                let seen = server.wait();
                assert_eq!((seen.value, seen.lanes), (value, 2));
                // The replies take their time; between them the client may go on with the port. The server does not
                // look.
                server.answer_one(seen, 0);
                thread::yield_now();
                server.answer_one(seen, 1);
            }
        });
        client.join().unwrap();
    });
}

#[test]
fn a_lane_reads_the_rest_of_its_reply_before_the_port_goes_on() {
    explore(TWO, || {
        // The healthy twin of `a_port_released_before_its_lanes_have_read_loses_their_replies`.
        let memory = memory(0, 1, 2, 0);
        let first = wave(&memory, |wave| {
            let (client, group) = (Client(wave), wave.group());
            let mut held = client.acquire(&group, true).unwrap();
            assert_eq!(client.send(&group, &mut held, 1, Flags::REPLY, 0, |i| payload(0, i)), Status::OK);
            assert_eq!(client.receive::<1>(&group, &mut held, 0).head.status, Status::OK);
            client.reply_word(&group, &held, 0);
            client.release(&group, held);
        });
        let next = wave(&memory, |wave| assert_eq!(call(wave, 0, 0, 0), Ok(answer(0))));
        host(&memory, move |memory| Server::new(memory, Tag::new(0)).serve(2));
        first.join().unwrap();
        next.join().unwrap();
    });
}
