//! The machines that std is built for, and their target specifications.
//!
//! A specification is the compiler's own for the same processor with a few keys changed, so that data layouts and the
//! like follow the compiler: above all they become machines of Linux with musl, whose functions `hostcall-std` has. So
//! most crates compile that compile for Linux. `arch` stays what it is; a few crates that know C's types by it are told
//! `x86_64` besides (`wrapper`).

use std::fmt;

use serde_json::{Value, json};

use crate::command::Run;
use crate::{BuildError, DeviceToolchain, NVPTX_ARCH, PTX_VERSION, Target, flags};

/// A machine that programs with std are built for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// The CPU simulator, on this machine's processor.
    Sim,
    /// NVIDIA GPUs: bitcode and PTX for [`NVPTX_ARCH`] and later, from which cubins are assembled.
    Nvptx,
    /// One AMD architecture.
    Amdgpu {
        /// `gfx…`
        arch: String,
    },
}

impl Machine {
    /// The machine of a target.
    pub fn of(target: &Target) -> Machine {
        match target {
            Target::Sim => Machine::Sim,
            Target::Nvptx { .. } | Target::Cubin { .. } => Machine::Nvptx,
            Target::Amdgpu { arch } => Machine::Amdgpu { arch: arch.clone() },
        }
    }

    /// What `cargo build --target` calls it.
    pub fn name(&self) -> String {
        match self {
            Machine::Sim => format!("{}-hostcall-sim", std::env::consts::ARCH),
            Machine::Nvptx => "nvptx64-hostcall-cuda".into(),
            Machine::Amdgpu { arch } => format!("amdgcn-hostcall-{arch}"),
        }
    }

    pub(crate) fn is_gpu(&self) -> bool {
        *self != Machine::Sim
    }

    /// Flags for each crate that is compiled for it. For GPUs nothing is optimised before everything is marked
    /// convergent: see [`crate::bitcode`].
    pub(crate) fn codegen_flags(&self) -> impl Iterator<Item = &'static str> {
        let unoptimised = self.is_gpu().then_some("-Cno-prepopulate-passes");
        let repaired = matches!(self, Machine::Amdgpu { .. }).then_some(flags::REPAIR);
        unoptimised.into_iter().chain(repaired)
    }

    /// The compiler's target whose specification is changed.
    fn base(&self) -> String {
        match self {
            Machine::Sim => format!("{}-unknown-hermit", std::env::consts::ARCH),
            Machine::Nvptx => "nvptx64-nvidia-cuda".into(),
            Machine::Amdgpu { .. } => "amdgcn-amd-amdhsa".into(),
        }
    }

    /// The target specification, with `linker` in it.
    pub(crate) fn spec(&self, toolchain: &DeviceToolchain, linker: &str) -> Result<String, BuildError> {
        let base = self.base();
        let run = Run::new(&toolchain.rustc).env("RUSTC_BOOTSTRAP", "1").without_outer_cargo();
        let run = run.env("RUSTC_BOOTSTRAP", "1").args(["-Zunstable-options", "--print", "target-spec-json", "--target", &base]);
        let command = run.line();
        let unexpected = |problem: String| BuildError::Unexpected { command: command.clone(), problem };
        let mut spec: Value = serde_json::from_slice(&run.output()?).map_err(|error| unexpected(error.to_string()))?;
        let keys = spec.as_object_mut().ok_or_else(|| unexpected("a specification is an object".into()))?;
        for gone in ["metadata", "crt-objects-fallback", "crt-static-default", "need-explicit-cpu", "requires-lto", "no-builtins"] {
            keys.remove(gone);
        }
        let changes = json!({
            "os": "linux",
            "env": "musl",
            "target-family": ["unix"],
            "vendor": "hostcall",
            "linker": linker,
            "executables": true,
            "only-cdylib": false,
            "dynamic-linking": false,
            "exe-suffix": SUFFIX,
            "panic-strategy": "abort",
            // A thread of the program is a lane: nothing that belongs to a thread of the processor may be its.
            "has-thread-local": false,
        });
        let more = match self {
            // The same parts of the processor that the host's own programs use.
            Machine::Sim => json!({
                // No assumption of LLVM's about a C library holds.
                "llvm-target": format!("{}-unknown-none-elf", std::env::consts::ARCH),
                "linker-flavor": "gnu",
                "linker-is-gnu": true,
                "relocation-model": "pic",
                "position-independent-executables": false,
                "static-position-independent-executables": false,
                "features": "",
            }),
            Machine::Nvptx => json!({
                "linker-flavor": "llbc",
                "obj-is-bitcode": true,
                "cpu": NVPTX_ARCH,
                "features": format!("+{PTX_VERSION}"),
                // PTX has no statics that refer to one another: the linker takes them apart (`statics`).
                "static-initializer-must-be-acyclic": false,
            }),
            Machine::Amdgpu { arch } => json!({
                "linker-flavor": "llbc",
                "obj-is-bitcode": true,
                "cpu": arch,
            }),
        };
        for change in [changes, more] {
            keys.extend(change.as_object().cloned().unwrap_or_default());
        }
        Ok(format!("{spec:#}\n"))
    }
}

/// What the names of programs end in: they are bundles.
pub const SUFFIX: &str = ".program";

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
