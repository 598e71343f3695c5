//! Kernels that call the host, launched by a C program, in the simulator.

mod common;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use common::command;
use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_test_support::{succeed, text};

/// The program's images: a bundle, as `hostcall-build` makes it.
fn bundle() -> &'static [u8] {
    static BUNDLE: OnceLock<Vec<u8>> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let spec = ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(manifest.join("../../tests/offload-calls")) };
        build_program(&spec).expect("the kernels build").bundle.to_bytes()
    })
}

fn calls(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("kernels.program"), bundle()).unwrap();
    common::program(folder, "host_calls", &[Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/host_calls.c")])
}

fn run(folder: &Path, what: &[&str], grant: &str) -> Output {
    let program = calls(folder);
    succeed(command(&program).arg(folder.join("kernels.program")).args(what).env("OFFLOAD_GRANT", grant))
}

#[test]
fn what_kernels_print_is_there_when_the_queue_has_been_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let output = text(&run(folder.path(), &["greet"], "").stdout);
    let at = output.find("greet: 0\n").expect("the first launch succeeds");
    assert!(output.ends_with("greet at once: 0\n"), "{output}");
    let (first, second) = output.split_at(at);
    for half in [first, second] {
        for item in 0..128 {
            assert_eq!(half.lines().filter(|line| *line == format!("hello from item {item}")).count(), 1, "{item}: {output}");
        }
    }
}

#[test]
fn services_of_the_program_s_own_are_asked_of_the_platform_s_callback() {
    let folder = tempfile::tempdir().unwrap();
    let output = text(&run(folder.path(), &["ask"], "").stdout);
    let lines: Vec<_> = output.lines().filter(|line| line.contains("right,") || line.starts_with("with")).collect();
    assert!(output.contains("without a callback: 0 right, 0 asked, 0 posted"), "{output}");
    assert!(output.contains("with one: 0\nwith one: 100 right, 100 asked, 1 posted"), "{output}");
    assert!(output.contains("with one that refuses: 0 right, 100 asked, 1 posted"), "{output}");
    // A lane's failed call is its kernel's failure, which the wait reports with what the lane says.
    assert!(lines.iter().any(|line| line.starts_with("without a callback: 17: ")), "{output}");
    assert!(output.contains("the platform's RPC callback returned 0x11 for Host__add42"), "{output}");
}

#[test]
fn files_are_written_where_the_environment_grants_it_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let granted = folder.path().join("granted");
    std::fs::create_dir(&granted).unwrap();
    let output = text(&run(folder.path(), &["keep"], &format!("dir={}::w", granted.display())).stdout);
    assert!(output.contains("keep: 0\n"), "{output}");
    assert_eq!(std::fs::read_to_string(granted.join("kept.txt")).unwrap(), "kept by a kernel\n");
    let output = text(&run(folder.path(), &["keep"], "").stdout);
    assert!(output.contains("keep: 17: "), "{output}");
}

#[test]
fn a_grant_that_cannot_be_is_an_error_when_the_program_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let program = calls(folder.path());
    let output = command(&program).arg(folder.path().join("kernels.program")).env("OFFLOAD_GRANT", "dir=/nowhere/at/all").output().unwrap();
    let said = text(&output.stdout);
    assert!(said.starts_with("olCreateProgram: 11: OFFLOAD_GRANT, at `dir=/nowhere/at/all`: cannot grant /nowhere/at/all"), "{said}");
}

#[test]
fn a_panic_of_a_kernel_is_the_failure_of_the_wait_and_the_program_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let output = text(&run(folder.path(), &["give_up", "greet"], "").stdout);
    assert!(output.contains("give_up: 17: ") && output.contains("item 7 gives up"), "{output}");
    assert!(output.contains("after it: 0\n") && output.contains("greet: 0\n"), "{output}");
}
