//! Models of the port and of a stream's ring: the real client and the real server, the real sender and the real reader,
//! in every order that two or three threads can take.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p hostcall-abi --test loom --profile loom`
//!
//! [`models`], [`posts`], [`together`], [`window`] and [`streams`] hold what must hold. [`faults`], and the last tests
//! of these, break one rule at a time, to show that each model can fail: a tag that is not looked at, a lock that is
//! not atomic, a scrub that is left out, an order that is given up.
#![cfg(loom)]
#![allow(missing_docs, unreachable_pub, reason = "a test")]

mod faults;
mod machine;
mod models;
mod posts;
mod staged;
mod streams;
mod together;
mod window;

use hostcall_abi::{Tag, Word};
use loom::sync::Arc;
use loom::thread;
use machine::{Memory, Registers, Wave};

/// Bound on preemptions of a model of one message.
const ONE: usize = 2;
/// Bound on preemptions of a model of several messages, or of three threads.
const TWO: usize = 1;

/// Explores `model`: every choice of what a relaxed load may see, and every schedule with at most so many preemptions
/// (besides the switches where a thread waits, which are free). `LOOM_MAX_PREEMPTIONS` gives another bound.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.max_branches = 2_000;
    builder.check(model);
}

/// A port just after message `seq`, whose words are a whole lap old and carry `stale` as tag.
fn memory(seq: u16, request_words: u32, reply_words: u32, stale: u16) -> Arc<Memory> {
    Arc::new(Memory::new(request_words, reply_words, false, Tag::new(seq), Word::new([0xdead, 0xbeef, 0xf00d, 0], stale)))
}

/// The same, with its replies in a window of `lines` lines.
fn memory_with_window(seq: u16, request_words: u32, lines: u32, stale: u16) -> Arc<Memory> {
    Arc::new(Memory::new(request_words, lines * 4, true, Tag::new(seq), Word::new([0xdead, 0xbeef, 0xf00d, 0], stale)))
}

/// Runs a wave.
fn wave(memory: &Arc<Memory>, run: impl FnOnce(Wave<'_>) + Send + 'static) -> thread::JoinHandle<()> {
    let memory = Arc::clone(memory);
    thread::spawn(move || run(Wave::new(&memory, &Registers::default())))
}

/// Runs the host, and waits for it. A thread of its own: for loom, the model's first thread has seen the memory's first
/// contents, and would not see them again once it has yielded.
fn host<T: Send + 'static>(memory: &Arc<Memory>, run: impl FnOnce(&Memory) -> T + Send + 'static) -> T {
    let memory = Arc::clone(memory);
    thread::spawn(move || run(&memory)).join().unwrap()
}
