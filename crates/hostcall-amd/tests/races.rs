//! Many producers at once, and consumers and buffers that come and go while they call.

mod common;

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use amd_hostcall::Error::*;
use amd_hostcall::api::*;
use amd_hostcall::layout;
use amd_hostcall::memory::Map;
use amd_hostcall::stacks::{self, Held};
use common::{ADD_ONE, Buffer, Consumer, echo_words, service, submit, until, with_add_one};

#[test]
fn a_thousand_producers_make_ten_calls_each() {
    with_add_one();
    let buffer = Buffer::new(1000);
    let consumer = Consumer::new(&[&buffer]);
    thread::scope(|scope| {
        for id in 0..1000u64 {
            let buffer = &buffer;
            let body = move || {
                for i in 0..10 {
                    assert_eq!(buffer.call(ADD_ONE, echo_words(id * i)).unwrap()[0], id * i + 1);
                }
            };
            thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, body).unwrap();
        }
    });
    assert_eq!(consumer.destroy(), 0);
    assert_eq!(buffer.free(), 1000, "every packet came back");
}

/// Threads that make calls at once, each of whose answers must be right.
fn add_one_at_once(buffer: &Buffer, threads: u64, calls: u64) {
    thread::scope(|scope| {
        for id in 0..threads {
            scope.spawn(move || {
                for i in 0..calls {
                    assert_eq!(buffer.call(ADD_ONE, echo_words(id + i)).unwrap()[0], id + i + 1);
                }
            });
        }
    });
}

#[test]
fn more_threads_than_packets_wait_for_one_another() {
    with_add_one();
    let buffer = Buffer::new(2);
    let _consumer = Consumer::new(&[&buffer]);
    add_one_at_once(&buffer, 32, 100);
    assert_eq!(buffer.free(), 2);
}

#[test]
fn tags_that_wrap_lose_no_packet() {
    with_add_one();
    for packets in [1, 2, 3, 7] {
        let buffer = Buffer::new(packets);
        buffer.near_the_wrap(40);
        let consumer = Consumer::new(&[&buffer]);
        add_one_at_once(&buffer, 4, 300);
        assert_eq!(consumer.destroy(), 0);
        assert_eq!(buffer.free(), packets as usize);
    }
}

#[test]
fn two_consumers_serve_their_own_buffers() {
    static THREADS: Mutex<Vec<(u64, thread::ThreadId)>> = Mutex::new(Vec::new());
    unsafe extern "C-unwind" fn which(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        // SAFETY: eight words.
        THREADS.lock().unwrap().push((unsafe { *payload }, thread::current().id()));
        0
    }
    service(104, which);
    let buffers = [Buffer::new(4), Buffer::new(4)];
    let consumers = [Consumer::new(&[&buffers[0]]), Consumer::new(&[&buffers[1]])];
    thread::scope(|scope| {
        for (id, buffer) in (0u64..).zip(&buffers) {
            scope.spawn(move || (0..200).for_each(|_| assert!(buffer.call(104, [id; 8]).is_ok())));
        }
    });
    let [one, other] = consumers;
    assert_eq!((one.destroy(), other.destroy()), (0, 0));
    let threads = THREADS.lock().unwrap();
    let of = |id| threads.iter().filter(|entry| entry.0 == id).map(|entry| entry.1).collect::<std::collections::HashSet<_>>();
    assert!(of(0).is_disjoint(&of(1)), "no thread served both");
    assert_eq!(threads.len(), 400);
}

#[test]
fn consumers_that_start_and_stop_while_buffers_come_and_go_lose_nothing() {
    with_add_one();
    for round in 0..60u64 {
        let buffers: Vec<Buffer> = (0..3).map(|_| Buffer::new(4)).collect();
        let consumer = Consumer::idle();
        if round % 2 == 0 {
            assert_eq!(amd_hostcall_launch_consumer(consumer.0), 0);
        }
        let together = Barrier::new(4);
        thread::scope(|scope| {
            for buffer in &buffers {
                let (consumer, together) = (&consumer, &together);
                scope.spawn(move || {
                    together.wait();
                    for i in 0..5 {
                        assert_eq!(consumer.register(buffer), 0);
                        assert_eq!(buffer.call(ADD_ONE, echo_words(i)).unwrap()[0], i + 1);
                        assert_eq!(consumer.deregister(buffer), 0);
                    }
                });
            }
            together.wait();
            if round % 2 == 1 {
                assert_eq!(amd_hostcall_launch_consumer(consumer.0), 0);
            }
        });
        assert_eq!(consumer.destroy(), 0);
        buffers.iter().for_each(|buffer| assert_eq!(buffer.free(), 4));
    }
}

#[test]
fn destroying_a_consumer_answers_what_is_ready_and_a_late_ring_harms_nobody() {
    with_add_one();
    let buffer = Buffer::new(64);
    let consumer = Consumer::new(&[&buffer]);
    let packets: Vec<_> = (0..64).map(|_| submit(&buffer, ADD_ONE)).collect();
    let doorbell = buffer.map().words().doorbell.load(Ordering::SeqCst);
    assert_eq!(consumer.destroy(), 0);
    for (map, index) in &packets {
        assert_eq!(map.header(*index).unwrap().control.load(Ordering::Acquire), 0, "answered, not refused");
    }
    assert_eq!(hostcall_amd_ring(doorbell), 0);
    drop(packets);
    // A new consumer may have got the same doorbell, and is not disturbed.
    let next = Consumer::new(&[&buffer]);
    assert_eq!(hostcall_amd_ring(doorbell), 0);
    drop(next);
}

#[test]
fn waves_that_wait_when_their_buffer_is_deregistered_go_on() {
    with_add_one();
    let buffer = Buffer::new(8);
    // Nobody serves yet: what is ready stays so, and is refused.
    let consumer = Consumer::idle();
    assert_eq!(consumer.register(&buffer), 0);
    let packets: Vec<_> = (0..8).map(|_| submit(&buffer, ADD_ONE)).collect();
    assert_eq!(consumer.deregister(&buffer), 0);
    for (map, index) in packets {
        assert_eq!(map.header(index).unwrap().control.load(Ordering::Acquire), layout::control::REFUSED);
    }
    // With a consumer that serves it is answered.
    let buffer = Buffer::new(8);
    let consumer = Consumer::new(&[&buffer]);
    let packets: Vec<_> = (0..8).map(|_| submit(&buffer, ADD_ONE)).collect();
    assert_eq!(consumer.deregister(&buffer), 0);
    for (map, index) in packets {
        assert_eq!(map.header(index).unwrap().control.load(Ordering::Acquire), 0);
    }
    assert_eq!(buffer.call(ADD_ONE, [0; 8]), Err(InvalidRequest as c_int), "nobody serves it");
}

#[test]
fn calls_on_a_buffer_that_comes_and_goes_are_answered_or_refused_and_none_waits_for_ever() {
    with_add_one();
    let buffer = Buffer::new(64);
    let consumer = Consumer::new(&[]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut answered = 0u64;
                    while !stop.load(Ordering::Relaxed) {
                        match buffer.call(ADD_ONE, [7; 8]) {
                            Ok(words) => {
                                assert_eq!(words, [8, 7]);
                                answered += 1;
                            }
                            Err(code) => assert_eq!(code, InvalidRequest as c_int),
                        }
                    }
                    answered
                })
            })
            .collect();
        for _ in 0..30 {
            assert_eq!(consumer.register(&buffer), 0);
            thread::sleep(Duration::from_millis(5));
            assert_eq!(consumer.deregister(&buffer), 0);
        }
        stop.store(true, Ordering::Relaxed);
        assert!(callers.into_iter().map(|caller| caller.join().unwrap()).sum::<u64>() > 0);
    });
    assert_eq!(buffer.free(), 64, "every packet came back");
}

/// Eight threads that call until they are refused, and `destroy` once they have made so many calls.
fn destroy_under_calls(packets: u32, calls_before: u64, destroy: impl FnOnce(Consumer)) {
    let buffer = Buffer::new(packets);
    let consumer = Consumer::new(&[&buffer]);
    let calls = AtomicU64::new(0);
    thread::scope(|scope| {
        for id in 0..8 {
            let (buffer, calls) = (&buffer, &calls);
            scope.spawn(move || {
                loop {
                    match buffer.call(ADD_ONE, [id; 8]) {
                        Ok(words) => assert_eq!(words, [id + 1, id]),
                        Err(code) => return assert_eq!(code, InvalidRequest as c_int),
                    }
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        while calls.load(Ordering::Relaxed) < calls_before {
            thread::yield_now();
        }
        destroy(consumer);
    });
    assert_eq!(buffer.free(), packets as usize, "every packet came back");
}

#[test]
fn calls_on_a_consumer_that_is_destroyed_are_answered_or_refused_and_lose_no_packet() {
    with_add_one();
    for round in 0..120u64 {
        // More packets than threads, or fewer.
        let packets = if round % 2 == 0 { 16 } else { 3 };
        destroy_under_calls(packets, round * 7 % 100, |consumer| assert_eq!(consumer.destroy(), 0));
    }
}

#[test]
fn of_two_that_destroy_a_consumer_under_calls_one_does() {
    with_add_one();
    for round in 0..120u64 {
        destroy_under_calls(3 + (round % 2) as u32 * 13, round * 7 % 100, |consumer| {
            let together = Barrier::new(2);
            let destroy = || {
                together.wait();
                consumer.destroy_as_one_of_several()
            };
            let results = thread::scope(|scope| {
                let other = scope.spawn(destroy);
                [destroy(), other.join().unwrap()]
            });
            let expected = [0, InvalidRequest as c_int];
            assert!(results == expected || results == [expected[1], expected[0]], "{results:?}");
        });
    }
}

#[test]
fn a_consumer_whose_packets_never_end_can_be_destroyed() {
    static MAP: OnceLock<Map> = OnceLock::new();
    static RUNS: AtomicU64 = AtomicU64::new(0);
    /// Makes the other of two packets ready. So one always is.
    unsafe extern "C-unwind" fn makes_the_other_ready(_: *mut c_void, _: u32, payload: *mut u64) -> c_int {
        RUNS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: eight words.
        let other = 1 - unsafe { *payload } as u32;
        let map = MAP.get().unwrap();
        let header = map.header(other).unwrap();
        if header.control.load(Ordering::SeqCst) & layout::control::READY == 0 {
            header.control.store(layout::control::READY, Ordering::SeqCst);
            stacks::push_ready(map, Held(u64::from(other) | 2), || {});
        }
        0
    }
    service(108, makes_the_other_ready);
    let buffer = Buffer::new(2);
    let packets = [submit(&buffer, 108), submit(&buffer, 108)];
    for (map, index) in packets {
        map.payload(index).unwrap().lanes[0][0].store(u64::from(index), Ordering::SeqCst);
        MAP.get_or_init(|| map);
    }
    let consumer = Consumer::new(&[&buffer]);
    until("a hundred runs", || RUNS.load(Ordering::SeqCst) > 100);
    assert_eq!(consumer.destroy(), 0);
    for index in [0, 1] {
        assert_eq!(MAP.get().unwrap().header(index).unwrap().control.load(Ordering::SeqCst) & layout::control::READY, 0);
    }
}

#[test]
fn a_handler_that_blocks_holds_up_nobody() {
    static OPEN: AtomicBool = AtomicBool::new(false);
    static INSIDE: AtomicU64 = AtomicU64::new(0);
    unsafe extern "C-unwind" fn blocks(_: *mut c_void, _: u32, _: *mut u64) -> c_int {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        while !OPEN.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        0
    }
    service(105, blocks);
    with_add_one();
    let (buffer, other) = (Buffer::new(40), Buffer::new(2));
    let consumer = Consumer::new(&[&buffer, &other]);
    thread::scope(|scope| {
        let blocked: Vec<_> = (0..30).map(|_| scope.spawn(|| buffer.call(105, [5; 8]))).collect();
        // All thirty are in their handlers at once, and others are served meanwhile, of this buffer and of another.
        until("thirty blocked handlers", || INSIDE.load(Ordering::SeqCst) == 30);
        for n in 0..100 {
            assert_eq!(buffer.call(ADD_ONE, [n; 8]).unwrap()[0], n + 1);
            assert_eq!(other.call(ADD_ONE, [n; 8]).unwrap()[0], n + 1);
        }
        OPEN.store(true, Ordering::SeqCst);
        blocked.into_iter().for_each(|call| assert_eq!(call.join().unwrap(), Ok([5, 5])));
    });
    assert_eq!(consumer.destroy(), 0);
}
