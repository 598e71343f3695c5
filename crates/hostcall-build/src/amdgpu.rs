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
use crate::probe::Probe;
use crate::{BuildError, DeviceToolchain, shared_stacks};

/// A code object for `arch`.
pub(crate) fn build(context: &Context<'_>, toolchain: &DeviceToolchain, arch: &str) -> Result<Image, BuildError> {
    toolchain.ld()?;
    let gpu = Gpu::amd(toolchain, arch);
    let probe = context.probe(toolchain)?;
    let make = |linked: &Path, dir: &Path| code_object(&context.source.package, &gpu, Style::Kernels, probe.as_ref(), linked, dir);
    let code = bitcode::image(context, &gpu, probe.as_ref(), make)?;
    Ok(Image::new(ImageKind::AmdCodeObject, arch.to_owned(), code))
}

/// From one module to a code object.
pub(crate) fn code_object(
    package: &str,
    gpu: &Gpu<'_>,
    style: Style,
    probe: Option<&Probe>,
    linked: &Path,
    dir: &Path,
) -> Result<Vec<u8>, BuildError> {
    let mut module = bitcode::optimise(package, gpu, style, probe, linked, dir)?;
    if style == Style::Program {
        module = with_shared_stacks(package, gpu, &module, dir)?;
    }
    let marked = bitcode::with_stack_words(gpu, &module, dir)?;
    let [object, code] = ["image.o", "image.co"].map(|name| dir.join(name));
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
