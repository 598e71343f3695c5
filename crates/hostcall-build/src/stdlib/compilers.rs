//! The compilers of C and C++ that build scripts find: variables for the crates `cc` and `cmake`, and CMake's file.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::machine::Machine;
use super::tools::{CC, CXX};
use crate::BuildError;

/// The variables by which the crates `cc` and `cmake` find a compiler, for build scripts. What is set already stays.
pub(super) fn variables(machine: &Machine, tools: &Path, llvm_bin: &Path) -> Vec<(String, OsString)> {
    let machine = machine.name();
    let tool = |name: &str| tools.join(name).into_os_string();
    let llvm = |name: &str| llvm_bin.join(name).into_os_string();
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
pub(super) fn install(machine: &Machine, tools: &Path, llvm_bin: &Path) -> Result<(), BuildError> {
    let file = tools.join(TOOLCHAIN_FILE);
    let tool = |name: &str| tools.join(name).display().to_string();
    let llvm = |name: &str| llvm_bin.join(name).display().to_string();
    let text = format!(
        "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {:?})\nset(CMAKE_C_COMPILER {:?})\nset(CMAKE_CXX_COMPILER {:?})\n\
         set(CMAKE_AR {:?} CACHE FILEPATH \"\")\nset(CMAKE_RANLIB {:?} CACHE FILEPATH \"\")\n\
         # CMake looks for it in objects, and bitcode does not show it.\nset(CMAKE_SIZEOF_VOID_P 8)\n\
         # Whether a program could be linked is not asked: what is built here are libraries.\n\
         set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)\nset(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)\n\
         set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\nset(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)\n",
        machine.name().split('-').next().unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_scripts_and_cmake_find_the_same_compilers() {
        let dir = tempfile::tempdir().expect("a directory");
        install(&Machine::Nvptx, dir.path(), Path::new("/llvm")).expect("written");
        let all = variables(&Machine::Nvptx, dir.path(), Path::new("/llvm"));
        let value = |name: &str| all.iter().find(|(own, _)| *own == format!("{name}_nvptx64-hostcall-cuda")).expect("it is set").1.clone();
        assert_eq!(value("CC"), dir.path().join(CC));
        assert_eq!(value("AR"), "/llvm/llvm-ar");
        let text = fs::read_to_string(value("CMAKE_TOOLCHAIN_FILE")).expect("it is there");
        assert!(text.contains(&format!("set(CMAKE_C_COMPILER {:?})", dir.path().join(CC))), "{text}");
        assert!(text.contains("set(CMAKE_SYSTEM_PROCESSOR \"nvptx64\")"), "{text}");
    }
}
