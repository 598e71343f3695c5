//! C and C++ in programs: a compiler driver, and C's library.
//!
//! The *driver* (`driver`) is this program under the names `hostcall-cc` and `hostcall-c++`: clang, told what a machine
//! wants, and for a whole program the linker of programs with std. What it compiles is bitcode for GPUs and machine code
//! for the simulator, and cargo's build scripts compile with it, because the variables that they ask for it name it
//! ([`variables`]).
//!
//! C's *library* (`library`) has two halves. What needs the system or memory is `hostcall-std`, as for programs in Rust.
//! The other half is pure: numbers from texts and texts from numbers, streams, sorting, calendars, regular expressions.
//! It is musl's (`files` names what is taken), because crates in Rust that have such functions are parts of it (`printf`
//! without `scanf`, no streams) or need an unstable compiler and the system calls of this machine, and because the types
//! that programs see are musl's already. It is compiled from musl's sources, which Debian has, for each machine: a device
//! runs none of a `libc.a`.

mod compiler;
pub(crate) mod computed;
mod driver;
mod files;
mod library;
pub(crate) mod musl;

use std::ffi::OsString;
use std::fs;
use std::path::Path;

pub(crate) use compiler::clang;
pub use driver::compile;
pub(crate) use driver::{run, rust_libraries};
pub(crate) use library::Library;

use super::sysroot::Sysroot;
use super::tools::{CC, CXX};
use crate::BuildError;

/// Functions of `f128`s that code generation calls, and C's of `long double`s besides an `l`.
pub(crate) const QUADS: [&str; 11] = ["ceil", "floor", "fma", "fmax", "fmin", "fmod", "rint", "round", "roundeven", "sqrt", "trunc"];

/// The variables by which the crates `cc` and `cmake` find a compiler, for build scripts. What is set already stays.
pub(crate) fn variables(sysroot: &Sysroot) -> Vec<(String, OsString)> {
    let machine = sysroot.machine.name();
    let tool = |name: &str| sysroot.tools.join(name).into_os_string();
    let llvm = |name: &str| sysroot.toolchain.llvm_bin.join(name).into_os_string();
    let mut all = vec![
        (format!("CC_{machine}"), tool(CC)),
        (format!("CXX_{machine}"), tool(CXX)),
        (format!("AR_{machine}"), llvm("llvm-ar")),
        (format!("RANLIB_{machine}"), llvm("llvm-ranlib")),
        (format!("CXXSTDLIB_{machine}"), OsString::new()),
        (format!("CMAKE_TOOLCHAIN_FILE_{machine}"), tool(TOOLCHAIN_FILE)),
    ];
    all.retain(|(name, _)| [name.clone(), name.replace('-', "_")].iter().all(|name| std::env::var_os(name).is_none()));
    all
}

/// What CMake reads about the machine.
const TOOLCHAIN_FILE: &str = "hostcall.cmake";

/// Writes the file that CMake reads into a program's directory.
pub(super) fn install(sysroot: &Sysroot, tools: &Path) -> Result<(), BuildError> {
    let file = tools.join(TOOLCHAIN_FILE);
    let tool = |name: &str| tools.join(name).display().to_string();
    let llvm = |name: &str| sysroot.toolchain.llvm_bin.join(name).display().to_string();
    let text = format!(
        "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {:?})\nset(CMAKE_C_COMPILER {:?})\nset(CMAKE_CXX_COMPILER {:?})\n\
         set(CMAKE_AR {:?} CACHE FILEPATH \"\")\nset(CMAKE_RANLIB {:?} CACHE FILEPATH \"\")\n\
         # Whether a program could be linked is not asked: what is built here are libraries.\n\
         set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\nset(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)\n\
         set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\nset(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)\n",
        sysroot.machine.name().split('-').next().unwrap_or_default(),
        tool(CC),
        tool(CXX),
        llvm("llvm-ar"),
        llvm("llvm-ranlib"),
    );
    if fs::read_to_string(&file).is_ok_and(|found| found == text) {
        return Ok(());
    }
    fs::write(&file, text).map_err(BuildError::io("write", file))
}
