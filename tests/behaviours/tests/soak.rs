//! The soak, small: on a GPU `run-tests` of the GPU bundle runs it at length.

use std::process::Command;

use hostcall_tests::{device_spec, slow};

/// Runs the soak on the test device, and returns its last line.
fn soak(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_soak")).args(["--device", &device_spec()]).args(arguments).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn what_streams_send_is_what_they_receive_drop_and_filter_with_every_policy() {
    let (values, seeds) = if slow() { ("20000", &["1"][..]) } else { ("400000", &["1", "2"][..]) };
    for seed in seeds {
        let last = soak(&["--stream-values", values, "--seed", seed]);
        assert!(last.contains(": 0 lost, 0 torn, 0 changed, 0 out of order"), "{last}");
        for policy in ["block: ", "drop: ", "wait: ", "sample: "] {
            assert!(last.contains(policy), "{last}");
            assert!(slow() || !last.contains(&format!("{policy}0 values")), "{last}");
        }
    }
}

#[test]
fn calls_that_are_disturbed_and_faults_in_their_midst_lose_double_and_corrupt_nothing() {
    let (calls, seeds) = if slow() { ("20000", &["1"][..]) } else { ("200000", &["1", "2"][..]) };
    for seed in seeds {
        let last = soak(&["--calls", calls, "--seed", seed]);
        assert!(last.starts_with("soak: in all: ") && last.ends_with(": 0 lost, 0 doubled, 0 corrupted"), "{last}");
    }
}

#[test]
fn a_stranger_on_the_same_server_costs_nobody_a_call() {
    let calls = if slow() { "20000" } else { "200000" };
    let last = soak(&["--calls", calls, "--seed", "3", "--stranger"]);
    assert!(last.contains("beside a stranger that made ") && last.ends_with(": 0 lost, 0 doubled, 0 corrupted"), "{last}");
}
