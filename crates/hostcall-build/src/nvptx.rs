//! NVIDIA images: PTX, and cubins assembled from it.

use std::fs;
use std::path::{Path, PathBuf};

use offload_image::{Image, ImageKind};

use crate::bitcode::{self, Style};
use crate::cache::cached;
use crate::context::Context;
use crate::gpu::Gpu;
use crate::probe::Probe;
use crate::{BuildError, DeviceToolchain, Ptxas, atomics, copies, shared_stacks, statics};

/// PTX for GPUs from `arch` on.
pub(crate) fn build(context: &Context<'_>, toolchain: &DeviceToolchain, arch: &str) -> Result<Image, BuildError> {
    let gpu = Gpu::nvidia(toolchain, arch);
    let probe = context.probe(toolchain)?;
    let make = |linked: &Path, dir: &Path| ptx(&context.source.package, &gpu, Style::Kernels, probe.as_ref(), linked, dir);
    let code = bitcode::image(context, &gpu, probe.as_ref(), make)?;
    Ok(Image::new(ImageKind::Ptx, arch.to_owned(), code))
}

/// From one module to PTX.
pub(crate) fn ptx(
    package: &str,
    gpu: &Gpu<'_>,
    style: Style,
    probe: Option<&Probe>,
    linked: &Path,
    dir: &Path,
) -> Result<Vec<u8>, BuildError> {
    let mut module = bitcode::optimise(package, gpu, style, probe, linked, dir)?;
    match style {
        // Whoever loads them may have given lanes little stack.
        Style::Kernels => module = bitcode::with_stack_words(gpu, &module, dir)?,
        Style::Program => module = with_shared_stacks(package, gpu, &module, dir)?,
    }
    Ok(code(gpu, &module, dir)?.into_bytes())
}

/// From an optimised module to PTX.
pub(crate) fn code(gpu: &Gpu<'_>, module: &Path, dir: &Path) -> Result<String, BuildError> {
    let ptx = dir.join("image.ptx");
    let llc = gpu.toolchain.llvm("llc").arg("-O3").arg(format!("-mcpu={}", gpu.cpu)).arg(format!("-mattr={}", gpu.features));
    // Conversions between 128-bit integers and floats (`duration.as_nanos() as f64`) are calls that the back end has
    // nobody for, unless they are expanded.
    let llc = llc.arg("-expand-fp-convert-bits=64");
    llc.arg(module).arg("-o").arg(&ptx).output()?;
    let text = fs::read_to_string(&ptx).map_err(BuildError::io("read", &ptx))?;
    Ok(limited(&rolled(&atomics::joined(&text))))
}

/// The module with its threads' stacks in memory that all of them can address; its path.
fn with_shared_stacks(package: &str, gpu: &Gpu<'_>, optimised: &Path, dir: &Path) -> Result<PathBuf, BuildError> {
    let module = gpu.toolchain.llvm("llvm-dis").arg(optimised).args(["-o", "-"]).text()?;
    let module = statics::opened(&module).unwrap_or(module);
    let module = copies::served(&module);
    bitcode::with_stacks(package, gpu, shared_stacks::share(&module), dir)
}

/// Machine code for exactly `arch`.
pub(crate) fn assemble(context: &Context<'_>, toolchain: &DeviceToolchain, ptxas: &Ptxas, arch: &str) -> Result<Image, BuildError> {
    let ptx = build(context, toolchain, crate::NVPTX_ARCH)?;
    let cubin =
        cached(&context.target_dir(), &[&ptx.bytes, ptxas.identity().as_bytes(), arch.as_bytes()], |_| ptxas.assemble(&ptx.bytes, arch))?;
    Ok(Image::new(ImageKind::Cubin, arch.to_owned(), cubin))
}

/// Tells NVIDIA's assembler, which unrolls loops of its own accord, not to do so in functions that are to be small. (A
/// kernel with a call: 25 KB of machine code instead of 31 KB.) LLVM marks the first line of a loop with a comment.
fn rolled(ptx: &str) -> String {
    let mut out = String::with_capacity(ptx.len() + ptx.len() / 100);
    let mut small = false;
    for line in ptx.split_inclusive('\n') {
        out.push_str(line);
        if line.starts_with(".func") || line.starts_with(".visible") || line.starts_with(".weak") {
            small = line.contains(".func") && bitcode::is_small(line).is_some();
        }
        if small && line.contains("// =>") && line.contains("Loop Header: Depth=") {
            out.push_str("\t.pragma \"nounroll\";\n");
        }
    }
    out
}

/// Gives kernels the bound of registers that they ask for (`#[kernel(max_registers = 32)]`): a comment in their body, a
/// directive before it.
fn limited(ptx: &str) -> String {
    const ASKED: &str = "// hostcall.maxnreg ";
    let mut out = String::with_capacity(ptx.len());
    // Where the body of the last entry begins.
    let mut body = None;
    let mut entry = false;
    for line in ptx.split_inclusive('\n') {
        entry |= line.contains(".entry ");
        if entry && line.starts_with('{') {
            (body, entry) = (Some(out.len()), false);
        } else if line.starts_with('}') {
            body = None;
        }
        match (body, line.trim().strip_prefix(ASKED)) {
            (Some(at), Some(most)) => out.insert_str(at, &format!(".maxnreg {most}\n")),
            _ => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_asks_for_few_registers_gets_a_directive_and_no_other_does() {
        let entry = |name: &str, body: &str| format!(".visible .entry {name}(\n\t.param .u32 {name}_param_0\n)\n{{\n{body}\tret;\n}}\n");
        let function = ".func work(\n)\n{\n\tret;\n}\n";
        let ask = "\t// begin inline asm\n\t// hostcall.maxnreg 32\n\t// end inline asm\n";
        let ptx = format!("{}{function}{}{}", entry("first", ""), entry("second", ask), entry("third", ""));
        let expected = ptx.replace(")\n{\n\t// begin", ")\n.maxnreg 32\n{\n\t// begin").replace("\t// hostcall.maxnreg 32\n", "");
        assert_eq!(limited(&ptx), expected);
        assert_eq!(expected.matches(".maxnreg").count(), 1);
    }

    #[test]
    fn loops_of_small_functions_stay_loops() {
        let function = |name: &str| {
            format!(
                ".func {name}(\n)\n{{\n$L__BB1_1:                    // =>This Inner Loop Header: Depth=1\n\tbra $L__BB1_1;\n$L__BB1_2: // %x\n\
                 \t                    // =>This Loop Header: Depth=1\n\tret;\n}}\n"
            )
        };
        let [fast, slow] = ["_RNv4user4work", "_RNvNt4core3fmt5write"].map(function);
        let rolled = rolled(&format!("{fast}{slow}"));
        assert!(rolled.starts_with(&fast));
        assert_eq!(rolled.matches("Depth=1\n\t.pragma \"nounroll\";\n\t").count(), 2, "{rolled}");
    }
}
