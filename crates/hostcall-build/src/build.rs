//! Building a program: every target that was asked for, in one bundle.

use std::path::{Path, PathBuf};

use offload_image::ProgramBundle;

use crate::context::{Context, ProgramSpec};
use crate::source::Source;
use crate::{BuildError, DeviceToolchain, HostToolchain, Ptxas, Target, amdgpu, nvptx, sim};

/// A program that was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltProgram {
    /// Its images, in the order of the targets.
    pub bundle: ProgramBundle,
    /// The files and directories that it was built from: when none of them changed, neither has the program.
    pub inputs: Vec<PathBuf>,
    /// What the compiler warns of in the program's own crates (those that no registry has), as the compiler writes it.
    pub warnings: Vec<String>,
}

/// Builds a program for all targets of `spec`.
///
/// # Errors
///
/// Any [`BuildError`]: the first target that cannot be built ends the build.
pub fn build_program(spec: &ProgramSpec) -> Result<BuiltProgram, BuildError> {
    let host = HostToolchain::find()?;
    let source = Source::of_kernels(&host, &spec.crate_dir, spec.target_dir.as_deref())?;
    let context = Context::new(spec, &host, source);
    let mut toolchain = None;
    let mut images = Vec::new();
    for target in &spec.targets {
        images.push(match target {
            Target::Sim => sim::build(&context)?,
            Target::Nvptx { arch } => nvptx::build(&context, found(&mut toolchain)?, arch)?,
            Target::Cubin { arch } => nvptx::assemble(&context, found(&mut toolchain)?, &Ptxas::find()?, arch)?,
            Target::Amdgpu { arch } => amdgpu::build(&context, found(&mut toolchain)?, arch)?,
        });
    }
    let inputs = context.source.inputs();
    let bundle = ProgramBundle::new(context.source.package.clone(), images);
    Ok(BuiltProgram { bundle, inputs, warnings: context.into_warnings() })
}

/// The device toolchain, looked for once and only if a target needs it.
fn found(toolchain: &mut Option<DeviceToolchain>) -> Result<&DeviceToolchain, BuildError> {
    match toolchain {
        Some(toolchain) => Ok(toolchain),
        None => Ok(toolchain.insert(DeviceToolchain::find()?)),
    }
}

impl BuiltProgram {
    /// A program without images, and why.
    pub(crate) fn empty(name: String, why: String) -> BuiltProgram {
        let mut bundle = ProgramBundle::new(name, Vec::new());
        bundle.note = Some(why.into());
        BuiltProgram { bundle, inputs: Vec::new(), warnings: Vec::new() }
    }

    /// Writes the bundle where `include_program!` looks for it, by the name that cargo is told.
    pub(crate) fn include(self, out_dir: &Path) -> Result<BuiltProgram, BuildError> {
        let name = &self.bundle.name;
        let file = out_dir.join(format!("{name}.program"));
        println!("cargo::rustc-env=HOSTCALL_PROGRAM_{name}={}", file.display());
        self.write(&file)?;
        Ok(self)
    }

    /// Writes the bundle to a file.
    ///
    /// # Errors
    ///
    /// [`BuildError::Io`].
    pub fn write(&self, file: &Path) -> Result<(), BuildError> {
        std::fs::write(file, self.bundle.to_bytes()).map_err(BuildError::io("write", file))
    }
}
