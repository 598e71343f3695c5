//! Calls made once for a lane, a wave, a workgroup, a grid: how often, and who gets the result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use behaviours_services::tally;
use hostcall_tests::Bench;
use offload::{Args, Launch};

/// Calls so far, by what they were made for.
type Ticks = Arc<Mutex<BTreeMap<u32, u64>>>;

fn bench() -> (Bench, Ticks) {
    let ticks = Ticks::default();
    let number = AtomicU64::new(0);
    let bench = Bench::new(|b| {
        let ticks = ticks.clone();
        b.service(tally::tick(move |what| {
            *ticks.lock().unwrap().entry(what).or_default() += 1;
            // A number of its own for each call; nothing else depends on it.
            number.fetch_add(1, Ordering::Relaxed) + 1
        }))
    });
    (bench, ticks)
}

fn take(ticks: &Ticks) -> BTreeMap<u32, u64> {
    std::mem::take(&mut ticks.lock().unwrap())
}

/// {1, N} workgroups × {part of a wave, 1 wave, N waves}, in 1, 2 and 3 dimensions.
fn shapes() -> Vec<Launch> {
    let groups = [[1, 1, 1], [5, 1, 1], [2, 3, 1], [2, 1, 2]];
    let sizes = [[1, 1, 1], [20, 1, 1], [32, 1, 1], [33, 1, 1], [96, 1, 1], [8, 8, 1], [5, 3, 3], [4, 4, 8]];
    let shape = |groups, group_size| Launch { groups, group_size, dynamic_shared: 0 };
    sizes.iter().flat_map(|size| groups.iter().map(move |groups| shape(*groups, *size))).collect()
}

fn lanes(launch: Launch) -> usize {
    (launch.group_count() * launch.group_threads()) as usize
}

/// Waves of a workgroup.
fn waves(bench: &Bench, launch: Launch) -> usize {
    launch.group_threads().div_ceil(u64::from(bench.device.info().wave_size)) as usize
}

/// Runs a kernel in a shape; the result of each lane.
fn run(bench: &Bench, kernel: &str, launch: Launch, args: Args) -> Vec<u64> {
    let memory = bench.device.alloc::<u64>(lanes(launch)).unwrap();
    bench.queue.fill(&memory, 0).unwrap();
    bench.run(kernel, launch, args.slice(&memory)).unwrap();
    bench.queue.read(&memory).unwrap()
}

/// Lanes with the same `owner` have the same result, others different ones, and nobody an error.
fn shared_by(results: &[u64], owner: impl Fn(usize) -> usize) {
    let owners: BTreeSet<usize> = (0..results.len()).map(&owner).collect();
    let pairs: BTreeSet<(usize, u64)> = results.iter().enumerate().map(|(i, r)| (owner(i), *r)).collect();
    let values: BTreeSet<u64> = results.iter().copied().collect();
    assert_eq!((pairs.len(), values.len()), (owners.len(), owners.len()), "{results:x?}");
    assert!(values.iter().all(|v| *v >> 32 == 0), "{results:x?}");
}

#[test]
fn a_call_per_lane_is_made_once_for_each_lane_in_every_shape_of_grid() {
    let (bench, ticks) = bench();
    for launch in shapes() {
        let results = run(&bench, "per_lane", launch, Args::new());
        assert_eq!(take(&ticks), BTreeMap::from([(0, lanes(launch) as u64)]), "{launch:?}");
        shared_by(&results, |i| i);
    }
}

#[test]
fn a_call_per_wave_is_made_once_for_each_wave_in_every_shape_of_grid() {
    let (bench, ticks) = bench();
    for launch in shapes() {
        let results = run(&bench, "per_wave", launch, Args::new());
        let (waves, threads) = (waves(&bench, launch), launch.group_threads() as usize);
        assert_eq!(take(&ticks), BTreeMap::from([(1, waves as u64 * launch.group_count())]), "{launch:?}");
        let wave_size = bench.device.info().wave_size as usize;
        shared_by(&results, |i| i / threads * waves + i % threads / wave_size);
    }
}

#[test]
fn a_call_per_workgroup_is_made_once_for_each_workgroup_in_every_shape_of_grid() {
    let (bench, ticks) = bench();
    for launch in shapes() {
        for rounds in [1u32, 3] {
            let results = run(&bench, "per_workgroup", launch, Args::new().value(rounds));
            assert_eq!(take(&ticks), BTreeMap::from([(2, u64::from(rounds) * launch.group_count())]), "{launch:?}");
            shared_by(&results, |i| i / launch.group_threads() as usize);
        }
    }
}

#[test]
fn a_call_per_grid_is_made_once_in_every_shape_of_grid() {
    let (bench, ticks) = bench();
    let mut last = Vec::new();
    for (number, launch) in (0u32..).zip(shapes()) {
        let results = run(&bench, "per_grid", launch, Args::new().value(number));
        assert_eq!(take(&ticks), BTreeMap::from([(3, 1)]), "{launch:?}");
        shared_by(&results, |_| 0);
        assert_ne!(results.first(), last.first(), "a launch of another number gets a result of its own");
        let again = run(&bench, "per_grid", launch, Args::new().value(number));
        assert_eq!(again, results, "one of the same number gets the last one's");
        assert_eq!(take(&ticks), BTreeMap::new());
        last = results;
    }
}

#[test]
fn lanes_that_part_call_once_on_each_side() {
    let (bench, ticks) = bench();
    for launch in [Launch::linear(1, 32), Launch::linear(3, 20), Launch::linear(2, 128)] {
        let results = run(&bench, "per_branch", launch, Args::new());
        let each = waves(&bench, launch) as u64 * launch.group_count();
        assert_eq!(take(&ticks), BTreeMap::from([(4, each), (5, each)]), "{launch:?}");
        let (wave_size, threads) = (bench.device.info().wave_size as usize, launch.group_threads() as usize);
        shared_by(&results, |i| (i / threads * threads.div_ceil(wave_size) + i % threads / wave_size) * 2 + i % 2);
    }
}

#[test]
fn coordinates_are_those_of_the_launch() {
    let (bench, _) = bench();
    let wave_size = bench.device.info().wave_size as usize;
    for launch in shapes() {
        let memory = bench.device.alloc::<[u32; 5]>(lanes(launch)).unwrap();
        bench.queue.fill(&memory, 0xff).unwrap();
        bench.run("coordinates", launch, Args::new().slice(&memory)).unwrap();
        let threads = launch.group_threads() as usize;
        for (i, place) in bench.queue.read(&memory).unwrap().into_iter().enumerate() {
            let (group, local) = (i / threads, i % threads);
            let wave = group * threads.div_ceil(wave_size) + local / wave_size;
            assert_eq!(place.map(|n| n as usize), [i, wave, group, local % wave_size, lanes(launch)], "{launch:?}");
        }
    }
}

#[test]
fn panics_beside_a_call_that_is_made_once_end_all_lanes_that_wait_for_it() {
    let (bench, _) = bench();
    for kind in 0..3u32 {
        let memory = bench.device.alloc::<u64>(256).unwrap();
        bench.queue.fill(&memory, 0).unwrap();
        let error = bench.run("panic_beside_once", Launch::linear(4, 64), Args::new().value(kind).slice(&memory)).unwrap_err();
        assert_eq!(error.report().panics.len(), 1, "{error}");
        assert_eq!(bench.queue.read(&memory).unwrap(), vec![0; 256], "kind {kind}: nobody got a result that was none");
    }
    // What was called when its kernel ended is nothing that the next one waits for.
    let results = run(&bench, "per_grid", Launch::linear(4, 64), Args::new().value(1u32));
    shared_by(&results, |_| 0);
}
