//! `cargo hostcall probe` around programs: they end as they do without it. What the library that is preloaded does is
//! tested beside it (`crates/hostcall-probe`).

use std::process::Command;

/// Programs that use no CUDA need none of hostcall's functions.
fn probe(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "probe"]).args(arguments).env("HOSTCALL_PROBE_LIBRARY", "/dev/null");
    command.output().expect("it starts")
}

#[test]
fn a_program_ends_as_it_does_by_itself() {
    for (script, code, out) in [("exit 7", 7, ""), ("kill -9 $$", 137, ""), ("echo \"$1\"", 0, "--a b\n")] {
        let output = probe(&["--kernel", "rows", "--", "sh", "-c", script, "sh", "--a b"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stdout), &*said), (Some(code), out, ""), "{script}");
    }
}

#[test]
fn what_a_program_is_told_is_in_its_environment_and_in_its_childrens() {
    let script = "sh -c 'echo $HOSTCALL_PROBE_INSTRUMENT, $HOSTCALL_PROBE_LAUNCHES, $CUPY_COMPILE_WITH_PTX; basename $TRITON_PTXAS_PATH; echo $LD_PRELOAD'";
    let output = probe(&["--instrument", "barriers,access", "--launch", "3..5", "--", "sh", "-c", script]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with("access,barriers, 3..5, 1\nptxas\n"), "{out}");
    let library = out.lines().last().expect("a line");
    assert!(std::fs::metadata(library).is_ok_and(|file| file.is_file()), "{library}");
}

#[test]
fn bad_arguments_are_said_before_anything_runs() {
    for (arguments, said) in [
        (&["--launch", "5..3", "--", "true"][..], "there is no launch in 5..3"),
        (&["--launch", "5", "--", "true"], "give a range, as 3..5"),
        (&["--instrument", "all", "--", "true"], "`all` is none of access, blocks, loops, barriers"),
        (&["--kernel", "(", "--", "true"], "invalid value '('"),
        (&["--kernel", "rows"], "<PROGRAM>"),
        (&["--", "/nowhere/program"], "`/nowhere/program` does not start"),
    ] {
        let output = probe(arguments);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && err.contains(said), "{arguments:?}: {err}");
    }
}
