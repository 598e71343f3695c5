//! AMD images: code objects.
//!
//! Debian's rustc 1.96 aborts in its own linker driver for this target, so rustc is never asked to link: see [`crate::bitcode`].

use std::fs;
use std::path::Path;

use offload_image::{Image, ImageKind};

use crate::bitcode::{self, Gpu, Style};
use crate::build::Context;
use crate::cache::cached;
use crate::{BuildError, DeviceToolchain};

/// A code object for `arch`.
pub(crate) fn build(context: &Context<'_>, toolchain: &DeviceToolchain, arch: &str) -> Result<Image, BuildError> {
    toolchain.ld()?;
    let gpu = gpu(toolchain, arch);
    let archive = bitcode::archive(context, &gpu)?;
    let bitcode = fs::read(&archive).map_err(BuildError::io("read", &archive))?;
    let identity = toolchain.identity();
    let key: [&[u8]; 4] = [&bitcode, identity.as_bytes(), arch.as_bytes(), bitcode::recipe()];
    let code = cached(&context.target_dir, &key, |dir| {
        let linked = bitcode::link(&gpu, &archive, dir)?;
        code_object(&context.source.package, &gpu, Style::Kernels, &linked, dir)
    })?;
    Ok(Image::new(ImageKind::AmdCodeObject, arch.to_owned(), code))
}

/// For every crate that is compiled for AMD, beside no other pass.
///
/// rustc 1.96 makes the list of `#[used]` statics, `llvm.used`, an array of generic pointers, and puts pointers to global memory into it. Nothing that
/// reads the bitcode takes that: neither LLVM's tools ("incorrect type in array initializer") nor rustc itself when it optimises several units
/// together. This pass writes the list anew, with casts, and does little else to a crate of which nothing is known to be internal.
pub(crate) const REPAIR: &str = "-Cpasses=globalopt";

/// The recipe's words for `arch`.
pub(crate) fn gpu<'a>(toolchain: &'a DeviceToolchain, arch: &'a str) -> Gpu<'a> {
    Gpu { toolchain, triple: "amdgcn-amd-amdhsa", cpu: arch, features: String::new(), convention: "amdgpu_kernel" }
}

/// From one module to a code object.
pub(crate) fn code_object(package: &str, gpu: &Gpu<'_>, style: Style, linked: &Path, dir: &Path) -> Result<Vec<u8>, BuildError> {
    let module = bitcode::optimise(package, gpu, style, linked, dir)?;
    let [object, code] = ["image.o", "image.co"].map(|name| dir.join(name));
    let llc = gpu.toolchain.llvm("llc").args(["-O3", "-filetype=obj", "-relocation-model=pic"]).arg(format!("-mcpu={}", gpu.cpu));
    llc.arg(&module).arg("-o").arg(&object).output()?;
    let ld = gpu.toolchain.ld()?.args(["-shared", "--no-undefined", "--build-id=none", "--strip-debug"]);
    ld.arg(&object).arg("-o").arg(&code).output()?;
    fs::read(&code).map_err(BuildError::io("read", &code))
}
