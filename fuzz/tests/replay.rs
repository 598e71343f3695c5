//! The seeds, and some random inputs, through each target: no toolchain but stable is needed.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

/// Random bytes, the same in each run (SplitMix64).
fn random(seed: &mut u64, len: usize) -> Vec<u8> {
    let mut next = || {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn replay(target: &str, rounds: usize, run: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut inputs: Vec<_> =
        std::fs::read_dir(&seeds).expect("seeds").map(|entry| std::fs::read(entry.expect("a seed").path()).expect("a file")).collect();
    assert!(!inputs.is_empty(), "no seeds in {}", seeds.display());
    let mut seed = 0x5eed;
    inputs.extend((0..rounds).map(|round| random(&mut seed, round % 400)));
    for input in inputs {
        run(&input);
    }
}

#[test]
fn a_hostile_device_does_not_bring_the_server_down() {
    replay("hostile_device", 2000, hostcall_fuzz::hostile_device::run);
}

#[test]
fn arguments_that_cannot_be_decoded_are_answered() {
    replay("decode_arguments", 1000, hostcall_fuzz::decode_arguments::run);
}

#[test]
fn no_path_leads_out_of_a_grant() {
    replay("policy_paths", 400, hostcall_fuzz::policy_paths::run);
}

#[test]
#[should_panic(expected = "the secret was read")]
fn a_secret_inside_the_grant_would_be_noticed() {
    let open_and_read = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/policy_paths/open_file")).expect("a seed");
    hostcall_fuzz::policy_paths::play(&open_and_read, hostcall_fuzz::policy_paths::SECRET);
}
