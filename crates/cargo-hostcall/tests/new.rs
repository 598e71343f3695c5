//! `cargo hostcall new`, by what becomes of the package.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn hostcall(arguments: &[&str], path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-hostcall"));
    command.args(["hostcall", "new"]).args(arguments).arg(path).output().expect("it starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_new_package_may_ask_on_which_side_it_is_without_a_warning() {
    let dir = TempDir::new().expect("a directory");
    let package = dir.path().join("asks");
    let made = hostcall(&[], &package);
    assert!(made.status.success(), "{}", said(&made));
    let main = package.join("src/main.rs");
    let mut program = std::fs::read_to_string(&main).expect("it was written");
    program += "\n#[cfg(hostcall_device)]\nconst _SIDE: &str = \"device\";\n";
    std::fs::write(&main, program).expect("it is writable");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let checked = cargo.arg("check").current_dir(&package).env_remove("CARGO_TARGET_DIR").output().expect("cargo runs");
    let said = said(&checked);
    assert!(checked.status.success() && !said.contains("warning"), "{said}");
}

#[test]
fn a_package_with_kernels_has_a_profile_only_where_cargo_takes_it() {
    let dir = TempDir::new().expect("a directory");
    let alone = dir.path().join("alone");
    assert!(hostcall(&["--kernel"], &alone).status.success());
    let manifest = std::fs::read_to_string(alone.join("Cargo.toml")).expect("it was written");
    assert!(manifest.contains("[profile.dev.package.\"*\"]\ndebug = false\n"), "{manifest}");
    let workspace = dir.path().join("workspace");
    std::fs::create_dir(&workspace).expect("a directory");
    std::fs::write(workspace.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"member\"]\n").expect("writable");
    let member = workspace.join("member");
    let made = hostcall(&["--kernel"], &member);
    assert!(made.status.success(), "{}", said(&made));
    let manifest = std::fs::read_to_string(member.join("Cargo.toml")).expect("it was written");
    assert!(manifest.contains("[build-dependencies]") && !manifest.contains("profile"), "{manifest}");
}

/// A package that `new --kernel` made, built by a cargo of its own.
struct OnePackage {
    _room: TempDir,
    dir: PathBuf,
    /// Packages of one name leave files of one name: one test at a time builds in the directory that they share.
    _alone: File,
}

impl OnePackage {
    fn new() -> OnePackage {
        let room = TempDir::new().expect("a directory");
        let dir = room.path().join("first-call");
        let made = hostcall(&["--kernel"], &dir);
        assert!(made.status.success(), "{}", said(&made));
        // The versions that this repository is built with, whatever the registry has meanwhile.
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        std::fs::copy(lock, dir.join("Cargo.lock")).expect("copied");
        let alone = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-package.lock")).expect("it is writable");
        alone.lock().expect("it can be locked");
        OnePackage { _room: room, dir, _alone: alone }
    }

    /// Where all of these packages are built: what they depend on is built once for all runs of these tests.
    fn target() -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("one-package")
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.dir).env("HOSTCALL_TARGETS", "sim").env_remove("RUSTFLAGS");
        command.env("CARGO_TARGET_DIR", Self::target());
        command
    }

    fn cargo(&self, words: &[&str]) -> Output {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(words).output().expect("cargo runs")
    }

    /// Changes the program.
    fn edit(&self, from: &str, to: &str) {
        self.edit_in("src/main.rs", from, to);
    }

    /// Changes the kernels.
    fn edit_kernels(&self, from: &str, to: &str) {
        self.edit_in("src/kernels.rs", from, to);
    }

    fn edit_in(&self, file: &str, from: &str, to: &str) {
        let file = self.dir.join(file);
        let text = std::fs::read_to_string(&file).expect("it was written");
        assert!(text.contains(from), "{text}");
        std::fs::write(&file, text.replacen(from, to, 1)).expect("it is writable");
    }
}

#[test]
fn services_kernels_and_host_program_are_one_package() {
    let package = OnePackage::new();
    let ran = package.cargo(&["run"]);
    let told = said(&ran);
    assert!(ran.status.success() && !told.contains("warning"), "{told}");
    assert!(told.contains("the kernel says: the first lane is done\n"), "{told}");
    assert!(told.contains("[42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0]\n"), "{told}");
    let again = said(&package.cargo(&["run"]));
    assert!(!again.contains("Compiling") && again.contains("49.0]\n"), "{again}");

    // A kernel without parameters, launched by the command line, of the same sources.
    package.edit_kernels("#[kernel]\n", "#[kernel]\npub fn alone() {\n    println!(\"lane {}\", global_id());\n}\n\n#[kernel]\n");
    let mut command = package.command(env!("CARGO_BIN_EXE_cargo-hostcall"));
    let launched = command.args(["hostcall", "run", "--device", "sim", ".", "alone"]).output().expect("it starts");
    assert!(launched.status.success() && said(&launched).contains("lane 0\n"), "{}", said(&launched));

    // What the compiler says of the device's half is said by a plain build.
    package.edit_kernels("Host::log(\"the first lane is done\")?;", "Host::log(\"the first lane is done\");");
    let careless = package.cargo(&["build"]);
    let told = said(&careless);
    assert!(careless.status.success() && told.contains("warning: first-call@0.1.0: unused `Result`"), "{told}");
    assert!(told.contains("--> src/kernels.rs:"), "{told}");
    package.edit_kernels("y[i] = Host::add42(y[i])?;", "y[i] = \"text\";");
    let broken = package.cargo(&["build"]);
    let told = said(&broken);
    assert!(!broken.status.success() && told.contains("error: first-call@0.1.0: error[E0308]: mismatched types"), "{told}");
    // Once, and by a path from here.
    assert!(told.matches("mismatched types").count() == 1 && told.contains("--> src/kernels.rs:"), "{told}");
}

/// The first example of the page that rustdoc makes of the crate `hostcall`, as the page shows it.
fn front_page() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall/src/lib.rs");
    let source = std::fs::read_to_string(source).expect("it is there");
    let page = source.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let example = page.skip_while(|line| !line.starts_with("```")).skip(1).take_while(|line| !line.starts_with("```"));
    // Lines that rustdoc compiles and does not show.
    example.filter(|line| *line != "#" && !line.starts_with("# ")).fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_front_page_of_the_crate_runs_when_it_is_pasted_both_of_its_halves() {
    let package = OnePackage::new();
    let example = front_page();
    assert!(example.contains("#[kernel]\n") && example.contains("\nfn main()"), "{example}");
    std::fs::write(package.dir.join("src/main.rs"), example).expect("it is writable");
    std::fs::remove_file(package.dir.join("src/kernels.rs")).expect("it was written");
    let ran = package.cargo(&["run"]);
    let told = said(&ran);
    assert!(ran.status.success() && !told.contains("warning"), "{told}");
    assert!(told.contains("lane 0: 42\n") && told.contains("[42.0, 43.0, 44.0, 45.0, 46.0, 47.0, 48.0, 49.0]\n"), "{told}");
}

/// Mistakes of the first hour, each with what it is told.
#[test]
fn what_goes_wrong_in_one_package_is_told_with_the_way_out() {
    let package = OnePackage::new();
    let tried = |file: &str, from: &str, to: &str, told: &[&str]| {
        package.edit_in(file, from, to);
        let build = package.cargo(&["build"]);
        let said = said(&build);
        assert!(!build.status.success() && told.iter().all(|text| said.contains(text)), "{told:?}: {said}");
        package.edit_in(file, to, from);
    };
    let kernels = "src/kernels.rs";
    tried(
        kernels,
        "let i = global_id();",
        "let i = global_id(); let _: Vec<u8> = Vec::new();",
        &["use alloc::vec::Vec;", "extern crate alloc;"],
    );
    tried(kernels, "let i = global_id();", "let i = global_id(); let _ = String::new();", &["use alloc::string::String;"]);
    tried(
        kernels,
        "use hostcall::CallError;",
        "use std::fs::File;\nuse hostcall::CallError;",
        &["kernels are `#![no_std]`", "cargo hostcall new"],
    );
    tried("src/main.rs", "#[cfg(hostcall_device)]\nmod kernels;", "mod kernels;", &["put `#[cfg(hostcall_device)]` before the function"]);
    tried("src/main.rs", "include_program!(\"first-call\")", "include_program!(\"firstcall\")", &["has built no program `firstcall`"]);
    // Without a kernel, which the build for GPUs notices, the host's errors are seen all the same.
    package.edit("mod kernels;", "mod kernels {}");
    package.edit("println!(\"running on", "printn!(\"running on");
    let mut build = package.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let can_build = hostcall_build::DeviceToolchain::find().is_ok();
    build.env("HOSTCALL_TARGETS", if can_build { "sim,nvptx" } else { "sim" });
    let said = said(&build.arg("build").output().expect("cargo runs"));
    assert!(said.contains("cannot find macro `printn`") && (!can_build || said.contains("has no kernel")), "{said}");
}

#[test]
fn the_settings_for_editors_name_the_half_that_a_build_writes() {
    let package = OnePackage::new();
    let settings = std::fs::read_to_string(package.dir.join(".vscode/settings.json")).expect("it was written");
    let projects = &serde_json::from_str::<serde_json::Value>(&settings).expect("it is JSON")["rust-analyzer.linkedProjects"];
    assert_eq!(projects, &serde_json::json!(["Cargo.toml", "target/hostcall/kernels/first-call/Cargo.toml"]));
    // Asks cargo as rust-analyzer does: which files are the half's, and what holds in them.
    // The half lies in the package's own target directory, but what others compiled is taken.
    let compiled = OnePackage::target().join("debug");
    std::fs::create_dir_all(&compiled).expect("made");
    std::fs::create_dir(package.dir.join("target")).expect("made");
    std::os::unix::fs::symlink(compiled, package.dir.join("target/debug")).expect("linked");
    let mut build = package.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let built = build.env_remove("CARGO_TARGET_DIR").args(["build", "-q"]).output().expect("cargo runs");
    assert!(built.status.success(), "{}", said(&built));
    let half = package.dir.join("target/hostcall/kernels/first-call");
    let ask = |words: &[&str]| {
        let mut cargo = package.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let output = cargo.current_dir(&half).env_remove("CARGO_TARGET_DIR").args(words).output().expect("cargo runs");
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).expect("cargo writes text")
    };
    let metadata = ask(&["metadata", "--format-version", "1", "--no-deps"]);
    assert!(metadata.contains(&package.dir.join("src/main.rs").display().to_string()), "{metadata}");
    ask(&["check", "-q"]);
}

#[test]
fn features_and_dependencies_of_a_package_reach_its_kernels_as_they_reach_its_program() {
    let package = OnePackage::new();
    package.edit_kernels(
        "Host::log(\"the first lane is done\")?;",
        "Host::log(if cfg!(feature = \"loud\") { \"LOUD\" } else { \"quiet\" })?;",
    );
    package.edit("fn main() ->", "#[cfg(feature = \"loud\")]\nuse tempfile as _;\n#[cfg(not(hostcall_device))]\nfn main() ->");
    let manifest = package.dir.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("it was written");
    let text = text.replace("))'.dependencies]\n", "))'.dependencies]\ntempfile = { version = \"3\", optional = true }\n");
    std::fs::write(&manifest, text + "\n[features]\nloud = [\"dep:tempfile\"]\n").expect("it is writable");
    let plain = said(&package.cargo(&["run"]));
    assert!(plain.contains("the kernel says: quiet\n"), "{plain}");
    let loud = said(&package.cargo(&["run", "--features", "loud"]));
    assert!(loud.contains("the kernel says: LOUD\n"), "{loud}");
}
