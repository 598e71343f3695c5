//! Kernels in C++ pass the tests of the kernels in Rust whose names they have: `tests/rust_behaviours` over
//! `cpp/twins.cu`.
#![allow(missing_docs, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hostcall_cpp_tests::twin_images;
use hostcall_test_support::{built, succeed, text};

/// Tests that are about Rust: its formatting, and lines as long as a heap has room for.
const ABOUT_RUST: [&str; 2] = ["print::formats_are_those_of_the_host", "print::lines_longer_than_a_message_come_out_whole"];

/// Tests whose many lanes take minutes where each is a thread, because all of a wave meet many times in a call with
/// strings.
const MANY_LANES: [&str; 2] =
    ["print::lines_of_many_waves_are_whole_and_in_order_and_none_is_lost", "print::standard_output_may_be_a_pipe"];

/// The program with the tests.
fn tests() -> &'static Path {
    static TESTS: OnceLock<PathBuf> = OnceLock::new();
    TESTS.get_or_init(|| built("hostcall-cpp-tests", &["--test", "rust_behaviours"])[0].clone())
}

/// Runs tests with the kernels of each compiler, on a device of the simulator, and says how many there were.
fn pass(device: &str, variables: &[(&str, &str)], filter: &[&str]) -> Option<u32> {
    let mut counts = twin_images().into_iter().map(|(compiler, image)| {
        println!("{compiler}, {device}, {variables:?}");
        let mut command = Command::new(tests());
        let has_threads = device.contains("threads");
        let skipped = ABOUT_RUST.iter().chain(MANY_LANES.iter().filter(|_| has_threads));
        command.args(filter).args(skipped.flat_map(|name| ["--skip", name]));
        if has_threads {
            // Lanes wake one another all the time. Two tests at once take twice as long as one after the other.
            command.arg("--test-threads=1");
        }
        command.env("HOSTCALL_TEST_KERNELS", image).env("HOSTCALL_TEST_DEVICE", device).envs(variables.iter().copied());
        let said = text(&succeed(&mut command).stdout);
        let number =
            |what: &str| said.rsplit_once(what).and_then(|(before, _)| before.rsplit(' ').next()?.parse::<u32>().ok()).expect("a number");
        number(" passed")
    });
    let first = counts.next()?;
    assert!(counts.all(|count| count == first), "the same tests for each compiler");
    Some(first)
}

/// How many tests there are in a file of `tests/behaviours`.
fn tests_in(file: &str) -> u32 {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../behaviours/tests/behaviours").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().filter(|line| *line == "#[test]").count() as u32
}

/// Every test of calls, of the transport and of ends passes, but for so many that take too long there.
fn every_test_passes(device: &str, left_out: usize) {
    // And the one that says which kernels they are.
    let all = 1 + ["lifecycle.rs", "print.rs", "transport.rs", "typed.rs"].map(tests_in).iter().sum::<u32>() - ABOUT_RUST.len() as u32;
    let passing = all - left_out as u32;
    assert!(pass(device, &[], &[]).is_none_or(|passed| passed == passing), "{device}: all {passing}");
}

#[test]
fn every_test_passes_with_waves_of_32_lanes() {
    every_test_passes("sim", 0);
}

#[test]
fn every_test_passes_with_waves_of_64_lanes() {
    every_test_passes("sim:lanes=64", 0);
}

#[test]
fn every_test_passes_with_a_thread_per_lane() {
    every_test_passes("sim:threads", MANY_LANES.len());
}

#[test]
fn every_test_passes_with_a_thread_per_lane_of_waves_of_64() {
    every_test_passes("sim:threads,lanes=64", MANY_LANES.len());
}

/// Every test that holds for so few ports and slots passes.
fn every_such_test_passes(device: &str, ports: &str, slots: &str) {
    let passed = pass(device, &[("HOSTCALL_TEST_PORTS", ports), ("HOSTCALL_TEST_SLOTS", slots)], &[]);
    assert!(passed.is_none_or(|passed| passed > 40), "{passed:?}");
}

#[test]
fn every_such_test_passes_with_one_port() {
    every_such_test_passes("sim", "1", "2");
}

#[test]
fn every_such_test_passes_with_one_port_and_waves_of_64_lanes() {
    every_such_test_passes("sim:lanes=64", "1", "2");
}

#[test]
fn every_such_test_passes_with_three_ports_and_waves_of_64_lanes() {
    every_such_test_passes("sim:lanes=64", "3", "8");
}

#[test]
fn every_such_test_passes_with_two_slots() {
    every_such_test_passes("sim", "64", "2");
}

/// Bursts of all kinds over 2 ports and 2 slots, and many calls over 3 ports.
fn bursts_arrive_unchanged_with_every_seed(lanes: &str) {
    let names = ["few_ports_and_few_staging_slots_are_shared_without_deadlock", "many_clients_make_very_many_calls_over_few_ports"];
    for seed in 1..=20 {
        assert!(pass(&format!("sim:seed={seed}{lanes}"), &[], &names).is_none_or(|passed| passed == 2));
    }
}

#[test]
fn bursts_over_few_ports_arrive_unchanged_with_every_seed() {
    bursts_arrive_unchanged_with_every_seed("");
}

#[test]
fn bursts_over_few_ports_arrive_unchanged_with_every_seed_and_waves_of_64_lanes() {
    bursts_arrive_unchanged_with_every_seed(",lanes=64");
}
