//! `offload-info`, as people run it.

use std::process::Command;

fn run(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_offload-info")).args(arguments).env_remove("OFFLOAD_PLATFORMS").output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn platforms_and_devices_are_listed_as_json() {
    let (success, stdout) = run(&["--json"]);
    assert!(success);
    let all: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    for platform in all["platforms"].as_array().unwrap() {
        assert!(platform["devices"].as_u64().unwrap() > 0 || platform["reason"].is_string(), "no devices, and no reason: {platform}");
    }
    let host = all["devices"].as_array().unwrap().iter().find(|device| device["platform"] == "HOST").unwrap();
    assert_eq!(host["type"], "HOST");
    assert!(host["memory_bytes"].as_u64().unwrap() > 1 << 20 && host["memory_clock_mhz"].as_u64().unwrap() > 0, "{host}");
}

#[test]
fn the_text_says_why_a_platform_has_no_devices() {
    let (success, stdout) = run(&[]);
    assert!(success && stdout.contains("platform HOST: 1 devices\n") && stdout.contains("\n  name "), "{stdout}");
    let cuda = stdout.lines().find(|line| line.starts_with("platform CUDA: ")).unwrap();
    assert!(!cuda.contains(" 0 devices") || cuda.contains("libcuda") || cuda.contains("GPU"), "{cuda}");
}

#[test]
fn unknown_arguments_are_refused() {
    assert!(!run(&["--yaml"]).0);
}
