//! C in programs: programs in C alone (`tests/c-programs`), compiled by `cargo hostcall cc`, print on a device what
//! they print on this machine; packages whose build scripts compile C build and link unchanged; what is not there is
//! refused by name. With `HOSTCALL_REGISTRY=all` also larger libraries in C, of the registry
//! (`tests/suites/c-crates`).
//!
//! `HOSTCALL_TEST_DEVICE` chooses the device. Without a device toolchain, clang or musl's sources nothing can be
//! compiled, and the tests say so.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

mod support;

use support::device;
use support::package::{Package, succeeded, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the device's images are built for.
fn target() -> &'static str {
    match device().split(':').next() {
        Some("cuda") => "nvptx",
        Some("hsa") => "amdgpu",
        _ => "sim",
    }
}

/// Whether C can be compiled here.
fn can_compile() -> bool {
    let missing: Vec<String> = hostcall_build::doctor()
        .into_iter()
        .filter(|check| ["device toolchain", "ld.lld", "clang", "musl"].contains(&check.name) && !check.found)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    if !missing.is_empty() {
        println!("not run: {}", missing.join("; "));
    }
    missing.is_empty()
}

fn hostcall(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.arg("hostcall").args(arguments);
    command
}

/// Compiles and links with `cargo hostcall cc`, for a target.
fn compile(target: &str, arguments: &[&str]) -> Output {
    hostcall(&["cc", &format!("--target={target}")]).args(arguments).output().expect("it starts")
}

fn given(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // A program that does not read ends first, perhaps.
    let _ = child.stdin.take().expect("it was piped").write_all(input);
    child.wait_with_output().expect("it ends")
}

/// Compiles a program of `tests/c-programs`, a file in C or C++, for the device and for this machine, and runs both;
/// what they left, and the directory in which each has one, `a` and `b`.
fn both(file: &str, arguments: &[&str]) -> Option<([Output; 2], TempDir)> {
    if !can_compile() {
        return None;
    }
    let dir = TempDir::new().expect("a directory");
    let source = root().join("tests/c-programs").join(file);
    let [there, here] = ["there.program", "here"].map(|name| dir.path().join(name));
    let source = source.to_str().expect("UTF-8");
    succeeded(&compile(target(), &["-O1", source, "-lm", "-o", there.to_str().expect("UTF-8")]));
    let compiler = if file.ends_with(".cpp") { "c++" } else { "cc" };
    let native = Command::new(compiler).args(["-w", "-O1", "-D_GNU_SOURCE", source, "-o"]).arg(&here).args(["-lm", "-lpthread"]).output();
    succeeded(&native.expect("a C compiler"));

    let rooms = ["a", "b"].map(|name| dir.path().join(name));
    for room in &rooms {
        fs::create_dir(room).expect("made");
    }
    let grant = format!("{}::/room", rooms[0].display());
    let mut command = hostcall(&["exec", "-q", "--device", &device(), "--timeout", "300", "--dir", &grant]);
    command.arg(&there).args(arguments).args(["-d", "/room", "more"]);
    let there = given(command, b"one\ntwo\n");
    let mut command = Command::new(&here);
    command.args(arguments).arg("-d").arg(&rooms[1]).arg("more");
    Some(([there, given(command, b"one\ntwo\n")], dir))
}

#[track_caller]
fn are_equal(file: &str, arguments: &[&str]) -> Option<TempDir> {
    let ([there, here], rooms) = both(file, arguments)?;
    assert_eq!(text(&there.stdout), text(&here.stdout), "{}", text(&there.stderr));
    assert_eq!(there.status.code(), here.status.code());
    // A note about what was not granted may follow.
    assert!(text(&there.stderr).starts_with(&text(&here.stderr)), "{}", text(&there.stderr));
    assert!(there.stdout.len() > 20);
    Some(rooms)
}

#[test]
fn a_program_uses_the_library_of_c_and_prints_what_it_prints_here() {
    are_equal("library.c", &["-l"]);
}

#[test]
fn threads_of_a_program_in_c_wait_for_each_other() {
    are_equal("threads.c", &[]);
}

#[test]
fn what_is_written_to_a_file_is_in_its_mappings_and_what_is_stored_there_in_the_file() {
    if let Some(rooms) = are_equal("mapped.c", &[]) {
        let left = ["a", "b"].map(|room| fs::read(rooms.path().join(room).join("mapped")).expect("it left its file"));
        assert!(left[0].starts_with(b"stored last") && left[0] == left[1]);
    }
}

#[test]
fn jumps_leave_functions_in_the_simulator() {
    if target() == "sim" {
        are_equal("jumps.c", &[]);
    }
}

#[test]
fn threads_have_variables_of_their_own_in_the_simulator() {
    if target() == "sim" {
        are_equal("own.c", &[]);
    }
}

#[test]
fn constructors_run_before_main_and_destructors_last_on_a_thread_of_the_program() {
    are_equal("constructors.c", &[]);
}

#[test]
fn variables_of_a_program_in_cpp_are_made_and_ended_as_here() {
    are_equal("statics.cpp", &[]);
}

#[test]
fn a_gpus_main_calls_constructors_first() {
    if !can_compile() {
        return;
    }
    let dir = TempDir::new().expect("a directory");
    let (source, program) = (root().join("tests/c-programs/constructors.c"), dir.path().join("x.program"));
    succeeded(&compile("nvptx", &["-O0", source.to_str().expect("UTF-8"), "-o", program.to_str().expect("UTF-8")]));
    let bundle = hostcall_build::ProgramBundle::from_bytes(&fs::read(&program).expect("it was linked")).expect("a bundle");
    let ptx = text(&bundle.images[0].bytes);
    let called = ["the_first", "the_second", "entered", "the_third"]
        .map(|name| ptx.find(&format!("call {name},")).unwrap_or_else(|| panic!("{name}")));
    assert!(called.is_sorted(), "{called:?}");
}

/// Compiles a text for a target; what was said of it.
fn refused(target: &str, name: &str, source: &str) -> Option<String> {
    if !can_compile() {
        return None;
    }
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join(name);
    fs::write(&file, source).expect("written");
    let output = compile(target, &[file.to_str().expect("UTF-8"), "-o", dir.path().join("x.program").to_str().expect("UTF-8")]);
    assert!(!output.status.success(), "it was compiled");
    assert!(!dir.path().join("x.program").exists());
    Some(text(&output.stderr))
}

#[test]
fn what_is_missing_is_named_with_its_caller_and_the_reason() {
    let source = "int missing(int); int half(int x) { return missing(x); } int main(void) { return half(4); }";
    for target in ["sim", "nvptx"] {
        let Some(said) = refused(target, "x.c", source) else { return };
        assert!(said.contains("`missing` (called by `half`)"), "{target}: {said}");
        let said = refused(target, "x.c", "int vfork(void); int main(void) { return vfork(); }").expect("as above");
        assert!(said.contains("`vfork` (called by `main`; there are no other processes on a device)"), "{target}: {said}");
    }
}

#[test]
fn what_no_gpu_has_is_refused_where_it_stands() {
    let jumps = "#include <setjmp.h>\nint main(void) { jmp_buf place; return setjmp(place); }";
    let Some(said) = refused("nvptx", "x.c", jumps) else { return };
    assert!(said.contains("`setjmp` (called by `main`; a GPU's calls return in their order"), "{said}");
    let said = refused("nvptx", "x.c", "int main(void) { __asm__(\"cpuid\"); return 0; }").expect("as above");
    assert!(said.contains("x.c:1:") && said.contains("a GPU runs no assembly of another processor"), "{said}");
    let said = refused("nvptx", "x.s", "nop\n").expect("as above");
    assert!(said.contains("x.s: assembly of another processor"), "{said}");
    let said = refused("nvptx", "x.c", "int main(int n, char **v) { int all[n]; return all[0]; }").expect("as above");
    assert!(said.contains("a GPU's compiler must know how large a function's variables are"), "{said}");
}

/// As the crate `cc` does: the compiler and the archiver that the environment names for the target.
const BUILD: &str = r#"fn main() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let (target, out) = (variable("TARGET"), variable("OUT_DIR"));
    let run = |tool: &str, arguments: &[&str]| {
        let program = variable(&format!("{tool}_{target}"));
        assert!(std::process::Command::new(program).args(arguments).status().unwrap().success());
    };
    run("CC", &["-O2", "-fPIC", "-c", "seven.c", "-o", &format!("{out}/seven.o")]);
    run("AR", &["crs", &format!("{out}/libseven.a"), &format!("{out}/seven.o")]);
    println!("cargo::rustc-link-search=native={out}");
    println!("cargo::rustc-link-lib=static=seven");
}"#;

const SEVEN: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <stdarg.h>\n\
    static int add(int count, ...) { va_list all; va_start(all, count); int sum = 0; while (count--) sum += va_arg(all, int); va_end(all); return sum; }\n\
    int seven(const char *text) { printf(\"C says %s\\n\", text); return add(3, 1, 2, atoi(text)); }\n";

#[test]
fn c_that_a_build_script_compiles_is_part_of_a_program_for_every_device() {
    let declared = "unsafe extern \"C\" { pub fn seven(text: *const std::ffi::c_char) -> i32; }";
    let main = |path: &str, more: &str| {
        format!("{more}\nfn main() {{ println!(\"Rust says {{}}\", 7 + unsafe {{ {path}seven(c\"4\".as_ptr()) }}); }}")
    };
    // In a dependency, and in the program's own package.
    let [apart, whole] = [main("seven_sys::", ""), main("", declared)];
    let in_dependency = [
        ("src/main.rs", &*apart),
        ("seven-sys/Cargo.toml", "[package]\nname = \"seven-sys\"\nversion = \"0.3.0\"\nedition = \"2024\"\nlinks = \"seven\"\n"),
        ("seven-sys/src/lib.rs", declared),
        ("seven-sys/build.rs", BUILD),
        ("seven-sys/seven.c", SEVEN),
    ];
    let in_program = [("src/main.rs", &*whole), ("build.rs", BUILD), ("seven.c", SEVEN)];
    let depends = "exclude = [\"seven-sys\"]\n[dependencies]\nseven-sys = { path = \"seven-sys\" }\n";
    for (manifest, files) in [(depends, &in_dependency[..]), ("", &in_program[..])] {
        if !can_compile() {
            return;
        }
        let Some(package) = Package::new(manifest, files) else { return };
        let output = package.hostcall(&["run", "--no-check-gpu", "--device", &device()]);
        assert_eq!(succeeded(&output), "C says 4\nRust says 14\n", "{}", text(&output.stderr));
        succeeded(&package.hostcall(&["build", "--for", "nvptx"]));
    }
}

#[test]
fn libraries_in_c_of_the_registry_do_on_a_device_what_they_do_here() {
    if std::env::var_os("HOSTCALL_REGISTRY").is_none_or(|which| which != "all") {
        return println!("not run: HOSTCALL_REGISTRY=all builds zlib, zstd, SQLite and Oniguruma");
    }
    if !can_compile() {
        return;
    }
    let suite = root().join("tests/suites/c-crates");
    let target_dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-crates");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "-q", "--release", "--locked", "--target-dir"]).arg(&target_dir).current_dir(&suite);
    let here = succeeded(&command.output().expect("it starts"));
    let mut command = hostcall(&["run", "-q", "--release", "--locked", "--no-check-gpu", "--device", &device(), "--target-dir"]);
    let there = succeeded(&command.arg(&target_dir).current_dir(&suite).output().expect("it starts"));
    assert_eq!(there, here);
    assert!(here.lines().count() >= 7, "{here}");
}
