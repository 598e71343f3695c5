//! clang, and what it is told for each machine.

use std::path::PathBuf;

use crate::command::Run;
use crate::stdlib::machine::Machine;
use crate::toolchain::which;
use crate::{BuildError, DeviceToolchain, NVPTX_ARCH, PTX_VERSION, Piece};

/// The clang of the same LLVM as the device toolchain's: its bitcode is read by no older one.
pub(crate) fn clang(toolchain: &DeviceToolchain) -> Result<PathBuf, BuildError> {
    let name = format!("clang-{}", toolchain.llvm_major);
    let beside = [toolchain.llvm_bin.join("clang"), toolchain.llvm_bin.join(&name)];
    let found = beside.into_iter().find(|clang| clang.is_file()).or_else(|| which(&name).into_iter().next());
    found.ok_or_else(|| BuildError::Missing {
        piece: Piece::Clang,
        tried: format!("neither {} nor `{name}` on PATH", toolchain.llvm_bin.join("clang").display()),
    })
}

/// What names the machine, and what code for it has in common.
pub(super) fn flags(machine: &Machine) -> Result<Vec<String>, BuildError> {
    let mut all: Vec<String> = match machine {
        Machine::Sim => {
            if std::env::consts::ARCH != "x86_64" {
                return Err(BuildError::Missing { piece: Piece::Clang, tried: NOT_HERE.into() });
            }
            // Wide numbers are as on a GPU; nothing that belongs to a thread of the processor is a program's thread's;
            // the image is a shared library.
            ["--target=x86_64-unknown-linux-musl", "-mlong-double-64", "-femulated-tls", "-fPIC"].map(String::from).to_vec()
        }
        Machine::Nvptx => [
            "--target=nvptx64-nvidia-cuda",
            "-nogpulib",
            "-Xclang",
            "-target-cpu",
            "-Xclang",
            NVPTX_ARCH,
            "-Xclang",
            "-target-feature",
            "-Xclang",
        ]
        .map(String::from)
        .into_iter()
        .chain([format!("+{PTX_VERSION}")])
        .collect(),
        Machine::Amdgpu { arch } => vec!["--target=amdgcn-amd-amdhsa".into(), "-nogpulib".into(), format!("-mcpu={arch}")],
    };
    if machine.is_gpu() {
        // Nothing is optimised before everything is marked convergent, at the link (`bitcode`). Assembly of another
        // processor is refused where it stands. Functions of numbers stay calls, of which code generation knows few.
        all.extend(["-emit-llvm", "-O2", "-Xclang", "-disable-llvm-passes", "-fno-gnu-inline-asm", "-fmath-errno"].map(String::from));
    }
    if machine.is_gpu() {
        let kinds = NO_INSTRUCTION.iter().flat_map(|name| ["", "f", "l"].map(|kind| format!("-fno-builtin-{name}{kind}")));
        all.extend(kinds);
    }
    // Of C++, whoever is called: exceptions would unwind stacks, and types at run time come with them.
    all.extend(["-fno-exceptions", "-fno-rtti"].map(String::from));
    all.extend(["-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-ffunction-sections", "-fdata-sections"].map(String::from));
    Ok(all)
}

/// Functions that clang makes instructions of LLVM's of, for which code generation for GPUs has nothing.
const NO_INSTRUCTION: [&str; 9] = ["frexp", "ldexp", "llrint", "llround", "lrint", "lround", "modf", "sincos", "sincospi"];

const NOT_HERE: &str = "C for the simulator is compiled on x86-64 hosts only";

/// Whether the names that `prelude.h` gives are wanted.
pub(super) fn has_prelude(machine: &Machine) -> bool {
    *machine == Machine::Sim
}

/// What tells a clang from others.
pub(super) fn identity(toolchain: &DeviceToolchain) -> Result<String, BuildError> {
    Ok(Run::new(clang(toolchain)?).arg("--version").text()?.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::QUADS;

    #[test]
    fn the_prelude_names_each_function_that_code_generation_calls_otherwise() {
        let prelude = include_str!("sources/prelude.h");
        for name in QUADS {
            assert!(prelude.contains(&format!("#pragma redefine_extname {name}l {name}\n")), "{name}");
        }
        assert_eq!(prelude.matches("#pragma").count(), QUADS.len());
    }

    #[test]
    fn a_gpus_code_is_bitcode_that_nothing_has_optimised() {
        let flags = flags(&Machine::Nvptx).expect("every host compiles it");
        assert!(["-emit-llvm", "-disable-llvm-passes"].iter().all(|flag| flags.iter().any(|it| it == flag)));
    }
}
