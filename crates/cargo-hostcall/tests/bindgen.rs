//! `cargo hostcall bindgen`, by what it writes and how it ends.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SERVICES: &str = "#[hostcall::service] pub trait Host { /// Adds 42.\n fn add42(x: f32) -> f32; fn log(message: &str); }";

/// A directory with `services.rs`.
fn directory(services: &str) -> TempDir {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("services.rs"), services).expect("written");
    dir
}

fn bindgen(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "bindgen"]).args(arguments).current_dir(dir).output().expect("it starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_language_is_written_to_standard_output_or_to_a_file() {
    let dir = directory(SERVICES);
    for (language, expected) in [
        ("cuda", "HOSTCALL_SERVICE(Host__add42"),
        ("cpp-host", "add42{};"),
        ("c", "Host__add42_definition"),
        ("python", "add42 = hc.Definition("),
    ] {
        let printed = bindgen(dir.path(), &["--lang", language, "services.rs"]);
        let text = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(printed.status.success() && text.contains(expected), "{language}: {text}{}", stderr(&printed));
        assert!(!text.contains("services.rs") && text.lines().next().is_some_and(|line| line.contains("Do not edit")), "{text}");
        let file = dir.path().join(language);
        let written = bindgen(dir.path(), &["--lang", language, "-o", language, "services.rs"]);
        assert!(written.status.success() && written.stdout.is_empty(), "{}", stderr(&written));
        assert_eq!(fs::read_to_string(&file).expect("written"), text);
    }
}

#[test]
fn a_check_writes_nothing_and_shows_what_differs() {
    let dir = directory(SERVICES);
    let arguments = ["--lang", "c", "--output", "host.h", "services.rs"];
    let check = || bindgen(dir.path(), &[&arguments[..], &["--check"]].concat());
    let absent = check();
    assert!(absent.status.code() == Some(1) && stderr(&absent).contains("host.h is not there"), "{}", stderr(&absent));
    assert!(bindgen(dir.path(), &arguments).status.success());
    let same = check();
    assert!(same.status.success() && same.stderr.is_empty(), "{}", stderr(&same));
    fs::write(dir.path().join("services.rs"), SERVICES.replace("x: f32", "x: f64")).expect("written");
    let kept = fs::read(dir.path().join("host.h")).expect("it is there");
    let other = check();
    let said = stderr(&other);
    assert_eq!(other.status.code(), Some(1));
    assert!(said.contains("-    float x;") && said.contains("+    double x;") && said.contains("without --check"), "{said}");
    assert_eq!(fs::read(dir.path().join("host.h")).expect("it is there"), kept);
    let alone = bindgen(dir.path(), &["--lang", "c", "--check", "services.rs"]);
    assert!(!alone.status.success() && stderr(&alone).contains("--output"), "{}", stderr(&alone));
}

#[test]
fn an_unchanged_file_is_not_written_again() {
    let dir = directory(SERVICES);
    let arguments = ["--lang", "cuda", "-o", "host.cuh", "services.rs"];
    assert!(bindgen(dir.path(), &arguments).status.success());
    let file = dir.path().join("host.cuh");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(&file).and_then(|file| file.set_modified(long_ago)).expect("its time is set");
    assert!(bindgen(dir.path(), &arguments).status.success());
    assert_eq!(fs::metadata(&file).and_then(|data| data.modified()).expect("it has a time"), long_ago);
}

#[test]
fn what_cannot_be_is_said_with_its_place() {
    let dir = directory("#[hostcall::service]\npub trait Host {\n    fn f(x: Elsewhere);\n    fn g(y: Vec<u8>);\n}\n");
    let output = bindgen(dir.path(), &["--lang", "cuda", "-o", "host.cuh", "services.rs"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains("services.rs:3:13: no type `Elsewhere` is in the files") && said.contains("services.rs:4:13: `Vec<u8>` is generic"),
        "{said}"
    );
    assert!(!dir.path().join("host.cuh").exists());
    for (arguments, expected) in [
        (&["--lang", "cuda", "missing.rs"][..], "cannot read missing.rs"),
        (&["--lang", "fortran", "services.rs"], "cpp-host"),
        (&["--lang", "c", "--namespace", "a", "services.rs"], "c has none"),
        (&["--lang", "cuda", "--namespace", "new", "services.rs"], "no namespace of C++"),
        (&["--lang", "cuda"], "FILE"),
    ] {
        let output = bindgen(dir.path(), arguments);
        assert!(!output.status.success() && stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn types_come_from_several_files_and_names_go_into_a_namespace() {
    let dir = directory("use crate::types::Point; #[hostcall::service] pub trait Host { fn f(p: Point) -> Point; }");
    fs::write(dir.path().join("types.rs"), "#[derive(hostcall::Plain)] #[repr(C)] pub struct Point { x: f32 }").expect("written");
    let output = bindgen(dir.path(), &["--lang", "cuda", "--namespace", "mine", "services.rs", "types.rs"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("namespace mine {") && text.contains("HOSTCALL_PLAIN(::mine::Point)"),
        "{}",
        stderr(&output)
    );
}
