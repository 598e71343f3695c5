//! What tests of streams share: streams to which a program is attached, and kernels that send to all of them.

use hostcall_stream::{Streams, StreamsBuilder};
use hostcall_tests::{Bench, slow};
use offload::{Args, Launch};

/// Streams to which the bench's program is attached.
pub(crate) fn start(bench: &Bench, set_up: impl FnOnce(StreamsBuilder) -> StreamsBuilder) -> Streams {
    let streams = set_up(Streams::builder()).start(&bench.device).expect("the threads start");
    streams.attach(&bench.program).expect("the program is attached");
    streams
}

/// Kernels that send messages of every shape and in numbers, and the end of them.
pub(crate) fn run_all(bench: &Bench, rounds: u32) {
    let threads = if slow() { 64 } else { 256 };
    let outcomes = bench.device.alloc::<[u32; 3]>(threads as usize).expect("memory");
    let shape = Launch::threads(threads, 64);
    bench.launch("stream_shapes", shape, Args::new().slice(&outcomes));
    bench.launch("stream_numbered", shape, Args::new().value(rounds).value(u64::MAX).slice(&outcomes));
    bench.launch("stream_big", shape, Args::new().value(rounds).slice(&outcomes));
    bench.server.wait(&bench.queue).expect("the kernels end");
}
