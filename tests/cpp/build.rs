//! Compiles the kernels in C++ for the simulator, by each compiler that there is, as the strictest user would; and
//! those in Rust that fill packets.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers, and the standard that each is given.
const COMPILERS: [(&str, &[&str], &str); 2] = [("GCC", &["g++"], "c++17"), ("CLANG", &["clang++-22", "clang++"], "c++20")];

fn main() {
    hostcall_build::program("kernels").emit();
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says it"));
    for watched in ["include", "examples/cuda", "examples/asserts", "tests/cpp/cpp"] {
        println!("cargo::rerun-if-changed={}", root.join(watched).display());
    }
    for (name, programs, standard) in COMPILERS {
        let found = programs.iter().find(|program| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success()));
        let sources = [
            ("ADD42", "examples/cuda/add42.cu"),
            ("KERNELS", "examples/cuda/behaviours.cu"),
            ("TWINS", "tests/cpp/cpp/twins.cu"),
            ("CLIENT", "tests/cpp/cpp/recorded.cc"),
            ("STREAMS", "tests/cpp/cpp/recorded_streams.cc"),
            ("PACKETS", "tests/cpp/cpp/packets.cu"),
            ("WHOLE", "tests/cpp/cpp/whole.cu"),
            ("ASSERTS", "tests/cpp/cpp/asserts.cu"),
            ("CONTINUE", "tests/cpp/cpp/asserts_continue.cu"),
        ];
        for (kind, source) in sources {
            let image = out.join(format!("{name}_{kind}.so"));
            if let Some(compiler) = found {
                compile(compiler, standard, &root, source, &image);
            }
            // Empty where there is no such compiler: tests say so.
            println!(
                "cargo::rustc-env=HOSTCALL_CPP_{kind}_{name}={}",
                if found.is_some() { image.display().to_string() } else { String::new() }
            );
        }
    }
}

fn compile(compiler: &str, standard: &str, root: &Path, source: &str, image: &Path) {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(["-x", "c++", "-O1", "-g1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
    command.args(["-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-nostdlib"]);
    command.arg("-I").arg(root.join("include/asserts")).arg("-I").arg(root.join("include")).arg(root.join(source)).arg("-o").arg(image);
    let output = command.output().unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}
