//! What is in the libraries, and what a C or C++ programmer installs.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{folder, install, kernels, write_definitions};
use hostcall_test_support::{exported, has, stays_loaded, succeed, text};

/// An installed prefix, which the tests share and make anew when the library is.
fn prefix() -> PathBuf {
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libhostcall");
    std::fs::create_dir_all(&prefix).unwrap();
    let turn = std::fs::File::create(prefix.join("lock")).unwrap();
    turn.lock().unwrap();
    let time = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    let stamp = prefix.join("stamp");
    let made = time(&stamp);
    let sources = ["packaging", "include"].map(|part| folder().join(part));
    let sources = sources.iter().flat_map(|part| std::fs::read_dir(part).unwrap()).map(|entry| entry.unwrap().path());
    if sources.chain([common::archive().to_owned()]).any(|source| time(&source) > made) {
        install(&prefix);
        std::fs::write(stamp, "").unwrap();
    }
    prefix
}

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = std::fs::read_to_string(folder().join("include/hostcall.h")).unwrap();
    let code: String = header.split("/*").flat_map(|part| part.split_once("*/").map(|(_, code)| code)).collect();
    let before = code.match_indices('(').filter_map(|(at, _)| code[..at].rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next());
    before.filter(|name| name.starts_with("hc_")).map(str::to_owned).collect()
}

/// The committed list.
fn listed() -> BTreeSet<String> {
    let map = std::fs::read_to_string(folder().join("packaging/hostcall.map")).unwrap();
    map.lines().filter_map(|line| Some(line.trim().strip_suffix(';')?.to_owned())).filter(|name| name.starts_with("hc_")).collect()
}

#[test]
fn the_libraries_export_what_the_header_declares_and_nothing_else() {
    let listed = listed();
    assert_eq!(declared(), listed);
    assert_eq!(exported(common::shared()), listed);
    let installed = prefix().join("lib/libhostcall.so");
    assert_eq!(exported(&installed), listed);
    assert!(stays_loaded(common::shared()) && stays_loaded(&installed));
    let said = text(&succeed(Command::new("objdump").arg("-p").arg(&installed)).stdout);
    assert!(said.contains("SONAME               libhostcall.so.0") && said.contains("HOSTCALL_1"), "{said}");
}

/// Names of the files in a folder and in those below it.
fn names(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            names(&path, found);
        } else {
            found.insert(path.file_name().unwrap().display().to_string());
        }
    }
}

/// `cargo cinstall` is not run here: it is told of the same headers and files for CMake that `install.sh` installs.
#[test]
fn cargo_c_is_told_of_every_file_that_is_installed() {
    let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let mut told = BTreeSet::new();
    for pattern in manifest.split("from = \"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let (of, name) = pattern.rsplit_once('/').expect("a folder");
        let parts: Vec<&str> = name.split('*').collect();
        let entries = std::fs::read_dir(folder().join(of)).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        let named: Vec<String> = entries.map(|path| path.file_name().unwrap().display().to_string()).collect();
        let fits = |name: &&String| {
            let rest = parts.iter().try_fold(name.as_str(), |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]));
            name.starts_with(parts[0]) && rest.is_some_and(|rest| rest.is_empty() || name.ends_with(parts[parts.len() - 1]))
        };
        let before = told.len();
        told.extend(named.iter().filter(fits).cloned());
        assert!(told.len() > before, "{pattern} adds nothing");
    }
    let mut installed = BTreeSet::new();
    names(&prefix().join("include"), &mut installed);
    names(&prefix().join("lib/cmake"), &mut installed);
    assert_eq!(told, installed);
}

#[test]
fn the_library_is_opened_used_closed_and_opened_again() {
    let to = tempfile::tempdir().unwrap();
    write_definitions(to.path());
    let kernels = kernels(to.path());
    let program = to.path().join("opened");
    let mut compile = Command::new(common::C[0].command);
    compile.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-I"]).arg(folder().join("include")).arg("-I").arg(to.path());
    compile.arg("-DCHECK_WITHOUT_LIBRARY").arg(folder().join("tests/c/opened.c")).arg("-o").arg(&program).arg("-ldl");
    succeed(&mut compile);
    let output = succeed(Command::new(&program).arg(prefix().join("lib/libhostcall.so.0")).arg(&kernels));
    assert_eq!(text(&output.stdout), "ok 0\nok 1\nok 2\n");
}

/// The program that the examples launch: images for the simulator.
fn add42(to: &Path) -> PathBuf {
    use hostcall_build::{ProgramSpec, Target, build_program};
    let path = to.join("add42.program");
    let spec = ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(folder().join("../../examples/add42/kernel")) };
    std::fs::write(&path, build_program(&spec).expect("the kernels build").bundle.to_bytes()).unwrap();
    path
}

#[test]
fn cmake_finds_the_library_and_the_examples_run() {
    if !has("cmake", "cmake") {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    let build = to.path().join("build");
    let prefix_path = format!("-DCMAKE_PREFIX_PATH={}", prefix().display());
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(folder().join("../../examples/c")).arg("-B").arg(&build).args([&prefix_path, "-DCMAKE_BUILD_TYPE=Release"]);
    succeed(&mut configure);
    succeed(Command::new("cmake").arg("--build").arg(&build));
    let tests = succeed(Command::new("ctest").arg("--test-dir").arg(&build).arg("--output-on-failure"));
    assert!(text(&tests.stdout).contains("100% tests passed, 0 tests failed out of 3"), "{}", text(&tests.stdout));
}

#[test]
fn pkg_config_tells_how_to_compile_and_link() {
    if !has("pkg-config", "pkg-config") {
        return;
    }
    let to = tempfile::tempdir().unwrap();
    let mut ask = Command::new("pkg-config");
    ask.args(["--cflags", "--libs", "hostcall"]).env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig"));
    let flags = text(&succeed(&mut ask).stdout);
    let program = to.path().join("add42");
    let mut compile = Command::new(common::C[0].command);
    compile.arg("-std=c99").arg(folder().join("../../examples/c/add42.c")).arg("-o").arg(&program).args(flags.split_whitespace());
    succeed(&mut compile);
    let output = succeed(Command::new(&program).arg(add42(to.path())).env("LD_LIBRARY_PATH", prefix().join("lib")));
    assert!(text(&output.stdout).contains("42 43 44 45 46 47 48 49"), "{}", text(&output.stdout));
}
