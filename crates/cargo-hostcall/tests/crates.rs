//! Popular crates of the registry, unmodified: `tests/suites/crates` uses each a little, on the device, and prints what
//! came of it. That must be what it prints on this machine, which is kept in `tests/suites/crates/printed.txt`.
//!
//! `cargo xtask crates` runs this, builds for this machine too, compares what is kept, and shows the results.
//! `docs/reference/std-reference.md` must name every crate that is used here, and every one that cannot be.
//! `tests/suites/unix-crates` and `tests/suites/unix-tools` have those that are compiled and not used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostcall_build::{Machine, Sysroot};

/// As a dependency, a program that uses it, and the function of C's that is not there.
const UNLINKED: [(&str, &str, &str, &str); 1] = [(
    "nix",
    "{ version = \"0.30\", features = [\"signal\"] }",
    "fn main() { println!(\"{:?}\", nix::sys::signal::SigSet::all().wait()) }",
    "sigwait",
)];

/// What NVIDIA's GPUs cannot have: PTX has no statics that refer to one another.
const NOT_IN_PTX: [&str; 1] = ["tracing"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn can_build() -> bool {
    hostcall_build::DeviceToolchain::find().inspect_err(|error| println!("not run: {error}")).is_ok()
}

/// Kept from run to run.
fn target_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("crates")
}

fn hostcall(verb: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", verb, "--target-dir"]).arg(target_dir());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines `NAME: RESULT` of a run.
#[track_caller]
fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

/// What `docs/reference/std-reference.md` says about crates.
fn documented() -> String {
    let std = fs::read_to_string(root().join("docs/reference/std-reference.md")).expect("it is there");
    let section = std.split("\n## ").find(|section| section.starts_with("Crates\n")).expect("it has the section");
    section.to_owned()
}

/// What a build for this machine prints.
fn native(manifest: &Path) -> Output {
    let room = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "-q", "--locked", "--target-dir"]).arg(target_dir()).arg("--manifest-path").arg(manifest);
    command.arg("--").arg(room.path()).output().expect("it starts")
}

#[test]
fn crates_of_the_registry_do_on_a_device_what_they_do_here() {
    if !can_build() {
        return;
    }
    let manifest = root().join("tests/suites/crates/Cargo.toml");
    let room = tempfile::tempdir().expect("a directory");
    let device = std::env::var("HOSTCALL_TEST_DEVICE").unwrap_or_else(|_| "sim".into());
    let mut command = hostcall("run");
    command.args([
        "-q",
        "--no-check-gpu",
        "--locked",
        "--device",
        &device,
        "--threads",
        "24",
        "--timeout",
        "120",
        "--net-allow",
        "127.0.0.1:*",
        "--dir",
    ]);
    command.arg(format!("{}::room", room.path().display())).arg("--manifest-path").arg(&manifest).args(["--", "room"]);
    let there = lines(&command.output().expect("it starts"));

    let kept = manifest.with_file_name("printed.txt");
    let here: Vec<String> = fs::read_to_string(&kept).expect("it is there").lines().map(str::to_owned).collect();
    if std::env::var_os("HOSTCALL_REGISTRY").is_some_and(|which| which == "all") {
        assert_eq!(lines(&native(&manifest)), here, "not what {} has", kept.display());
    }
    let here: Vec<String> = here
        .into_iter()
        .filter(|line| device.starts_with("sim") || !NOT_IN_PTX.iter().any(|name| line.starts_with(&format!("{name}: "))))
        .collect();
    let different: Vec<_> = here.iter().zip(&there).filter(|(here, there)| here != there).collect();
    for line in &there {
        println!("{} {line}", if here.contains(line) { "ok  " } else { "FAIL" });
    }
    assert!(different.is_empty(), "here and on {device}: {different:#?}");
    assert_eq!(here.len(), there.len());
    assert!(here.len() >= 40, "only {} crates", here.len());
    let documented = documented();
    let names: Vec<&str> = here.iter().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    let forgotten: Vec<&&str> = names.iter().filter(|name| !documented.contains(&format!("`{name}`"))).collect();
    assert!(forgotten.is_empty(), "docs/reference/std-reference.md does not name {forgotten:?}");
}

#[test]
fn crates_that_need_what_is_not_there_are_refused_with_its_name_and_who_calls_it() {
    if !can_build() {
        return;
    }
    let documented = documented();
    for (name, dependency, program, missing) in UNLINKED {
        let package = tempfile::tempdir().expect("a directory");
        let manifest = format!("[package]\nname = \"refused\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n{name} = {dependency}\n");
        fs::write(package.path().join("Cargo.toml"), manifest).expect("written");
        fs::create_dir(package.path().join("src")).expect("made");
        fs::write(package.path().join("src/main.rs"), program).expect("written");
        let output = hostcall("build").args(["--for", "sim"]).current_dir(package.path()).output().expect("it starts");
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{name} builds: it belongs to those that are used");
        assert!(said.contains(&format!("nothing there provides `{missing}` (called by `<{name}::")), "{name}: {said}");
        println!("no   {name}: `{missing}` is missing");
        assert!(documented.contains(&format!("`{name}`")), "docs/reference/std-reference.md does not name {name}");
    }
}

/// They take a processor ten minutes. So `cargo xtask crates` compiles them, before a release; elsewhere they are
/// counted.
#[test]
fn crates_and_programs_of_linux_compile_for_a_gpu() {
    let counts = ["unix-crates", "unix-tools"].map(|name| {
        let manifest = root().join(format!("tests/suites/{name}/Cargo.toml"));
        if std::env::var_os("HOSTCALL_REGISTRY").is_some_and(|which| which == "all") {
            compile_for_a_gpu(name, &manifest);
        } else {
            println!("not run: HOSTCALL_REGISTRY=all compiles {name}");
        }
        let listed = fs::read_to_string(&manifest).expect("it is there");
        listed.split("[dependencies]").nth(1).expect("it has some").lines().filter(|line| line.contains(" = ")).count()
    });
    let [crates, tools] = counts;
    assert!(crates + tools >= 150, "only {crates} and {tools}");
    let told = format!("{crates} more crates, and {tools} tools of uutils");
    assert!(documented().contains(&told), "docs/reference/std-reference.md does not tell of {told}");
}

fn compile_for_a_gpu(name: &str, manifest: &Path) {
    let tool = Path::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let sysroot = Sysroot::prepare(&Machine::Nvptx, Some(tool), |line| println!("{line}")).expect("std");
    let mut command = Command::new(sysroot.cargo());
    command
        .args(["check", "-q", "--locked", "--target", &sysroot.machine.name(), "--target-dir"])
        .arg(target_dir())
        .arg("--manifest-path")
        .arg(manifest)
        .args(sysroot.settings().iter().map(|setting| format!("--config={setting}")))
        .envs(sysroot.variables().expect("it is prepared"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
}
