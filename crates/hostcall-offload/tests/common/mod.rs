//! Building the library, images and C programs for the tests: those of the package whose tests they are, for LLVM 23's
//! API or LLVM 24's.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hostcall_test_support::{built, exported, succeed, text};

/// `crates/hostcall-offload-api`, where the header and the sources are.
pub(crate) fn liboffload() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hostcall-offload-api")
}

/// A C program of `crates/hostcall-offload-api`'s tests.
pub(crate) fn source(name: &str) -> PathBuf {
    liboffload().join("tests/c").join(name)
}

/// The kernels of its tests.
pub(crate) fn kernels() -> PathBuf {
    liboffload().join("tests/images/kernels.c")
}

/// An example in C.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/offload").join(name)
}

/// The package whose tests these are, and the name of its library.
const PACKAGE: &str = env!("CARGO_PKG_NAME");

/// Whether they are of LLVM 24's API.
fn is_24() -> bool {
    PACKAGE == "hostcall-offload24"
}

/// The name of the library, for the linker.
pub(crate) fn library() -> String {
    PACKAGE.replace('-', "_")
}

/// Where its headers are.
pub(crate) fn includes(is_24: bool) -> Vec<PathBuf> {
    let include = liboffload().join("include");
    if is_24 { vec![include.join("24"), include] } else { vec![include] }
}

/// The files that cargo built for the library: the shared and the static one.
fn artefacts() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| built(PACKAGE, &["--lib"]))
}

/// A program of `liboffload` or `liboffload24`.
pub(crate) fn tool(name: &str) -> PathBuf {
    built(if name.ends_with("24") { "hostcall-offload-api24" } else { "hostcall-offload-api" }, &["--bin", name])
        .into_iter()
        .next()
        .expect("cargo says what it built")
}

fn artefact(extension: &str) -> &'static Path {
    artefacts().iter().find(|file| file.extension().is_some_and(|found| found == extension)).expect("cargo built it")
}

/// The shared library.
pub(crate) fn shared() -> &'static Path {
    artefact("so")
}

/// The static library.
pub(crate) fn archive() -> &'static Path {
    artefact("a")
}

/// The names that the linker's list of LLVM's library has: the functions of the API.
pub(crate) fn listed() -> BTreeSet<String> {
    let map = std::fs::read_to_string(liboffload().join(if is_24() { "OffloadAPI24.map" } else { "OffloadAPI.map" })).unwrap();
    map.lines().filter_map(|line| Some(line.trim().strip_suffix(';')?.to_owned())).filter(|name| name.starts_with("ol")).collect()
}

/// Panics unless a library exports the functions of the API and nothing else, with the version that LLVM's library
/// gives them.
pub(crate) fn assert_exports_as_llvm_does(library: &Path) {
    assert_eq!(exported(library), listed(), "{}", library.display());
    let names = text(&succeed(Command::new("objdump").arg("-T").arg(library)).stdout);
    for name in listed() {
        let line = names.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap_or_else(|| panic!("{name} is exported"));
        assert!(line.contains("VERS1.0"), "{line}");
    }
}

/// The C and C++ compilers that the environment names, or the system's.
pub(crate) fn compiler(cpp: bool) -> String {
    if cpp { std::env::var("CXX").unwrap_or_else(|_| "c++".into()) } else { std::env::var("CC").unwrap_or_else(|_| "cc".into()) }
}

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Compiles and links a program of some sources against the shared library.
pub(crate) fn program(folder: &Path, name: &str, sources: &[PathBuf]) -> PathBuf {
    program_of(folder, name, sources, is_24(), &[])
}

/// The same for a program that was written for LLVM 23's API: for LLVM 24's, with a context where one is wanted.
pub(crate) fn ported(folder: &Path, name: &str, sources: &[PathBuf]) -> PathBuf {
    let contexts = liboffload().join("tests/c/with_contexts.h").display().to_string();
    let include = ["-include", &*contexts];
    program_of(folder, name, sources, is_24(), if is_24() { &include } else { &[] })
}

/// The same with the header of either version.
pub(crate) fn program_of(folder: &Path, name: &str, sources: &[PathBuf], is_24: bool, more: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let cpp = sources.iter().any(|source| source.extension().is_some_and(|extension| extension == "cpp"));
    let library = shared().parent().expect("a file is in a folder");
    let mut compile = Command::new(compiler(cpp));
    compile.arg(if cpp { "-std=c++17" } else { "-std=c11" }).args(STRICT).args(["-O1", "-pthread"]);
    for include in includes(is_24) {
        compile.arg("-I").arg(include);
    }
    compile
        .args(more)
        .args(sources)
        .arg("-L")
        .arg(library)
        .arg(format!("-l{}", self::library()))
        .arg(format!("-Wl,-rpath,{}", library.display()));
    succeed(compile.arg("-o").arg(&path));
    path
}

/// Compiles an image for the processor: for the simulator, or a host image.
pub(crate) fn image(folder: &Path, source: &Path, host: bool) -> PathBuf {
    let name = source.file_stem().expect("a name").to_string_lossy();
    let path = folder.join(format!("{name}-{}.so", if host { "host" } else { "sim" }));
    let cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let mut compile = Command::new(compiler(cpp));
    compile
        .arg(if cpp { "-std=c++17" } else { "-std=c11" })
        .args(STRICT)
        .args(["-O2", "-shared", "-fPIC", "-I"])
        .arg(liboffload().join("include"));
    if host {
        compile.arg("-DOFFLOAD_HOST_IMAGE");
    }
    succeed(compile.arg(source).arg("-o").arg(&path));
    path
}

/// A program's run, without what the environment of the tests says to the library.
pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in [
        "OFFLOAD_TRACE",
        "OFFLOAD_TRACE_FILTER",
        "OFFLOAD_RECORD",
        "OFFLOAD_DISABLE_VALIDATION",
        "OFFLOAD_PLATFORMS",
        "OFFLOAD_CHECK",
        "OFFLOAD_SIMULATOR",
    ] {
        command.env_remove(name);
    }
    // These tests are of the processor; the same programs are run on GPUs from the bundle.
    command.env("OFFLOAD_PLATFORMS", "host");
    command
}
