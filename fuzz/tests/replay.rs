//! The seeds, and some random inputs, through each target: no toolchain but stable is needed.
#![allow(missing_docs, reason = "a test")]

use std::path::Path;

use hostcall_fuzz::hostile_device::Without;

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

fn seeds(folder: impl AsRef<Path>) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(&folder).expect("seeds").map(|entry| entry.expect("a seed").path());
    let inputs: Vec<_> = files.filter(|path| path.is_file()).map(|path| std::fs::read(path).expect("a file")).collect();
    assert!(!inputs.is_empty(), "no seeds in {}", folder.display());
    inputs
}

fn replay(target: &str, rounds: usize, run: fn(&[u8])) {
    let mut inputs = seeds(Path::new("seeds").join(target));
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

fn hostile_device_without(what: Without, seed: &str) {
    let input = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds/hostile_device").join(seed)).expect("a seed");
    hostcall_fuzz::hostile_device::play(&input, what);
}

#[test]
#[should_panic(expected = "bytes are kept")]
fn a_queue_of_posts_without_bounds_would_be_noticed() {
    hostile_device_without(Without::PostBounds, "flood_of_queued_posts");
}

#[test]
#[should_panic(expected = "words loaded where there is nothing new")]
fn a_message_that_never_ends_and_is_copied_at_each_look_would_be_noticed() {
    hostile_device_without(Without::WhatWasFound, "message_that_never_ends");
}

#[test]
fn arguments_that_cannot_be_decoded_are_answered() {
    replay("decode_arguments", 1000, hostcall_fuzz::decode_arguments::run);
}

#[test]
fn a_device_that_fills_packets_as_it_likes_harms_no_other_buffer() {
    replay("packets", 200, hostcall_fuzz::packets::run);
}

#[test]
fn a_client_of_llvm_s_wire_that_writes_what_it_likes_keeps_no_honest_one_waiting() {
    // Each input with the client's inbox in host memory and in a window: the second byte says where.
    replay("llvm_rpc", 120, |input| {
        hostcall_fuzz::llvm_rpc::run(input);
        let mut input = input.to_vec();
        input.get_mut(1).into_iter().for_each(|choice| *choice = (*choice % 6 + 3) % 6);
        hostcall_fuzz::llvm_rpc::run(&input);
    });
}

#[test]
fn packets_of_amd_s_queues_end_once_in_whatever_order_they_are_published() {
    replay("hsa_packets", 200, hostcall_fuzz::hsa_packets::run);
}

#[test]
fn a_device_that_writes_into_its_ring_as_it_likes_keeps_the_reader_from_nothing() {
    replay("streams", 4000, hostcall_fuzz::streams::run);
}

#[test]
fn a_recording_of_any_bytes_is_read_to_an_end_or_an_error() {
    replay("recordings", 4000, hostcall_fuzz::recordings::run);
}

#[test]
fn a_caller_or_a_worker_that_sends_anything_takes_memory_for_what_it_sent() {
    replay("remote", 4000, hostcall_fuzz::remote::run);
}

#[test]
#[should_panic(expected = "bytes of memory for a request")]
fn memory_for_what_a_caller_says_and_not_for_what_it_sent_would_be_noticed() {
    // As many units as one message of 64 lanes says that it has room for.
    hostcall_fuzz::remote::within(64 * 1040, "a request", || std::hint::black_box(vec![0u32; 64 << 16]));
}

#[test]
fn a_bundle_of_any_bytes_is_read_or_refused() {
    replay("bundles", 4000, hostcall_fuzz::bundles::run);
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

/// Text that looks like the language: pieces of the corpus, cut anywhere and put together anyhow.
#[test]
fn no_text_crashes_the_tablegen_front_end() {
    replay("tablegen", 200, hostcall_fuzz::tablegen::run);
    let corpus: Vec<_> = ["ok", "error"].map(|kind| seeds(Path::new("../crates/hostcall-tablegen/tests/corpus").join(kind))).concat();
    corpus.iter().for_each(|input| hostcall_fuzz::tablegen::run(input));
    let mut seed = 0x7ab1e;
    for _ in 0..3000 {
        let mut mixed = Vec::new();
        for _ in 0..3 {
            let random = random(&mut seed, 12);
            let number = |at: usize| usize::from(u16::from_le_bytes([random[at], random[at + 1]]));
            let piece = &corpus[number(0) % corpus.len()];
            let (from, to) = (number(2) % (piece.len() + 1), number(4) % (piece.len() + 1));
            mixed.extend_from_slice(&piece[from.min(to)..from.max(to)]);
        }
        hostcall_fuzz::tablegen::run(&mixed);
    }
}

/// Definitions with a piece of one in the place of a piece of another.
#[test]
fn no_definitions_crash_the_generator() {
    replay("definitions", 50, hostcall_fuzz::definitions::run);
    let whole = seeds("seeds/definitions");
    let mut seed = 0xdef1;
    for _ in 0..500 {
        let random = random(&mut seed, 10);
        let number = |at: usize| usize::from(u16::from_le_bytes([random[at], random[at + 1]]));
        let (into, from) = (&whole[number(0) % whole.len()], &whole[number(2) % whole.len()]);
        let (at, piece) = (number(4) % into.len(), number(6) % from.len());
        let len = number(8) % 12;
        let mut mixed = into[..at].to_vec();
        mixed.extend_from_slice(&from[piece..(piece + len).min(from.len())]);
        mixed.extend_from_slice(&into[(at + len).min(into.len())..]);
        hostcall_fuzz::definitions::run(&mixed);
    }
}
