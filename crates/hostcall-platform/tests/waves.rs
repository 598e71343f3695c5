//! Collectives, divergence and the shapes of workgroups on the simulator, in every way to run lanes.

mod common;

use common::*;
use offload::Launch;

/// Parameter 0 of these kernels: a table of one `T` for each thread of the grid.
unsafe fn put<T>(params: *const u8, value: T) {
    // SAFETY: the tests allocate enough.
    unsafe { param::<*mut T>(params, 0).add(global()).write(value) }
}

unsafe extern "C" fn ballot_of_odd_lanes(params: *const u8) {
    let mask = active(1);
    let odd = ballot(mask, lane().lane % 2 == 1);
    // SAFETY: see `put`.
    unsafe { put(params, [mask, odd]) };
}

#[test]
fn a_converged_ballot_sees_all_lanes() {
    for mode in MODES {
        let bench = Bench::new(mode, ballot_of_odd_lanes);
        assert_eq!(bench.run::<[u64; 2]>(Launch::linear(3, 64), 192), [[0xffff_ffff, 0xaaaa_aaaa]; 192], "{mode}");
        let bench = Bench::new(&format!("lanes=64,{mode}"), ballot_of_odd_lanes);
        assert_eq!(bench.run::<[u64; 2]>(Launch::linear(1, 64), 64), [[!0, 0xaaaa_aaaa_aaaa_aaaa]; 64], "{mode}");
    }
}

#[test]
fn a_partial_wave_has_only_the_lanes_there_are() {
    for mode in MODES {
        let bench = Bench::new(mode, ballot_of_odd_lanes);
        assert_eq!(bench.run::<[u64; 2]>(Launch::linear(1, 20), 20), [[0xf_ffff, 0xa_aaaa]; 20], "{mode}");
        let both = bench.run::<[u64; 2]>(Launch::linear(1, 52), 52);
        assert_eq!(both[..32], [[0xffff_ffff, 0xaaaa_aaaa]; 32], "{mode}");
        assert_eq!(both[32..], [[0xf_ffff, 0xa_aaaa]; 20], "{mode}");
    }
}

unsafe extern "C" fn full_mask_whatever_lanes_there_are(params: *const u8) {
    let votes = ballot(!0, true);
    // SAFETY: see `put`.
    unsafe { put(params, votes) };
}

#[test]
fn a_full_mask_means_the_lanes_there_are() {
    for mode in MODES {
        let bench = Bench::new(mode, full_mask_whatever_lanes_there_are);
        assert_eq!(bench.run::<u64>(Launch::linear(1, 20), 20), [0xf_ffff; 20], "{mode}");
    }
}

unsafe extern "C" fn branches(params: *const u8) {
    let me = lane().lane;
    let (mask, site) = if me.is_multiple_of(3) { (active(10), 10) } else { (active(20), 20) };
    let votes = ballot(mask, true);
    // Whoever comes first, both sides meet here.
    let again = active(30);
    // SAFETY: see `put`.
    unsafe { put(params, [site, mask, votes, again]) };
}

#[test]
fn divergent_lanes_are_seen_apart_and_meet_again() {
    let threes = (0..32).filter(|l| l % 3 == 0).fold(0u64, |m, l| m | 1 << l);
    for mode in ["", "seed=1", "seed=2"] {
        let bench = Bench::new(mode, branches);
        for (lane, &[site, mask, votes, again]) in bench.run::<[u64; 4]>(Launch::linear(1, 32), 32).iter().enumerate() {
            let expected = if lane % 3 == 0 { (10, threes) } else { (20, !threes & 0xffff_ffff) };
            assert_eq!((site, mask), expected, "lane {lane} {mode}");
            assert_eq!(votes, mask, "lane {lane} {mode}");
            if mode.is_empty() {
                assert_eq!(again, 0xffff_ffff, "lane {lane}");
            }
        }
    }
}

#[test]
fn divergent_lanes_on_threads_meet_lanes_of_their_own_site_only() {
    let threes = (0..32).filter(|l| l % 3 == 0).fold(0u64, |m, l| m | 1 << l);
    let bench = Bench::new("threads", branches);
    for (lane, &[_, mask, votes, again]) in bench.run::<[u64; 4]>(Launch::linear(1, 32), 32).iter().enumerate() {
        let mine = if lane % 3 == 0 { threes } else { !threes & 0xffff_ffff };
        assert_eq!(mask, mine, "lane {lane}");
        assert_eq!(votes, mask, "lane {lane}");
        assert_ne!(again & 1 << lane, 0, "lane {lane}");
    }
}

unsafe extern "C" fn masks_with_holes(params: *const u8) {
    let me = lane().lane;
    let mask = 0x8421_8421;
    if mask & 1 << me != 0 {
        let votes = ballot(mask, me > 10);
        let first = shuffle(mask, u64::from(me) + 100, 31);
        sync_wave(mask);
        // SAFETY: see `put`.
        unsafe { put(params, [votes, first]) };
    }
}

#[test]
fn masks_need_not_be_a_prefix() {
    for mode in MODES {
        let bench = Bench::new(mode, masks_with_holes);
        for (lane, &got) in bench.run::<[u64; 2]>(Launch::linear(1, 32), 32).iter().enumerate() {
            let expected = if 0x8421_8421u64 & 1 << lane != 0 { [0x8421_8000, 131] } else { [0, 0] };
            assert_eq!(got, expected, "lane {lane} {mode}");
        }
    }
}

unsafe extern "C" fn loops(params: *const u8) {
    let me = u64::from(lane().lane);
    let mut rounds = 0;
    let mut met = 0;
    for _ in 0..=me {
        let mask = active(7);
        met += u64::from(ballot(mask, true) == mask && mask & 1 << me != 0);
        rounds += 1;
    }
    let after = active(9);
    // SAFETY: see `put`.
    unsafe { put(params, [rounds, met, after]) };
}

#[test]
fn loops_with_different_trip_counts_make_each_lanes_own_number_of_calls() {
    for mode in MODES {
        let bench = Bench::new(mode, loops);
        for (lane, &[rounds, met, after]) in bench.run::<[u64; 3]>(Launch::linear(1, 32), 32).iter().enumerate() {
            assert_eq!((rounds, met), (lane as u64 + 1, lane as u64 + 1), "lane {lane} {mode}");
            if mode.is_empty() {
                assert_eq!(after, 0xffff_ffff, "lanes that left the loop early wait for the others");
            }
        }
    }
}

unsafe extern "C" fn shuffles(params: *const u8) {
    let me = lane().lane;
    let mask = active(1);
    let next = shuffle(mask, u64::from(me) << 40 | 7, (me + 1) % mask.count_ones());
    let zero = shuffle(mask, u64::from(me) + 5, 0);
    // SAFETY: see `put`.
    unsafe { put(params, [next, zero]) };
}

#[test]
fn a_shuffle_passes_any_lanes_64_bits() {
    for mode in MODES {
        let bench = Bench::new(mode, shuffles);
        for (lane, &got) in bench.run::<[u64; 2]>(Launch::linear(1, 24), 24).iter().enumerate() {
            assert_eq!(got, [(((lane as u64 + 1) % 24) << 40) | 7, 5], "lane {lane} {mode}");
        }
    }
}

unsafe extern "C" fn early_exits(params: *const u8) {
    let me = lane().lane;
    if me % 4 == 1 {
        exit_lane();
    }
    let votes = ballot(0xffff_ffff, true);
    sync_group();
    // SAFETY: see `put`.
    unsafe { put(params, votes) };
}

#[test]
fn lanes_that_ended_are_dropped_from_masks_and_barriers() {
    for mode in MODES {
        let bench = Bench::new(mode, early_exits);
        for (lane, &votes) in bench.run::<u64>(Launch::linear(2, 64), 128).iter().enumerate() {
            assert_eq!(votes, if lane % 4 == 1 { 0 } else { 0xdddd_dddd }, "lane {lane} {mode}");
        }
    }
}

unsafe extern "C" fn reverse_by_scratch(params: *const u8) {
    // SAFETY: 64 bytes, one for each thread of the group; see `put`.
    unsafe {
        let scratch = (offload::sim::ops().group_scratch)();
        let was = scratch.add(local()).read();
        scratch.add(local()).write(local() as u8 + 1);
        sync_group();
        let other = scratch.add(63 - local()).read();
        sync_group();
        scratch.add(local()).write(0xff);
        put(params, [u64::from(was), u64::from(other), scratch as u64 % 16]);
    }
}

#[test]
fn the_barrier_orders_a_workgroups_memory_across_its_waves() {
    for mode in MODES {
        let bench = Bench::new(mode, reverse_by_scratch);
        for (i, &[was, other, misaligned]) in bench.run::<[u64; 3]>(Launch::linear(20, 64), 1280).iter().enumerate() {
            assert_eq!((was, misaligned), (0, 0), "scratch starts zeroed and aligned: {mode}");
            assert_eq!(other, 64 - (i as u64 % 64), "thread {i} {mode}");
        }
    }
}

unsafe extern "C" fn coordinates(params: *const u8) {
    let l = lane();
    // SAFETY: see `put`.
    unsafe { put(params, [l.group, l.local, [l.lane, l.local_size[1], l.groups[2]]]) };
}

#[test]
fn groups_have_up_to_three_dimensions() {
    for mode in MODES {
        for (groups, size) in [([5, 1, 1], [40, 1, 1]), ([2, 3, 1], [7, 6, 1]), ([2, 3, 2], [4, 5, 3])] {
            let threads: u32 = size.iter().product();
            let bench = Bench::new(mode, coordinates);
            let launch = Launch { groups, group_size: size, dynamic_shared: 0 };
            let got = bench.run::<[[u32; 3]; 3]>(launch, (threads * groups.iter().product::<u32>()) as usize);
            for (i, &[group, local, rest]) in got.iter().enumerate() {
                let (g, l) = (i as u32 / threads, i as u32 % threads);
                assert_eq!(group, [g % groups[0], g / groups[0] % groups[1], g / groups[0] / groups[1]], "{mode}");
                assert_eq!(local, [l % size[0], l / size[0] % size[1], l / size[0] / size[1]], "{mode}");
                assert_eq!(rest, [l % 32, size[1], groups[2]], "{mode}");
            }
        }
    }
}

unsafe extern "C" fn places(params: *const u8) {
    let l = lane();
    // SAFETY: see `put`.
    unsafe { put(params, [l.wave, l.sm]) };
}

#[test]
fn resident_waves_are_numbered_densely_and_a_group_stays_on_one_sm() {
    for mode in MODES {
        let bench = Bench::new(&format!("sms=2,waves=4,{mode}"), places);
        let got = bench.run::<[u32; 2]>(Launch::linear(50, 96), 4800);
        for group in got.chunks(96) {
            assert!(group.iter().all(|[wave, sm]| *wave < 8 && *sm < 2 && wave / 4 == *sm && *sm == group[0][1]), "{mode}");
            let mut waves = [group[0][0], group[32][0], group[64][0]];
            waves.sort_unstable();
            assert!(waves[0] < waves[1] && waves[1] < waves[2], "{mode}");
        }
    }
}

unsafe extern "C" fn count(params: *const u8) {
    // SAFETY: see `put`; the word is only accessed as an atomic.
    unsafe { std::sync::atomic::AtomicU64::from_ptr(param::<*mut u64>(params, 0)) }.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

#[test]
fn more_groups_than_slots_all_run_once() {
    for mode in MODES {
        let bench = Bench::new(&format!("sms=2,waves=2,{mode}"), count);
        let groups = if mode.is_empty() { 3000 } else { 300 };
        assert_eq!(bench.run::<u64>(Launch::linear(groups, 33), 1), [u64::from(groups) * 33], "{mode}");
    }
}
