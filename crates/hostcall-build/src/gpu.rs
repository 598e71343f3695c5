//! What the steps need to know of a GPU.

use crate::DeviceToolchain;

/// A kind of GPU, and the toolchain that compiles for it.
pub(crate) struct Gpu<'a> {
    pub(crate) toolchain: &'a DeviceToolchain,
    pub(crate) triple: &'static str,
    pub(crate) cpu: &'a str,
    /// For `-Ctarget-feature`; may be empty.
    pub(crate) features: String,
    /// How LLVM writes the calling convention of kernels.
    pub(crate) convention: &'static str,
}

impl<'a> Gpu<'a> {
    /// AMD's `arch`.
    pub(crate) fn amd(toolchain: &'a DeviceToolchain, arch: &'a str) -> Gpu<'a> {
        Gpu { toolchain, triple: "amdgcn-amd-amdhsa", cpu: arch, features: String::new(), convention: "amdgpu_kernel" }
    }

    /// NVIDIA's from `arch` on.
    pub(crate) fn nvidia(toolchain: &'a DeviceToolchain, arch: &'a str) -> Gpu<'a> {
        let features = format!("+{}", crate::PTX_VERSION);
        Gpu { toolchain, triple: "nvptx64-nvidia-cuda", cpu: arch, features, convention: "ptx_kernel" }
    }
}
