//! The library, a program for the simulator, and programs in C and C++, as the tests need them.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hostcall_build::{ProgramSpec, Target, build_program};
use hostcall_idl::files::{self, Source};
use hostcall_idl::generate::{Language, Namespace, generate};
use hostcall_test_support::{built, succeed};

/// `crates/hostcall-c`.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A library that was built with a sanitizer takes the place of cargo's, and programs are compiled for it: `cargo xtask
/// sanitize` says which and how.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    /// `address` or `thread`, as `-fsanitize` takes it.
    kind: String,
    library: PathBuf,
    /// The runtime of the compiler that made the library: a process has one, and another's does not know what this
    /// one's LLVM writes.
    runtime: PathBuf,
}

/// The sanitizer, if the tests run under one.
pub(crate) fn sanitizer() -> Option<&'static Sanitizer> {
    static CHOSEN: OnceLock<Option<Sanitizer>> = OnceLock::new();
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("HOSTCALL_SANITIZER goes with {name}"));
    let chosen = CHOSEN.get_or_init(|| {
        let kind = std::env::var("HOSTCALL_SANITIZER").ok()?;
        let [library, runtime] = ["HOSTCALL_SANITIZER_LIBRARY", "HOSTCALL_SANITIZER_RUNTIME"].map(|name| variable(name).into());
        Some(Sanitizer { kind, library, runtime })
    });
    chosen.as_ref()
}

impl Sanitizer {
    /// What clang needs to instrument a program, and to link it with all of the runtime, visible to the library, which
    /// brings none.
    fn flags(&self) -> Vec<String> {
        let runtime = format!("-Wl,--whole-archive,{},--no-whole-archive", self.runtime.display());
        let kind = format!("-fsanitize={}", self.kind);
        [&kind, "-fno-sanitize-link-runtime", &runtime, "-rdynamic", "-ldl", "-lm", "-lrt", "-lresolv"].map(str::to_owned).into()
    }
}

/// The files that cargo built for the library: the shared and the static one.
fn artefacts() -> &'static [PathBuf] {
    static FILES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    FILES.get_or_init(|| built("hostcall-c", &["--lib"]))
}

fn artefact(extension: &str) -> &'static Path {
    artefacts().iter().find(|file| file.extension().is_some_and(|found| found == extension)).expect("cargo built it")
}

/// `libhostcall_c.so`.
pub(crate) fn shared() -> &'static Path {
    sanitizer().map_or_else(|| artefact("so"), |sanitizer| &sanitizer.library)
}

/// `libhostcall_c.a`.
pub(crate) fn archive() -> &'static Path {
    artefact("a")
}

/// Writes the kernels of the behaviour tests, for the simulator.
pub(crate) fn kernels(to: &Path) -> PathBuf {
    let path = to.join("behaviours.program");
    let spec = ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(folder().join("../../tests/behaviours/kernels")) };
    std::fs::write(&path, build_program(&spec).expect("the kernels build").bundle.to_bytes()).unwrap();
    path
}

/// What programs in C and C++ include: the services of tests/behaviours/kernels, as `cargo hostcall bindgen` writes
/// them.
pub(crate) fn write_definitions(to: &Path) {
    let (c, cpp) = (Language::C, Language::CppHost);
    let services = folder().join("../../tests/behaviours/services/src/lib.rs");
    for (language, namespace, name) in [(c, Namespace::default(), "behaviours.h"), (cpp, "services".parse().unwrap(), "behaviours.hpp")] {
        std::fs::write(to.join(name), bindings(&services, language, &namespace)).unwrap();
    }
    let version = hostcall_abi::ABI_VERSION;
    std::fs::write(to.join("definitions.h"), format!("#include \"behaviours.h\"\nenum {{ ABI_VERSION = {version} }};\n")).unwrap();
}

/// Bindings of the services in a file.
pub(crate) fn bindings(services: &Path, language: Language, namespace: &Namespace) -> String {
    let text = std::fs::read_to_string(services).unwrap_or_else(|error| panic!("{}: {error}", services.display()));
    bindings_of(&text, language, namespace)
}

/// Bindings of the services in a text.
pub(crate) fn bindings_of(services: &str, language: Language, namespace: &Namespace) -> String {
    let interface = files::parse(&[Source { name: "services.rs", text: services }]).unwrap_or_else(|errors| panic!("{errors}"));
    generate(&interface, language, namespace)
}

/// CUDA's compiler as `cargo xtask setup` installs it, or the machine's own; `None`: not there, which is printed.
pub(crate) fn nvcc() -> Option<PathBuf> {
    let places = [folder().join("../../target/cuda/nvidia/cu13/bin/nvcc"), PathBuf::from("/usr/local/cuda/bin/nvcc")];
    let found = places.into_iter().find(|place| place.is_file());
    if found.is_none() {
        println!("skipped: there is no nvcc; `cargo xtask setup` installs one");
    }
    found
}

/// A compiler of C or C++, and how it is asked for the standard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiler {
    pub(crate) command: &'static str,
    pub(crate) standard: &'static str,
    pub(crate) package: &'static str,
}

impl Compiler {
    /// Whether it is there, and can compile for the library. If not, that is printed.
    pub(crate) fn is_usable(self) -> bool {
        if sanitizer().is_some() && !self.command.starts_with("clang") {
            println!("skipped: {} does not instrument as rustc does", self.command);
            return false;
        }
        hostcall_test_support::has(self.command, self.package)
    }
}

pub(crate) const C: [Compiler; 2] = [
    Compiler { command: "gcc", standard: "-std=c99", package: "gcc" },
    Compiler { command: "clang-22", standard: "-std=c99", package: "clang-22" },
];

pub(crate) const CPP: [Compiler; 2] = [
    Compiler { command: "g++", standard: "-std=c++17", package: "g++" },
    Compiler { command: "clang++-22", standard: "-std=c++17", package: "clang-22" },
];

/// Compiles a program of the tests against the shared library. Warnings are errors.
pub(crate) fn program(to: &Path, source: &str, compiler: Compiler) -> PathBuf {
    program_with(to, source, compiler, &[])
}

/// The same with more flags.
pub(crate) fn program_with(to: &Path, source: &str, compiler: Compiler, flags: &[&str]) -> PathBuf {
    let path = to.join(format!("{}-{}", source.replace('.', "-"), compiler.command));
    let library = shared().parent().expect("a file is in a folder");
    let mut compile = Command::new(compiler.command);
    compile.args([compiler.standard, "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O1", "-g", "-pthread", "-I"]);
    compile.arg(folder().join("include")).arg("-I").arg(to).arg(folder().join("tests/c").join(source)).arg("-o").arg(&path);
    // A place that counts for more than LD_LIBRARY_PATH, in which cargo has its own library.
    compile.arg("-L").arg(library).arg("-lhostcall_c").arg(format!("-Wl,--disable-new-dtags,-rpath,{}", library.display()));
    compile.args(sanitizer().map(Sanitizer::flags).unwrap_or_default());
    succeed(compile.args(flags));
    path
}

/// Installs the library under a prefix.
pub(crate) fn install(prefix: &Path) {
    let from = archive().parent().expect("a file is in a folder");
    succeed(Command::new("sh").arg(folder().join("packaging/install.sh")).arg("--prefix").arg(prefix).arg("--from").arg(from));
}
