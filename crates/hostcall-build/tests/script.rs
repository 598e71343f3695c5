//! A package whose build script builds a kernel crate, as users have one, built by a cargo with settings of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use hostcall_build::DeviceToolchain;

/// Runs the fixture `user`: what it prints, and what cargo wrote to stderr.
fn run_user(environment: &[(&str, &str)]) -> Result<String, String> {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // A wrapper and flags that are the outer build's own business: the kernel crate fails to compile if they reach it.
    let wrapper = temporary.join("wrapper.sh");
    fs::write(&wrapper, "#!/bin/sh\ncase \"$*\" in *\"--cfg hostcall_device\"*) echo wrapped >&2; exit 1;; esac\nexec \"$@\"\n")
        .expect("it is writable");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/user/Cargo.toml"))
        .env("CARGO_TARGET_DIR", temporary.join("user"))
        .env("RUSTC_WRAPPER", &wrapper)
        .env("RUSTFLAGS", "--cfg outer_build --check-cfg cfg(outer_build)")
        .env("CARGO_PROFILE_RELEASE_PANIC", "unwind")
        .env_remove("HOSTCALL_TARGETS")
        .envs(environment.iter().copied())
        .output()
        .expect("cargo runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

// One test, because the two builds share a target directory and would wait for each other.
#[test]
fn a_build_script_bundles_what_it_can_and_notes_what_it_cannot() {
    let with_toolchain = run_user(&[]).unwrap_or_else(|error| panic!("{error}"));
    assert!(with_toolchain.starts_with("simulator "), "{with_toolchain}");
    assert_eq!(with_toolchain.contains("PTX sm_70"), DeviceToolchain::find().is_ok(), "{with_toolchain}");

    let without = run_user(&[("HOSTCALL_DEVICE_RUSTC", "/no/such/rustc")]).unwrap_or_else(|error| panic!("{error}"));
    assert!(without.starts_with("simulator ") && !without.contains("PTX"), "{without}");
    assert!(without.contains("note: built for the simulator only") && without.contains("/no/such/rustc"), "{without}");
    assert!(without.contains("cargo hostcall setup"), "{without}");

    let asked = run_user(&[("HOSTCALL_DEVICE_RUSTC", "/no/such/rustc"), ("HOSTCALL_TARGETS", "sim,nvptx")]);
    let error = asked.expect_err("PTX was asked for by name");
    assert!(error.contains("/no/such/rustc") && error.contains("cargo hostcall setup"), "{error}");

    let unknown = run_user(&[("HOSTCALL_TARGETS", "sim,gpu")]).expect_err("there is no target gpu");
    assert!(unknown.contains("unknown target \"gpu\""), "{unknown}");
}

#[test]
fn what_the_compiler_warns_of_in_kernels_is_seen_when_the_package_is_built() {
    let build = || {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/warned/Cargo.toml"))
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("warned"))
            .env("HOSTCALL_TARGETS", "sim")
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    // Cargo says the warnings again when nothing is compiled.
    for said in [build(), build()] {
        assert!(said.contains("warning: warned@0.1.0: unused `Result` that must be used"), "{said}");
        assert!(said.contains("src/lib.rs:13:5"), "{said}");
        assert!(!said.contains("hostcall_device"), "the cfg is known: {said}");
    }
}
