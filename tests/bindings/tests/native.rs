//! What is generated, compiled: it has no warnings, and values that Rust encodes come back through it as they were.
//!
//! The headers that generated files include belong to other parts of the repository: `include/`,
//! `crates/hostcall-c/include/`.
#![allow(missing_docs, reason = "a test")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hostcall_abi::codec::{Fixed, VarHead};
use hostcall_idl::files::{Source, parse, parse_with_streams};
use hostcall_idl::generate::{Language, Namespace, generate};
use tempfile::TempDir;

#[allow(dead_code, unreachable_pub, reason = "only the types and definitions are used")]
mod echo;

use echo::Pair;

const ECHO: &str = include_str!("echo/mod.rs");
const ODD: &str = include_str!("odd/mod.rs");
const BUILT_IN: [&str; 2] =
    [include_str!("../../../crates/hostcall-abi/src/services.rs"), include_str!("../../../crates/hostcall-abi/src/std_services.rs")];

/// The compilers, with the arguments that they get for every file.
const C: [&str; 2] = ["gcc", "clang-22"];
const CPP: [&str; 2] = ["g++", "clang++-22"];
const C_ARGUMENTS: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];
const CPP_ARGUMENTS: [&str; 6] = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

fn generated(text: &str, language: Language, namespace: &str) -> String {
    let parse = if language == Language::Cuda { parse_with_streams } else { parse };
    let interface = parse(&[Source { name: "services.rs", text }]).unwrap_or_else(|errors| panic!("{errors}"));
    let namespace = if namespace.is_empty() { Namespace::default() } else { namespace.parse().expect("a namespace") };
    generate(&interface, language, &namespace)
}

/// The directories of headers.
fn includes() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    ["include", "crates/hostcall-c/include"].map(|directory| root.join(directory)).to_vec()
}

/// Those of the compilers that are installed.
fn installed(compilers: &[&'static str]) -> Vec<&'static str> {
    let is_there = |compiler: &&&'static str| {
        let there = Command::new(compiler).arg("--version").output().is_ok();
        if !there {
            println!("skipped: no {compiler} is installed");
        }
        there
    };
    compilers.iter().filter(is_there).copied().collect()
}

/// A directory with files, and the programs made of them.
struct Native {
    dir: TempDir,
    includes: Vec<PathBuf>,
}

impl Native {
    fn new(includes: Vec<PathBuf>, files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().expect("a directory");
        for (name, text) in files {
            fs::write(dir.path().join(name), text).expect("written");
        }
        Self { dir, includes }
    }

    fn compile(&self, compiler: &str, arguments: &[impl AsRef<OsStr>], source: &str) {
        let (command, output) = self.compiled(compiler, arguments, source);
        succeeded(&command, &output);
    }

    fn compiled(&self, compiler: &str, arguments: &[impl AsRef<OsStr>], source: &str) -> (Command, Output) {
        let mut command = Command::new(compiler);
        command.args(arguments).current_dir(self.dir.path());
        for include in &self.includes {
            command.arg("-I").arg(include);
        }
        let output = command.arg(source).output().expect("it starts");
        (command, output)
    }

    fn run(&self, program: &str) {
        let mut command = Command::new(self.dir.path().join(program));
        let output = command.output().expect("it starts");
        succeeded(&command, &output);
    }
}

#[track_caller]
fn succeeded(command: &Command, output: &Output) {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}: {}\n{}{}", output.status, said(&output.stdout), said(&output.stderr));
}

/// Values as arrays of C: their units as Rust puts them.
fn rows<T: Fixed>(out: &mut String, name: &str, kind: &str, values: &[T]) {
    let units: Vec<Vec<u32>> = values
        .iter()
        .map(|value| {
            let mut units = vec![0; T::DWORDS];
            value.put(&mut units);
            units
        })
        .collect();
    write_rows(out, name, kind, &units);
}

fn write_rows(out: &mut String, name: &str, kind: &str, rows: &[Vec<u32>]) {
    let rows_text: Vec<String> =
        rows.iter().map(|row| format!("{{{}}}", row.iter().map(|unit| format!("{unit}u")).collect::<Vec<_>>().join(", "))).collect();
    let (units, all) = (rows[0].len(), rows_text.join(", "));
    let count = if kind == "rows" { "COUNT" } else { "BAD_COUNT" };
    writeln!(out, "enum {{ {name}_{count} = {} }};", rows.len()).expect("a string");
    if kind == "rows" {
        writeln!(out, "enum {{ {name}_UNITS = {units} }};").expect("a string");
    }
    writeln!(out, "static const uint32_t {name}_{kind}[][{units}] = {{{all}}};").expect("a string");
}

/// What the programs are given: see `native/echo.c`.
fn values() -> String {
    let mut out = String::from("#include <stdint.h>\n");
    rows(&mut out, "alone", "rows", &[1.5f32, -0.0, f32::INFINITY, f32::MIN_POSITIVE]);
    rows(&mut out, "wide", "rows", &[u128::MAX - 7, 1 << 100, 0]);
    rows(&mut out, "small", "rows", &[-1i8, 127, -128]);
    rows(&mut out, "truth", "rows", &[true, false]);
    rows(&mut out, "pair", "rows", &[Pair { wide: 2.5, small: [1, 2, 3], new: 65535 }, Pair { wide: -0.0, small: [9; 3], new: 0 }]);
    rows(&mut out, "numbers", "rows", &[(200u8, -300i16, 4_000_000_000u32, i64::MIN, 1.5f32, -0.1f64), (0, 0, 0, -1, 0.0, 1e300)]);
    rows(&mut out, "letters", "rows", &[(true, 'ß'), (false, '\u{10ffff}'), (true, '\u{d7ff}'), (false, '\u{e000}')]);
    rows(&mut out, "bytes", "rows", &[[1u8, 2, 3, 4, 5], [0xff; 5]]);
    rows(&mut out, "maybe", "rows", &[Some((7u8, Some(1u64 << 40))), Some((8, None)), None]);
    rows(&mut out, "same", "rows", &[Ok::<u32, u32>(5), Err(5)]);
    rows(&mut out, "either", "rows", &[Err((u64::MAX, true)), Ok(3u8), Err::<u8, (u64, bool)>((0, false))]);
    rows(&mut out, "nothing", "rows", &[Ok(()), Err::<(), u8>(4)]);
    rows(&mut out, "post", "rows", &[0x1_0000_0001u64]);

    write_rows(&mut out, "truth", "bad", &[vec![2], vec![u32::MAX]]);
    write_rows(&mut out, "letters", "bad", &[vec![2, 0x41], vec![1, 0xd800], vec![1, 0xdfff], vec![0, 0x11_0000]]);
    write_rows(&mut out, "maybe", "bad", &[vec![2, 0, 0, 0, 0], vec![1, 7, 2, 0, 0]]);
    write_rows(&mut out, "either", "bad", &[vec![2, 0, 0, 0], vec![1, 0, 0, 2]]);

    // The lengths stand where the strings and slices are, in bytes.
    let mut mixed = vec![VarHead::INLINE, 20, 9, 6, 12, 8, 0, 0, 0];
    Some(1u64 << 33).put(&mut mixed[6..]);
    write_rows(&mut out, "mixed", "rows", &[mixed]);
    let mut result = [0; 2];
    (9u64 + 6 + (1 << 33) + 1 + 2 + 3_000_000_000).put(&mut result);
    writeln!(out, "static const uint32_t mixed_result[] = {{{}u, {}u}};", result[0], result[1]).expect("a string");
    writeln!(out, "#define post_VALUE UINT64_C({:#x})", 0x1_0000_0001u64).expect("a string");
    for definition in [echo::echo::definition::post(), echo::echo::definition::mixed()] {
        let name = definition.name.rsplit("__").next().expect("it has a name");
        writeln!(out, "#define {name}_SIGNATURE UINT64_C({:#x})", definition.signature).expect("a string");
    }
    out
}

#[test]
fn values_come_back_through_c() {
    let includes = includes();
    let header = generated(ECHO, Language::C, "");
    let files = [
        ("echo.h", header.as_str()),
        ("rows.h", &values()),
        ("library.h", include_str!("native/library.h")),
        ("echo.c", include_str!("native/echo.c")),
    ];
    let native = Native::new(includes, &files);
    for compiler in installed(&C) {
        native.compile(compiler, &[&C_ARGUMENTS[..], &["-o", "echo"]].concat(), "echo.c");
        native.run("echo");
    }
}

#[test]
fn values_come_back_through_typed_handlers_in_cpp() {
    let includes = includes();
    let header = generated(ECHO, Language::CppHost, "services");
    let files = [
        ("echo.hpp", header.as_str()),
        ("rows.h", &values()),
        ("library.h", include_str!("native/library.h")),
        ("echo.cpp", include_str!("native/echo.cpp")),
    ];
    let native = Native::new(includes, &files);
    for compiler in installed(&CPP) {
        native.compile(compiler, &[&CPP_ARGUMENTS[..], &["-o", "echo"]].concat(), "echo.cpp");
        native.run("echo");
    }
}

/// The files that are compiled for each language: of odd types, and the built-in services.
fn everything(language: Language, namespace: &str) -> Vec<String> {
    [ODD].into_iter().chain(BUILT_IN).map(|text| generated(text, language, namespace)).collect()
}

#[test]
fn definitions_of_odd_types_compile_as_c_and_as_cpp() {
    let includes = includes();
    for header in everything(Language::C, "") {
        // Twice, as two files of a program may.
        let native =
            Native::new(includes.clone(), &[("odd.h", &header), ("odd.c", "#include \"odd.h\"\n#include \"odd.h\"\nint unused;\n")]);
        for compiler in installed(&C) {
            native.compile(compiler, &[&C_ARGUMENTS[..], &["-fsyntax-only"]].concat(), "odd.c");
        }
        for compiler in installed(&CPP) {
            native.compile(compiler, &[&CPP_ARGUMENTS[..], &["-fsyntax-only", "-x", "c++"]].concat(), "odd.c");
        }
    }
}

#[test]
fn typed_definitions_of_odd_types_compile() {
    let includes = includes();
    let source = "#include \"odd.hpp\"\n#include \"odd.hpp\"\n";
    for (namespace, opened) in [("", ""), ("mine::services", "using namespace mine::services;\n")] {
        for (header, uses) in everything(Language::CppHost, namespace).iter().zip([include_str!("native/odd.cpp"), "", ""]) {
            let source = format!("{source}{opened}{uses}");
            let native = Native::new(includes.clone(), &[("odd.hpp", header), ("odd.cpp", &source)]);
            for compiler in installed(&CPP) {
                native.compile(compiler, &[&CPP_ARGUMENTS[..], &["-fsyntax-only"]].concat(), "odd.cpp");
            }
        }
    }
}

/// `cargo hostcall bindgen --lang cuda -o examples/cuda/services.cuh examples/cuda/services.rs` writes it.
#[test]
fn the_stubs_of_the_repository_are_what_is_generated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (definitions, stubs) in [
        ("examples/cuda/services.rs", "examples/cuda/services.cuh"),
        ("bench/services/src/lib.rs", "bench/kernels/services.cuh"),
        ("tests/behaviours/services/src/lib.rs", "tests/cpp/cpp/behaviours.cuh"),
    ] {
        let text = [definitions, stubs].map(|name| fs::read_to_string(root.join(name)).expect("it is there"));
        assert!(generated(&text[0], Language::Cuda, "") == text[1], "cargo hostcall bindgen --lang cuda -o {stubs} {definitions}");
    }
}

#[test]
fn stubs_of_odd_types_compile() {
    let includes = includes();
    let simulator =
        ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-fsyntax-only", "-x", "c++"];
    let nvidia = "-nocudainc -nocudalib --cuda-gpu-arch=sm_90 -Xclang -target-feature -Xclang +ptx84 -x cuda";
    let amd = "-nogpuinc -nogpulib --offload-arch=gfx942 -x hip";
    // The device header has services of this table itself, so that only their signatures are compared.
    let built_in = generated(BUILT_IN[0], Language::Cuda, "");
    let signatures =
        built_in.lines().filter(|line| line.starts_with("#include") || line.starts_with("static_assert(::hostcall::codec::signature"));
    let signatures = signatures.collect::<Vec<_>>().join("\n");
    assert!(signatures.lines().count() > 20, "{built_in}");
    let uses = include_str!("native/odd.cu");
    let headers = [
        (generated(ODD, Language::Cuda, ""), uses.to_owned()),
        (generated(ODD, Language::Cuda, "mine::services"), format!("using namespace mine::services;\n{uses}")),
        (generated(BUILT_IN[1], Language::Cuda, ""), String::new()),
        (signatures, String::new()),
    ];
    for (header, uses) in headers {
        let source = format!("#include \"odd.cuh\"\n{uses}");
        let native = Native::new(includes.clone(), &[("odd.cuh", &header), ("odd.cu", &source)]);
        for compiler in installed(&CPP) {
            native.compile(compiler, &simulator, "odd.cu");
        }
        for (compiler, gpu) in installed(&CPP[1..]).into_iter().flat_map(|compiler| [(compiler, nvidia), (compiler, amd)]) {
            let all = "-std=c++17 -Wall -Wextra -Werror --cuda-device-only -O1 -S -o odd.s".split(' ').chain(gpu.split(' '));
            native.compile(compiler, &all.collect::<Vec<_>>(), "odd.cu");
        }
    }
}

/// A struct is changed in what was generated, and where only signatures are asserted, too.
#[test]
fn a_struct_that_is_not_rusts_does_not_compile() {
    let simulator = ["-std=c++17", "-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-fsyntax-only", "-x", "c++"];
    for (language, compilers, field, other, expected) in [
        (Language::C, &C, "uint32_t step;", "uint64_t step;", "hc_size_of_Loss"),
        (Language::Cuda, &CPP, "::hostcall::u32 step;", "::hostcall::u64 step;", "Odd::structs: as in Rust"),
    ] {
        let includes = includes();
        let header = generated(ODD, language, "").replace(field, other);
        let header: String = header
            .lines()
            .filter(|line| !line.contains("Rust\");") || line.contains("signature<"))
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(header.contains(other), "{header}");
        let native = Native::new(includes, &[("odd.h", &header), ("odd.cc", "#include \"odd.h\"\n")]);
        for compiler in installed(compilers) {
            let arguments = if language == Language::C { &["-std=c99", "-fsyntax-only", "-x", "c"][..] } else { &simulator };
            let (command, output) = native.compiled(compiler, arguments, "odd.cc");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && said.contains(expected), "{command:?}: {said}");
        }
    }
}

#[test]
fn definitions_for_python_are_python() {
    let Some(python) = installed(&["python3"]).pop() else { return };
    for text in [ODD, ECHO].into_iter().chain(BUILT_IN) {
        let interface = parse(&[Source { name: "services.rs", text }]).unwrap_or_else(|errors| panic!("{errors}"));
        let files = [
            ("services.py", generate(&interface, Language::Python, &Namespace::default())),
            ("numpy.py", include_str!("native/python/numpy.py").to_owned()),
            ("hostcall.py", include_str!("native/python/hostcall.py").to_owned()),
            ("show.py", "import hostcall, services\nfor name, signature in hostcall.DEFINITIONS: print(name, signature)\n".to_owned()),
        ];
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let native = Native::new(Vec::new(), &files);
        native.compile(python, &["-m", "py_compile"], "services.py");
        let mut command = Command::new(python);
        let output = command.arg("show.py").current_dir(native.dir.path()).output().expect("it starts");
        succeeded(&command, &output);
        let functions = interface.services.iter().flat_map(|service| &service.functions);
        let expected: String = functions.map(|function| format!("{} {}\n", function.wire_name, function.signature)).collect();
        assert_eq!(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"), expected);
    }
}
