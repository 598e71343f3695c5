//! Compiles the kernels in C++ for the simulator, by each compiler that there is, as the strictest user would; and
//! those in Rust that fill packets.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers, and the standard that each is given.
const COMPILERS: [(&str, &[&str], &str); 2] = [("GCC", &["g++"], "-std=c++17"), ("CLANG", &["clang++-22", "clang++"], "-std=c++20")];

/// Sources, and how far they are optimised.
const SOURCES: [(&str, &str, &str); 11] = [
    ("ADD42", "examples/cuda/add42.cu", "-O1"),
    ("KERNELS", "examples/cuda/behaviours.cu", "-O1"),
    ("TWINS", "tests/cpp/cpp/twins.cu", "-O1"),
    ("CLIENT", "tests/cpp/cpp/recorded.cc", "-O1"),
    // A function for each length of a message: optimising them takes three times as long, and they run for a moment.
    ("STREAMS", "tests/cpp/cpp/recorded_streams.cc", "-O0"),
    ("PACKETS", "tests/cpp/cpp/packets.cu", "-O1"),
    ("WHOLE", "tests/cpp/cpp/whole.cu", "-O1"),
    ("ASSERTS", "tests/cpp/cpp/asserts.cu", "-O1"),
    ("CONTINUE", "tests/cpp/cpp/asserts_continue.cu", "-O1"),
    ("RPC", "tests/cpp/cpp/llvm_rpc.cu", "-O1"),
    ("RPC_WIRE", "tests/cpp/cpp/llvm_rpc_wire.cc", "-O1"),
];

fn main() {
    hostcall_build::program("kernels").emit();
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says it"));
    for watched in ["include", "examples/cuda", "examples/asserts", "examples/offload", "tests/cpp/cpp"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    // Each takes a processor for a minute, while others have little left to build.
    std::thread::scope(|scope| {
        for compiler in COMPILERS {
            let (root, out) = (&root, &out);
            scope.spawn(move || compile_all(compiler, root, out));
        }
    });
}

/// Compiles every source by one compiler, if it is there, and says where the images are.
fn compile_all((name, programs, standard): (&str, &[&str], &str), root: &Path, out: &Path) {
    let found = programs.iter().find(|program| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success()));
    for (kind, source, optimised) in SOURCES {
        let image = out.join(format!("{name}_{kind}.so"));
        if let Some(compiler) = found {
            compile(compiler, &[standard, optimised], root, source, &image);
        }
        // Empty where there is no such compiler: tests say so.
        println!(
            "cargo::rustc-env=HOSTCALL_CPP_{kind}_{name}={}",
            if found.is_some() { image.display().to_string() } else { String::new() }
        );
    }
}

fn compile(compiler: &str, options: &[&str], root: &Path, source: &str, image: &Path) {
    let mut command = Command::new(compiler);
    command.args(options).args(["-x", "c++", "-g1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
    command.args(["-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-nostdlib"]);
    for folder in ["include/asserts", "include", "crates/hostcall-offload-api/include", "examples/offload"] {
        command.arg("-I").arg(root.join(folder));
    }
    command.arg(root.join(source)).arg("-o").arg(image);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
