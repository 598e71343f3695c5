//! Models of the port: the real client and the real server, in every order that two or three threads can take.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p hostcall-abi --test loom --release`
//!
//! [`models`] holds what must hold. [`faults`] breaks one rule at a time, to show that each model can fail: a tag that is not looked at, a
//! lock that is not atomic, a scrub that is left out, an order that is given up.
#![cfg(loom)]
#![allow(missing_docs, unreachable_pub, reason = "a test")]

mod faults;
mod machine;
mod models;
mod staged;

use hostcall_abi::{Tag, Word};
use loom::sync::Arc;
use machine::Memory;

/// Explores `model`. The bound on preemptions is what keeps three threads finite in practice; two threads
/// with few steps are explored completely.
fn explore(preemptions: Option<usize>, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 2_000;
    builder.check(model);
}

/// A port just after message `seq`, whose words are a whole lap old and carry `stale` as tag.
fn memory(seq: u32, request_words: u32, reply_words: u32, stale: u32) -> Arc<Memory> {
    Arc::new(Memory::new(request_words, reply_words, Tag::new(seq), Word { data: [0xdead, 0xbeef, 0xf00d], tag: stale }))
}
