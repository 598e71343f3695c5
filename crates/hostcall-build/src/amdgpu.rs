//! AMD images: code objects.
//!
//! They are of version 5, which every runtime since 2022 loads (LLVM's default of 6 needs one of 2024), but for generic
//! targets, which exist in version 6 only. Beside each kernel that may call itself, or through a pointer, lies a word
//! that says so: how much stack it needs is not in its metadata, and a launch has to bring some (`offload::hsa`).
//!
//! Debian's rustc 1.96 aborts in its own linker driver for this target, so rustc is never asked to link: see
//! [`crate::bitcode`].

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::{Image, ImageKind};

use crate::bitcode::{self, Style};
use crate::context::Context;
use crate::gpu::Gpu;
use crate::{BuildError, DeviceToolchain, shared_stacks};

/// A code object for `arch`.
pub(crate) fn build(context: &Context<'_>, toolchain: &DeviceToolchain, arch: &str) -> Result<Image, BuildError> {
    toolchain.ld()?;
    let gpu = Gpu::amd(toolchain, arch);
    let code = bitcode::image(context, &gpu, |linked, dir| code_object(&context.source.package, &gpu, Style::Kernels, linked, dir))?;
    Ok(Image::new(ImageKind::AmdCodeObject, arch.to_owned(), code))
}

/// From one module to a code object.
pub(crate) fn code_object(package: &str, gpu: &Gpu<'_>, style: Style, linked: &Path, dir: &Path) -> Result<Vec<u8>, BuildError> {
    let mut module = bitcode::optimise(package, gpu, style, linked, dir)?;
    if style == Style::Program {
        module = with_shared_stacks(package, gpu, &module, dir)?;
    }
    let [marked, object, code] = ["marked.ll", "image.o", "image.co"].map(|name| dir.join(name));
    let text = gpu.toolchain.llvm("llvm-dis").arg(&module).args(["-o", "-"]).text()?;
    fs::write(&marked, with_stack_words(text, gpu.convention)).map_err(BuildError::io("write", &marked))?;
    let llc = gpu.toolchain.llvm("llc").args(["-O3", "-filetype=obj", "-relocation-model=pic"]).arg(format!("-mcpu={}", gpu.cpu));
    let llc = llc.arg(format!("--amdhsa-code-object-version={}", if gpu.cpu.ends_with("-generic") { 6 } else { 5 }));
    // Else arrays of the stack become memory of the workgroup, as if there were 1024 lanes of each: 32 KiB for one
    // array of 32 bytes.
    let llc = llc.arg("-disable-promote-alloca-to-lds");
    llc.arg(&marked).arg("-o").arg(&object).output()?;
    let ld = gpu.toolchain.ld()?.args(["-shared", "--no-undefined", "--build-id=none", "--strip-debug"]);
    ld.arg(&object).arg("-o").arg(&code).output()?;
    fs::read(&code).map_err(BuildError::io("read", &code))
}

/// The module with its threads' stacks in memory that all of them can address, unless it has kernels beside them; its
/// path.
fn with_shared_stacks(package: &str, gpu: &Gpu<'_>, optimised: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let module = gpu.toolchain.llvm("llvm-dis").arg(optimised).args(["-o", "-"]).text()?;
    bitcode::with_stacks(package, gpu, shared_stacks::share_amd(&module), dir)
}

/// Begins the name of the word that says of a kernel whose name follows that nobody can tell how much stack it needs.
/// Read by `offload::hsa`.
const STACK_PREFIX: &str = "__HOSTCALL_STACK__";

/// The module with a word beside each kernel whose stack has no known bound.
fn with_stack_words(mut module: String, convention: &str) -> String {
    let words: String = shared_stacks::unbounded(&module, convention)
        .into_iter()
        .map(|kernel| format!("@{STACK_PREFIX}{kernel} = protected addrspace(1) constant i32 1, align 4\n"))
        .collect();
    module.push_str(&words);
    module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernels_whose_stack_has_no_known_bound_get_a_word() {
        let module = "define amdgpu_kernel void @leaf() {\n  ret void\n}\ndefine amdgpu_kernel void @deep() {\n  call void @again()\n  ret void\n}\n\
            define void @again() {\n  call void @again()\n  ret void\n}\n";
        let marked = with_stack_words(module.to_owned(), "amdgpu_kernel");
        assert_eq!(marked, module.to_owned() + "@__HOSTCALL_STACK__deep = protected addrspace(1) constant i32 1, align 4\n");
    }
}
