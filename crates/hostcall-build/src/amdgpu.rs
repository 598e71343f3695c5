//! AMD images: code objects.
//!
//! Debian's rustc 1.96 aborts in its own linker driver for this target, so rustc is never asked to link: see [`crate::bitcode`].

use std::fs;

use offload_image::{Image, ImageKind};

use crate::bitcode::{self, Gpu};
use crate::build::Context;
use crate::cache::cached;
use crate::command::Run;
use crate::{BuildError, DeviceToolchain, Piece};

/// A code object for `arch`.
pub(crate) fn build(context: &Context<'_>, toolchain: &DeviceToolchain, arch: &str) -> Result<Image, BuildError> {
    let lld =
        toolchain.lld.as_ref().ok_or_else(|| BuildError::Missing { piece: Piece::Lld, tried: toolchain.llvm_bin.display().to_string() })?;
    let gpu = Gpu { toolchain, triple: "amdgcn-amd-amdhsa", cpu: arch, features: "", convention: "amdgpu_kernel" };
    let archive = bitcode::archive(context, &gpu)?;
    let bitcode = fs::read(&archive).map_err(BuildError::io("read", &archive))?;
    let identity = toolchain.identity();
    let key: [&[u8]; 4] = [&bitcode, identity.as_bytes(), arch.as_bytes(), RECIPE.as_bytes()];
    let code = cached(&context.target_dir, &key, |dir| {
        let module = bitcode::optimise(context, &gpu, &archive, dir)?;
        let [object, code] = ["image.o", "image.co"].map(|name| dir.join(name));
        let llc = toolchain.llvm("llc").args(["-O3", "-filetype=obj", "-relocation-model=pic"]).arg(format!("-mcpu={arch}"));
        llc.arg(&module).arg("-o").arg(&object).output()?;
        // rust-lld is told what to be; ld.lld knows from its name.
        let flavour: &[&str] = if lld.ends_with("rust-lld") { &["-flavor", "gnu"] } else { &[] };
        Run::new(lld)
            .args(flavour)
            .args(["-shared", "--no-undefined", "--build-id=none", "--strip-debug"])
            .arg(&object)
            .arg("-o")
            .arg(&code)
            .output()?;
        fs::read(&code).map_err(BuildError::io("read", &code))
    })?;
    Ok(Image::new(ImageKind::AmdCodeObject, arch.to_owned(), code))
}

/// See [`crate::nvptx`]'s.
const RECIPE: &str = concat!("amdgpu 4 ", env!("CARGO_PKG_VERSION"));
