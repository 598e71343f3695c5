//! Bytes that carry no tags, because they lie in a staging slot: the one place where an order is needed.
//!
//! The sender fences between the bytes and the message's words, the receiver between the words and the bytes.

use hostcall_abi::Tag;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{Ordering, fence};
use loom::thread;

use crate::machine::{Memory, Registers, Server, Wave, answer, call};
use crate::{ONE, explore, memory};

/// A slot of one number, that the wave that called last owns.
struct Slot {
    memory: Arc<Memory>,
    bytes: UnsafeCell<u32>,
}

// SAFETY: the model's question is whether the accesses are ordered; loom panics when they are not.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

/// A call whose argument, and whose result, lie in a slot; with a fence at each of the four places or without.
fn through_a_slot(out: bool, taken: bool, back: bool, received: bool) {
    explore(ONE, move || {
        let slot = Arc::new(Slot { memory: memory(0, 2, 2, 0), bytes: UnsafeCell::new(0) });
        let client = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                // SAFETY: the slot is this wave's until it sends.
                slot.bytes.with_mut(|bytes| unsafe { *bytes = 7 });
                if out {
                    // Pairs with the server's fence after it has seen the message.
                    fence(Ordering::Release);
                }
                assert_eq!(call(Wave::new(&slot.memory, &Registers::default()), 1, 1, 0), Ok(answer(1)));
                if received {
                    // Pairs with the server's fence before it answers.
                    fence(Ordering::Acquire);
                }
                // SAFETY: the slot is this wave's again since it was answered.
                assert_eq!(slot.bytes.with(|bytes| unsafe { *bytes }), 8);
            })
        };
        let mut server = Server::new(&slot.memory, Tag::new(0));
        let seen = server.wait();
        if taken {
            // Pairs with the client's fence before it sends.
            fence(Ordering::Acquire);
        }
        // SAFETY: the slot is the server's until it answers.
        slot.bytes.with_mut(|bytes| unsafe { *bytes += 1 });
        if back {
            // Pairs with the client's fence after it has seen the reply.
            fence(Ordering::Release);
        }
        server.answer_all(seen);
        client.join().unwrap();
    });
}

#[test]
fn staged_bytes_go_out_and_come_back_with_four_fences() {
    through_a_slot(true, true, true, true);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_senders_fence_staged_bytes_are_not_ordered() {
    through_a_slot(false, true, true, true);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_servers_fence_after_the_message_staged_bytes_are_not_ordered() {
    through_a_slot(true, false, true, true);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_servers_fence_before_the_reply_staged_bytes_are_not_ordered() {
    through_a_slot(true, true, false, true);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_receivers_fence_staged_bytes_are_not_ordered() {
    through_a_slot(true, true, true, false);
}
