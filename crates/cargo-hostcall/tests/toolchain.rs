//! The way from an ordinary package to a device: `new`, `build`, `test`, `config`, and what is said where it ends. On the simulator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A package in a directory of its own; `None`, and why, where there is no device toolchain.
struct Package(TempDir);

impl Package {
    fn new(manifest: &str, files: &[(&str, &str)]) -> Option<Package> {
        if !can_build() {
            return None;
        }
        let package = Package(TempDir::new().expect("a directory"));
        let head = "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        package.write("Cargo.toml", &format!("{head}{manifest}"));
        for (name, text) in files {
            package.write(name, text);
        }
        Some(package)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().expect("it is in a directory")).expect("made");
        fs::write(file, text).expect("written");
    }

    fn hostcall(&self, arguments: &[&str]) -> Output {
        hostcall(self.path(), arguments)
    }
}

fn can_build() -> bool {
    let found = hostcall_build::DeviceToolchain::find();
    if let Err(error) = &found {
        println!("not run: {error}");
    }
    found.is_ok()
}

fn hostcall(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.arg("hostcall").args(arguments).current_dir(dir).env_remove("CARGO_TARGET_DIR").output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

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
        ("src/main.rs", "fn main() { needs_unix::pid(); }"),
        ("needs_unix/Cargo.toml", "[package]\nname = \"needs_unix\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        ("needs_unix/src/lib.rs", "pub fn pid() -> i32 { std::os::unix::process::parent_id() as i32 }"),
    ];
    let Some(package) = Package::new("exclude = [\"needs_unix\"]\n[dependencies]\nneeds_unix = { path = \"needs_unix\" }\n", &files) else {
        return;
    };
    let output = package.hostcall(&["run", "--device", "sim"]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("`needs_unix` does not compile for the device") && said.contains("cfg(unix)"),
        "{said}"
    );
}

#[test]
fn plain_cargo_runs_on_the_device_with_the_printed_configuration() {
    let Some(package) = Package::new("", &[("src/main.rs", "fn main() { println!(\"{:?}\", std::env::var(\"COLOUR\")) }")]) else { return };
    let configuration = succeeded(&package.hostcall(&["config", "--device", "sim", "--env", "COLOUR=red"]));
    package.write(".cargo/config.toml", &configuration);
    let toolchain = hostcall_build::DeviceToolchain::find().expect("the package was made");
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
