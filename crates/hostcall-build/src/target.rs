//! What a program can be built for, and how people write it.

use std::fmt;

use crate::BuildError;

/// The NVIDIA architecture that PTX is built for when none is named: the first with independent thread scheduling
/// and 128-bit memory instructions. The driver compiles it for whatever GPU it finds.
pub const NVPTX_ARCH: &str = "sm_70";
/// The PTX version asked for, as LLVM writes it. 8.4 is the first with `.b128` relaxed loads and stores at system
/// scope.
pub const PTX_VERSION: &str = "ptx84";
/// The AMD architectures that `amdgpu` and `all` stand for.
pub const AMDGPU_ARCHES: [&str; 5] = ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"];
/// AMD's generic targets: one image for a family, for runtimes of 2024 and later. Built when they are named.
pub const AMDGPU_GENERIC: [&str; 6] =
    ["gfx9-generic", "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"];

/// What one image is built for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The CPU simulator: a shared library for this machine.
    Sim,
    /// PTX for NVIDIA GPUs from `arch` on.
    Nvptx {
        /// `sm_…`
        arch: String,
    },
    /// NVIDIA machine code, assembled by `ptxas` from the same PTX.
    Cubin {
        /// `sm_…`
        arch: String,
    },
    /// A code object for one AMD architecture.
    Amdgpu {
        /// `gfx…`
        arch: String,
    },
}

impl Target {
    /// PTX for [`NVPTX_ARCH`].
    pub fn nvptx() -> Target {
        Target::Nvptx { arch: NVPTX_ARCH.into() }
    }

    /// Whether building it needs the device toolchain.
    pub fn needs_device_toolchain(&self) -> bool {
        *self != Target::Sim
    }

    /// Reads a list like `sim,nvptx,amdgpu:gfx90a`. `nvptx` means [`NVPTX_ARCH`], `amdgpu` all of [`AMDGPU_ARCHES`],
    /// and `all` means `sim,nvptx,amdgpu`. What is named twice is built once.
    ///
    /// # Errors
    ///
    /// [`BuildError::UnknownTarget`].
    pub fn parse_list(text: &str) -> Result<Vec<Target>, BuildError> {
        let mut targets = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let unknown = || BuildError::UnknownTarget { text: word.to_owned() };
            let (kind, arch) = word.split_once(':').map_or((word, None), |(kind, arch)| (kind, Some(arch)));
            // An architecture becomes an argument of other programs and part of a file name.
            if arch.is_some_and(|arch| arch.is_empty() || !arch.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))) {
                return Err(unknown());
            }
            let amdgpu = || AMDGPU_ARCHES.map(|arch| Target::Amdgpu { arch: arch.into() });
            match (kind, arch) {
                ("sim", None) => targets.push(Target::Sim),
                ("nvptx", None) => targets.push(Target::nvptx()),
                ("nvptx", Some(arch)) if arch.starts_with("sm_") => targets.push(Target::Nvptx { arch: arch.into() }),
                ("cubin", Some(arch)) if arch.starts_with("sm_") => targets.push(Target::Cubin { arch: arch.into() }),
                ("amdgpu", None) => targets.extend(amdgpu()),
                ("amdgpu", Some(arch)) if arch.starts_with("gfx") && (!arch.contains('-') || AMDGPU_GENERIC.contains(&arch)) => {
                    targets.push(Target::Amdgpu { arch: arch.into() })
                }
                ("all", None) => targets.extend([Target::Sim, Target::nvptx()].into_iter().chain(amdgpu())),
                _ => return Err(unknown()),
            }
        }
        let mut seen = std::collections::HashSet::new();
        targets.retain(|target| seen.insert(target.clone()));
        Ok(targets)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Sim => f.write_str("sim"),
            Target::Nvptx { arch } => write!(f, "nvptx:{arch}"),
            Target::Cubin { arch } => write!(f, "cubin:{arch}"),
            Target::Amdgpu { arch } => write!(f, "amdgpu:{arch}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> String {
        let targets = Target::parse_list(text).expect("a good list");
        targets.iter().map(Target::to_string).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn a_list_of_targets_is_read_and_each_is_built_once() {
        assert_eq!(list("sim"), "sim");
        assert_eq!(list(" sim, nvptx ,nvptx:sm_70"), "sim,nvptx:sm_70");
        assert_eq!(list("cubin:sm_90,amdgpu:gfx1030"), "cubin:sm_90,amdgpu:gfx1030");
        assert_eq!(list("all"), "sim,nvptx:sm_70,amdgpu:gfx90a,amdgpu:gfx942,amdgpu:gfx950,amdgpu:gfx1100,amdgpu:gfx1200");
        assert_eq!(list("amdgpu:gfx9-4-generic,amdgpu:gfx11-generic"), "amdgpu:gfx9-4-generic,amdgpu:gfx11-generic");
    }

    #[test]
    fn what_is_no_target_is_named_in_the_error() {
        for text in [
            "gpu",
            "nvptx:",
            "nvptx:gfx90a",
            "amdgpu:sm_70",
            "cubin",
            "sim:x",
            "amdgpu:gfx90a/../x",
            "nvptx:sm_70 -o x",
            "amdgpu:gfx942-x",
            "amdgpu:gfx-generic",
        ] {
            let error = Target::parse_list(text).expect_err(text);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
