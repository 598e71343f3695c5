//! The way from an ordinary package to a device: `new`, `build`, `test`, `config`, and what is said where it ends. On
//! the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

mod support;

use support::package::{Package, can_build, hostcall, succeeded, text};

#[test]
fn a_new_package_runs_and_its_tests_pass() {
    if !can_build() {
        return;
    }
    let room = TempDir::new().expect("a directory");
    succeeded(&hostcall(room.path(), &["new", "fresh"]));
    let fresh = room.path().join("fresh");
    let said = succeeded(&hostcall(&fresh, &["run", "--device", "sim", "-q", "--", "--dir", "b"]));
    assert!(said.contains("[\"--dir\", \"b\"]"), "{said}");
    let said = succeeded(&hostcall(&fresh, &["test", "--device", "sim"]));
    assert!(said.contains("test tests::threads_are_waves ... ok") && said.contains("1 passed; 0 failed"), "{said}");
    let again = hostcall(room.path(), &["new", "fresh"]);
    assert!(!again.status.success() && text(&again.stderr).contains("fresh"), "{}", text(&again.stderr));
}

/// What the harness is tried on: a test of each kind, an ignored one among them, whose count is compared.
const TESTS: &str = r#"
#[cfg(test)]
mod tests {
    #[test] fn passes() { println!("seen only when asked for") }
    #[test] fn fails() { assert_eq!(1 + 1, 3, "arithmetic") }
    #[test] #[should_panic] fn panics_as_it_should() { panic!("yes") }
    #[test] #[should_panic(expected = "no")] fn panics_otherwise() { panic!("yes") }
    #[test] #[ignore] fn is_ignored() {}
    #[test] fn aborts() { std::process::abort() }
    #[test] fn hangs() { loop { std::thread::sleep(std::time::Duration::from_millis(5)) } }
    #[test] fn returns() -> Result<(), String> { Ok(()) }
}
"#;

#[test]
fn a_test_that_fails_crashes_or_hangs_is_named_and_the_others_run() {
    let Some(package) = Package::new("", &[("src/lib.rs", TESTS)]) else { return };
    let output = package.hostcall(&["test", "--device", "sim", "--timeout", "5"]);
    assert_eq!(output.status.code(), Some(101), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for (name, result) in [
        ("passes", "ok"),
        ("returns", "ok"),
        ("panics_as_it_should", "ok"),
        ("is_ignored", "ignored"),
        ("fails", "FAILED"),
        ("panics_otherwise", "FAILED"),
        ("aborts", "FAILED"),
        ("hangs", "FAILED"),
    ] {
        assert!(said.contains(&format!("test tests::{name} ... {result}\n")), "{name}: {said}");
    }
    assert!(said.contains("arithmetic") && said.contains("timed out after 5s") && !said.contains("seen only"), "{said}");
    assert!(said.contains("3 passed; 4 failed; 1 ignored; 0 measured; 0 filtered out"), "{said}");

    let said = succeeded(&package.hostcall(&["test", "--device", "sim", "--", "passes", "--exact", "--nocapture"]));
    assert!(said.contains("0 passed; 0 failed; 0 ignored; 0 measured; 8 filtered out"), "`passes` is not a whole path: {said}");
    let said = succeeded(&package.hostcall(&["test", "--device", "sim", "passes", "--", "--nocapture"]));
    assert!(said.contains("seen only when asked for") && said.contains("7 filtered out"), "{said}");
}

#[test]
fn equal_inputs_give_equal_images() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() { println!(\"{}\", std::env::args().count()) }")]) else { return };
    let build = |dir: &str| {
        let said = succeeded(&package.hostcall(&["build", "--release", "--for", "sim", "-q", "--target-dir", dir, "-o", "out"]));
        let bundle = fs::read(package.path().join("out/sample.program")).expect("it is there");
        assert!(said.contains("SHA-256"), "{said}");
        bundle
    };
    assert!(build("one") == build("two"));
}

#[test]
fn a_function_that_nothing_provides_is_named_with_its_caller() {
    let main = "unsafe extern \"C\" { safe fn nobody_has_this(); }\n#[inline(never)]\nfn calls_it() { nobody_has_this() }\nfn main() { calls_it() }";
    let Some(package) = Package::new("", &[("src/main.rs", main)]) else { return };
    let output = package.hostcall(&["run", "--device", "sim"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("`nobody_has_this` (called by `sample::calls_it`)"), "{said}");
}

#[test]
fn a_crate_that_needs_another_system_is_named_and_why() {
    let files = [
        ("src/main.rs", "fn main() { needs_windows::wide(); }"),
        ("needs_windows/Cargo.toml", "[package]\nname = \"needs_windows\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "needs_windows/src/lib.rs",
            "pub fn wide() -> usize { std::os::windows::ffi::OsStrExt::encode_wide(std::ffi::OsStr::new(\"x\")).count() }",
        ),
    ];
    let Some(package) =
        Package::new("exclude = [\"needs_windows\"]\n[dependencies]\nneeds_windows = { path = \"needs_windows\" }\n", &files)
    else {
        return;
    };
    let output = package.hostcall(&["run", "--device", "sim"]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("`needs_windows` does not compile for the device") && said.contains("Linux with musl"),
        "{said}"
    );
}

#[test]
fn machine_code_in_a_dependency_is_refused_for_a_gpu_by_name() {
    let build = r#"fn main() {
        let out = std::env::var("OUT_DIR").unwrap();
        let run = |program: &str, arguments: &[&str]| assert!(std::process::Command::new(program).args(arguments).status().unwrap().success());
        std::fs::write(format!("{out}/seven.c"), "int seven(void) { return 7; }").unwrap();
        run("cc", &["-c", "-fPIC", &format!("{out}/seven.c"), "-o", &format!("{out}/seven.o")]);
        run("ar", &["rcs", &format!("{out}/libseven.a"), &format!("{out}/seven.o")]);
        println!("cargo::rustc-link-search=native={out}");
        println!("cargo::rustc-link-lib=static=seven");
    }"#;
    let declared = "unsafe extern \"C\" { pub safe fn seven() -> i32; }";
    let named = format!("#[link(name = \"seven\", kind = \"static\")]\n{declared}");
    // By the build script, which cargo tells rustc of; or by the source.
    let without = build.replace("println!(\"cargo::rustc-link-lib=static=seven\");", "");
    for (build, library, name) in [(build, declared, "seven"), (&*without, &*named, "seven.o")] {
        brings_c(build, library, name);
    }
}

fn brings_c(build: &str, library: &str, name: &str) {
    let files = [
        ("src/main.rs", "fn main() { println!(\"{}\", seven_sys::seven()) }"),
        ("seven-sys/Cargo.toml", "[package]\nname = \"seven-sys\"\nversion = \"0.3.0\"\nedition = \"2024\"\nlinks = \"seven\"\n"),
        ("seven-sys/src/lib.rs", library),
        ("seven-sys/build.rs", build),
    ];
    let Some(package) = Package::new("exclude = [\"seven-sys\"]\n[dependencies]\nseven-sys = { path = \"seven-sys\" }\n", &files) else {
        return;
    };
    let output = package.hostcall(&["run", "--no-check-gpu", "--device", "sim"]);
    assert_eq!(succeeded(&output), "7\n");
    let output = package.hostcall(&["build", "--for", "nvptx"]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains(&format!("error: the package `seven-sys 0.3.0` links `{name}`, which a GPU cannot")),
        "{said}"
    );
    assert!(!said.contains("internal compiler error") && !said.contains("panicked"), "{said}");
}

#[test]
fn a_program_that_means_to_catch_a_panic_is_told_where_that_is_built() {
    let main = "use std::panic::catch_unwind;\n\nfn main() {\n    let caught = catch_unwind(|| 6 * 7);\n    println!(\"{}\", caught.unwrap());\n}\n";
    let Some(package) = Package::new("", &[("src/main.rs", main)]) else { return };
    let output = package.hostcall(&["run", "--device", "sim"]);
    assert_eq!(succeeded(&output), "42\n");
    let said = text(&output.stderr);
    assert_eq!(said.matches("`catch_unwind` catches nothing on a device").count(), 1, "{said}");
    assert!(said.contains("src/main.rs:4"), "{said}");
}

#[test]
fn plain_cargo_runs_on_the_device_with_the_printed_configuration() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() { println!(\"{:?}\", std::env::var(\"COLOUR\")) }")]) else { return };
    let configuration = succeeded(&package.hostcall(&["config", "--device", "sim", "--env", "COLOUR=red"]));
    package.write(".cargo/config.toml", &configuration);
    let toolchain = hostcall_build::DeviceToolchain::find().expect("the package was made");
    // `rustc 1.96.0 (…)`: whose std it is, and no version of this program's.
    let version = toolchain.version.split_whitespace().nth(1).expect("a version");
    assert!(configuration.lines().next().is_some_and(|line| line.contains(&format!(" rustc {version},"))), "{configuration}");
    let mut command = Command::new(&toolchain.cargo);
    command.args(["run", "-q"]).current_dir(package.path());
    for name in ["CARGO_TARGET_DIR", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    assert_eq!(succeeded(&command.output().expect("it starts")), "Ok(\"red\")\n");
    let output = command.env("HOSTCALL_RUN", "--env COLOUR=blue --threads 3").output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_compiled() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() {}")]) else { return };
    let refused = |arguments: &[&str], why: &str| {
        let output = package.hostcall(arguments);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(why) && !said.contains("Compiling") && !said.contains("building"), "{said}");
    };
    refused(&["build", "--for", "nvptx:sm_90"], "write `--for nvptx`, or `--for cubin:sm_90`");
    if Path::new("/dev/nvidiactl").exists() {
        println!("not run: a device that is not there, for there is one here");
    } else {
        refused(&["run", "--device", "cuda:0"], "libcuda");
        refused(&["test", "--device", "cuda:0"], "libcuda");
    }
    assert!(!package.path().join("target").exists());
}

#[test]
fn a_heap_larger_than_the_simulators_memory_makes_it_larger() {
    let Some(package) =
        Package::new("", &[("src/main.rs", "fn main() { println!(\"{}\", Vec::<u8>::with_capacity(1 << 30).capacity() >> 30) }")])
    else {
        return;
    };
    assert_eq!(succeeded(&package.hostcall(&["run", "--device", "sim", "--heap", "6g"])), "1\n");
    // What was said is not overruled; the setting is named.
    let output = package.hostcall(&["run", "-q", "--device", "sim:memory=2g", "--heap", "6g"]);
    assert!(!output.status.success() && text(&output.stderr).contains("`sim:memory=BYTES`"), "{}", text(&output.stderr));
}

#[test]
fn doctor_finds_a_std_that_was_built_under_another_path() {
    if !can_build() {
        return;
    }
    let dir = TempDir::new().expect("a directory");
    succeeded(&hostcall(dir.path(), &["config", "--device", "sim"]));
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").expect("a path"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let said = text(&command.args(["hostcall", "doctor"]).env("PATH", path).output().expect("it starts").stdout);
    let line = said.lines().find(|line| line.contains("std, simulator")).expect("a line about it");
    assert!(line.contains("ok") && !line.contains("not built yet"), "{said}");
}

/// A file of each of two checkouts' programs, at places of their own.
fn copy_of_the_program(dir: &Path, name: &str) -> PathBuf {
    let file = dir.join(name).join("cargo-hostcall");
    fs::create_dir_all(file.parent().expect("it is in a directory")).expect("made");
    fs::copy(env!("CARGO_BIN_EXE_cargo-hostcall"), &file).expect("copied");
    file
}

#[test]
fn two_checkouts_build_with_tools_of_their_own() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() { println!(\"built\") }")]) else { return };
    let [one, other] = ["one", "other"].map(|name| copy_of_the_program(package.path(), name));
    let configuration = |program: &Path| {
        let output = Command::new(program).args(["hostcall", "config", "--device", "sim"]).current_dir(package.path()).output();
        succeeded(&output.expect("it starts"))
    };
    let (first, second) = (configuration(&one), configuration(&other));
    let compiler = |text: &str| text.lines().find(|line| line.starts_with("rustc = ")).expect("a compiler").to_owned();
    assert_ne!(compiler(&first), compiler(&second));
    // What the other's commands did, or that it is gone, is nothing to a build that the first configured.
    fs::remove_file(&other).expect("it was copied");
    package.write(".cargo/config.toml", &first);
    let toolchain = hostcall_build::DeviceToolchain::find().expect("the package was made");
    let mut command = Command::new(&toolchain.cargo);
    command.args(["run", "-q"]).current_dir(package.path());
    for name in ["CARGO_TARGET_DIR", "RUSTC", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        command.env_remove(name);
    }
    assert_eq!(succeeded(&command.output().expect("it starts")), "built\n");
}

/// The runtime's crates in another checkout, in another state.
fn other_runtime(dir: &Path) -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("this checkout");
    let copy = |name: &str| {
        let (from, to) = (ours.join(name), dir.join(name));
        fs::create_dir_all(to.parent().expect("it is in a directory")).expect("made");
        assert!(Command::new("cp").arg("-r").args([&from, &to]).status().expect("cp runs").success(), "{name}");
    };
    let crates = ["hostcall-std", "hostcall-device", "hostcall-abi", "hostcall-macros", "hostcall-idl", "hostcall-error"]
        .map(|name| format!("crates/{name}"));
    for name in crates.iter().map(String::as_str).chain(["Cargo.lock"]) {
        copy(name);
    }
    let manifest = fs::read_to_string(ours.join("Cargo.toml")).expect("it is there");
    let is_list = |line: &&str| line.starts_with("members = [");
    let members = manifest.lines().find(is_list).expect("the members stand in one line");
    let manifest = manifest.replace(members, "members = [\"crates/hostcall-std\"]");
    fs::write(dir.join("Cargo.toml"), manifest).expect("written");
    let library = dir.join("crates/hostcall-std/src/lib.rs");
    let text = fs::read_to_string(&library).expect("it is there") + "\n// Another state.\n";
    fs::write(&library, text).expect("written");
    dir.join("crates/hostcall-std")
}

#[test]
fn a_program_is_linked_again_for_another_runtime_and_refused_by_the_one_that_it_was_not_linked_with() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() { println!(\"ran\") }")]) else { return };
    // Always the same place: what is kept of a checkout is kept by where it is.
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other-checkout");
    let _ = fs::remove_dir_all(&elsewhere);
    let runtime = other_runtime(&elsewhere);
    let run = |other: bool| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
        command.args(["hostcall", "run", "--device", "sim"]).current_dir(package.path()).env_remove("CARGO_TARGET_DIR");
        if other {
            command.env("HOSTCALL_STD_SOURCE", &runtime);
        }
        let output = command.output().expect("it starts");
        assert_eq!(succeeded(&output), "ran\n");
        text(&output.stderr)
    };
    assert!(run(false).contains("Compiling sample"));
    assert!(!run(false).contains("Compiling"));
    // Into the same directory, where cargo finds the first one's program.
    assert!(run(true).contains("Compiling sample"));
    assert!(!run(true).contains("Compiling"));
    let output = package.hostcall(&["exec", "--device", "sim", &package.image().display().to_string()]);
    let said = text(&output.stderr);
    let state = hostcall_build::runtime_state().expect("the sources are here");
    assert!(!output.status.success() && said.contains("was linked with the runtime") && said.contains(&state), "{said}");
}

#[test]
fn exhausted_stacks_and_endless_loops_end_with_the_flag_that_helps() {
    let main = "fn deep(n: u64) -> u64 { std::hint::black_box(n) + if n == u64::MAX { 0 } else { deep(n + 1) } }\n\
                fn main() { if std::env::args().count() > 1 { println!(\"{}\", deep(0)) } else { loop { std::thread::yield_now() } } }";
    let Some(package) = Package::new("", &[("src/main.rs", main)]) else { return };
    let output = package.hostcall(&["run", "--device", "sim", "-q", "--stack", "128k", "--", "deep"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("stack overflow") && said.contains("131072") && said.contains("--stack"), "{said}");
    let output = package.hostcall(&["run", "--device", "sim", "-q", "--timeout", "1"]);
    assert_eq!(output.status.code(), Some(124), "{}", text(&output.stderr));
}

#[test]
fn a_file_that_is_no_image_is_refused() {
    let dir = TempDir::new().expect("a directory");
    let file: PathBuf = dir.path().join("x.program");
    fs::write(&file, "not a bundle").expect("written");
    let output = hostcall(dir.path(), &["exec", "--device", "sim", &file.display().to_string()]);
    assert!(!output.status.success() && text(&output.stderr).contains("not a program bundle"), "{}", text(&output.stderr));
    let output = hostcall(dir.path(), &["exec", "--device", "sim", "nowhere.program"]);
    assert!(!output.status.success() && text(&output.stderr).contains("nowhere.program"), "{}", text(&output.stderr));
}

const ASKS: &str = r#"
use std::net::ToSocketAddrs;

fn deep(n: u64) -> u64 {
    std::hint::black_box(n) + if n == 0 { 0 } else { deep(n - 1) }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("deep") => println!("{}", deep(20_000)),
        Some("path") => {
            println!("{}", std::fs::read("/in/x").unwrap_err());
            std::process::exit(std::env::args().len() as i32 - 2);
        }
        _ => {
            println!("{}", std::process::Command::new("ls").spawn().unwrap_err());
            println!("{}", "nobody.invalid:80".to_socket_addrs().unwrap_err());
        }
    }
}
"#;

#[test]
fn what_is_not_there_is_said_in_words_and_a_refused_path_with_a_flag_that_grants_it() {
    let Some(package) = Package::new("", &[("src/main.rs", ASKS), ("g/in/x", "contents")]) else { return };
    let said = succeeded(&package.hostcall(&["run", "-q", "--device", "sim", "--net"]));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "Function not implemented (os error 38)");
    let why = lines[1].strip_prefix("failed to lookup address information: ").expect("what went wrong");
    assert!(["Name or service not known", "Temporary failure in name resolution"].contains(&why), "{said}");

    // `g/in` was meant; there is no `/in`, and nobody is told to grant it.
    let output = package.hostcall(&["run", "-q", "--device", "sim", "--dir", "g", "--", "path", "fail"]);
    let said = text(&output.stderr);
    assert!(said.contains("for /in/x beside what is granted (/g)") && said.contains("/g/in::in`"), "{said}");
    let output = package.hostcall(&["run", "-q", "--device", "sim", "--dir", "g", "--", "path"]);
    assert!(output.status.success() && !text(&output.stderr).contains("granted"), "{}", text(&output.stderr));
    let output = package.hostcall(&["run", "--device", "sim", "--dir", "g/in", "--", "path"]);
    let said = text(&output.stderr);
    assert!(said.contains("beside what is granted (/g/in)") && said.contains("`--dir HOST::in`"), "{said}");
}

#[test]
fn a_compressed_image_is_started_and_twenty_thousand_calls_fit_into_32_mib_of_stack() {
    let Some(package) = Package::new("", &[("src/main.rs", ASKS)]) else { return };
    assert_eq!(succeeded(&package.hostcall(&["run", "-q", "--device", "sim", "--stack", "32m", "--", "deep"])), "200010000\n");
    let packed = package.path().join("sample.program.gz");
    let status = Command::new("gzip").arg("-c").arg(package.image()).stdout(fs::File::create(&packed).expect("made")).status();
    assert!(status.expect("gzip is there").success());
    let output = package.hostcall(&["exec", "-q", "--device", "sim", "--stack", "32m", "--", &packed.display().to_string(), "deep"]);
    assert_eq!(succeeded(&output), "200010000\n");
}
