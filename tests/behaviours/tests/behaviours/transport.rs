//! The transport under stress: many producers, all sizes, tags that wrap around, and what is left behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use behaviours_services::{checksum, stress};
use hostcall::__private::abi::Tag;
use hostcall::__private::{Geometry, PortBuffer};
use hostcall::ServerBuilder;
use hostcall_tests::{Bench, Counter, in_child, locks_held, on_gpu, slow};
use offload::Args;

/// What the handlers saw.
#[derive(Clone, Default)]
struct Seen {
    calls: Counter,
    wrong: Counter,
    /// How often each posted number came.
    posts: Arc<Mutex<BTreeMap<(u32, u32), u32>>>,
}

fn stressed(builder: ServerBuilder, seen: &Seen) -> ServerBuilder {
    let [a, b, c, d, e] = [(); 5].map(|()| seen.clone());
    builder
        .service(stress::count(move |lane, n| {
            a.calls.add(1);
            (lane, n + 1)
        }))
        .service(stress::sum(move |_, expected, data: &[u8]| {
            b.calls.add(1);
            b.wrong.add(u64::from(checksum(data) != expected));
            checksum(data)
        }))
        .service(stress::turn(move |_, data: &[u8], back: &mut [u8]| {
            c.calls.add(1);
            back.copy_from_slice(data);
            back.reverse();
            checksum(data)
        }))
        .service(stress::post(move |lane, n| {
            d.calls.add(1);
            *d.posts.lock().unwrap().entry((lane, n)).or_default() += 1;
        }))
        .service(stress::post_sum(move |_, expected, data: &[u8]| {
            e.calls.add(1);
            e.wrong.add(u64::from(checksum(data) != expected));
        }))
}

#[test]
fn a_thousand_producers_make_ten_calls_each() {
    let seen = Seen::default();
    let bench = Bench::new(|b| stressed(b, &seen));
    // One lane in each of 1000 workgroups, then 1000 whole waves (on the simulator as many as make 1000 lanes).
    let right: Vec<u32> = bench.results("counts", 1000, 1, Args::new().value(10u32));
    assert_eq!(right, [10; 1000]);
    assert_eq!(seen.calls.get(), 10_000);
    let lanes = if on_gpu() { 32_000 } else { 2000 };
    let right: Vec<u32> = bench.results("counts", lanes, 128, Args::new().value(10u32));
    assert_eq!(right, vec![10; lanes as usize]);
    assert_eq!(seen.calls.get(), 10_000 + u64::from(lanes) * 10);
    assert_eq!(locks_held(&bench, &bench.buffer), (0, 0));
}

#[test]
fn many_clients_make_very_many_calls_over_few_ports() {
    let seen = Seen::default();
    for (ports, threads) in if slow() { vec![(3, 2)] } else { vec![(1, 1), (3, 2), (40, 4)] } {
        let bench = Bench::new(|b| stressed(b, &seen).ports(ports).threads(threads));
        let before = seen.calls.get();
        let (lanes, calls) = if on_gpu() { (32_768, 64u32) } else { (if slow() { 128 } else { 512 }, 30) };
        let right: Vec<u32> = bench.results("counts", lanes, 64, Args::new().value(calls));
        assert_eq!(right, vec![calls; lanes as usize], "{ports} ports");
        assert_eq!(seen.calls.get() - before, u64::from(lanes) * u64::from(calls));
        assert_eq!(locks_held(&bench, &bench.buffer), (0, 0));
    }
}

/// Runs `bursts`, and checks that every call was right and every post came once.
fn bursts(bench: &Bench, seen: &Seen, seed: u64, lanes: u32, calls: u32, most: u32) {
    let scratch = bench.device.alloc::<u8>((lanes * 2 * most) as usize).unwrap();
    seen.posts.lock().unwrap().clear();
    let before = seen.calls.get();
    let right: Vec<u32> = bench.results("bursts", lanes, 64, Args::new().value(seed).value(calls).value(most).slice(&scratch));
    assert_eq!(right, vec![calls; lanes as usize], "seed {seed}");
    assert_eq!(seen.wrong.get(), 0, "checksums, seed {seed}");
    assert_eq!(seen.calls.get() - before, u64::from(lanes) * u64::from(calls), "calls handled, seed {seed}");
    assert!(seen.posts.lock().unwrap().values().all(|times| *times == 1), "seed {seed}");
}

#[test]
fn bursts_of_random_sizes_with_random_pauses_arrive_unchanged() {
    let seen = Seen::default();
    let bench = Bench::new(|b| stressed(b, &seen).threads(3));
    let (lanes, calls) = if on_gpu() { (8192, 100) } else { (256, 12) };
    for seed in 1..=3 {
        bursts(&bench, &seen, seed, lanes, calls, 3000);
        assert_eq!(locks_held(&bench, &bench.buffer), (0, 0), "seed {seed}");
    }
}

#[test]
fn few_ports_and_few_staging_slots_are_shared_without_deadlock() {
    let seen = Seen::default();
    let bench = Bench::new(|b| stressed(b, &seen).ports(2).staging(2, 8192).threads(2));
    bursts(&bench, &seen, 9, if on_gpu() { 2048 } else { 200 }, 10, 3000);
    assert_eq!(locks_held(&bench, &bench.buffer), (0, 0));
}

#[test]
fn waves_that_keep_ports_and_call_on_always_go_on() {
    let seen = Seen::default();
    let (lanes, rounds, most) = match (on_gpu(), slow()) {
        (true, _) => (2048, 5u32, 900u32),
        (_, true) => (128, 2, 900),
        _ => (512, 3, 900),
    };
    for (ports, slots) in [(1, 1), (2, 1), (3, 2), (9, 2)] {
        let bench = Bench::new(|b| stressed(b, &seen).ports(ports).staging(slots, 64 << 10).threads(2));
        let scratch = bench.device.alloc::<u8>((lanes * 2 * most) as usize).unwrap();
        let right: Vec<u32> = bench.results("keeps_and_calls", lanes, 64, Args::new().value(rounds).value(most).slice(&scratch));
        assert_eq!(right, vec![5 * rounds; lanes as usize], "{ports} ports, {slots} slots");
        assert_eq!(seen.wrong.get(), 0, "checksums");
        assert_eq!(locks_held(&bench, &bench.buffer), (0, 0), "{ports} ports, {slots} slots");
    }
}

#[test]
fn tags_wrap_around_without_losing_or_doubling_a_call() {
    let seen = Seen::default();
    let bench = Bench::new(|b| stressed(b, &seen).threads(2));
    let info = bench.device.info();
    let geometry = Geometry::new(4, info.wave_size);
    bench.server.remove_buffer(&bench.buffer).unwrap();
    // Few ports that have sent almost as many messages as there are tags, or half as many, when every word is rewritten
    // as well. What they send then is a call, a post, or bytes that are staged: `left` decides.
    for (round, left) in [40, 150, 300, 500, 800].into_iter().take(if slow() { 1 } else { 5 }).enumerate() {
        for (lap, window) in [(0x7fff, true), (0x3fff, false)] {
            let memory = PortBuffer::on_device_from(&bench.device, Geometry { window, ..geometry }, 0, Tag::new(lap - left)).unwrap();
            let buffer = bench.server.add_buffer(memory);
            bench.server.attach_to(&bench.program, &buffer).unwrap();
            let messages = || bench.server.stats().services.iter().map(|s| s.messages).sum::<u64>();
            let before = messages();
            while messages() - before < 4 * 2 * u64::from(left) {
                bursts(&bench, &seen, round as u64, if slow() { 64 } else { 256 }, 10, 500);
                let right: Vec<u32> = bench.results("counts", 128, 32, Args::new().value(40u32));
                assert_eq!(right, [40; 128]);
            }
            bench.server.remove_buffer(&buffer).unwrap();
        }
    }
}

/// How often the server's threads went to sleep: each must have been awake before. (A driver has threads of its own,
/// which wake.)
fn sleeps() -> u64 {
    let mut sleeps = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let task = task.unwrap().path();
        let read = |file| std::fs::read_to_string(task.join(file));
        // A thread may end meanwhile.
        let (Ok(name), Ok(status)) = (read("comm"), read("status")) else { continue };
        if name.starts_with("hostcall-") {
            let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            sleeps += switches.unwrap().trim().parse::<u64>().unwrap();
        }
    }
    assert!(sleeps > 0, "the server's threads have slept, so they were found");
    sleeps
}

#[test]
fn a_server_is_started_only_when_used_and_never_wakes_up_without_a_kernel() {
    in_child("transport::a_server_is_started_only_when_used_and_never_wakes_up_without_a_kernel", || {
        let seen = Seen::default();
        let bench = Bench::new(|b| stressed(b, &seen).threads(4));
        assert_eq!(bench.results::<u32>("counts", 64, 32, Args::new().value(100u32)), [100; 64]);
        // What follows the kernel comes to an end, however busy the machine is; then nothing wakes.
        let settled = (0..600).any(|_| {
            let before = sleeps();
            std::thread::sleep(Duration::from_millis(500));
            sleeps() == before
        });
        assert!(settled, "threads wake in each of 600 times half a second without a kernel");
    });
}
