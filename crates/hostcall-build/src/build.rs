//! Building a program: every target that was asked for, in one bundle.

use std::path::{Path, PathBuf};

use offload_image::ProgramBundle;

use crate::source::Source;
use crate::{BuildError, DeviceToolchain, HostToolchain, Ptxas, Target, amdgpu, nvptx, sim};

/// What to build.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    /// The kernel crate's directory.
    pub crate_dir: PathBuf,
    /// What to build it for.
    pub targets: Vec<Target>,
    /// Features of the kernel crate to enable.
    pub features: Vec<String>,
    /// Where to build. It can be shared by all kernel crates; `None`: `target` in the crate's directory.
    pub target_dir: Option<PathBuf>,
    /// Whether to pass on what cargo says while it works.
    pub echo: bool,
}

impl ProgramSpec {
    /// The kernel crate in `crate_dir`, for the simulator.
    pub fn new(crate_dir: impl Into<PathBuf>) -> ProgramSpec {
        ProgramSpec { crate_dir: crate_dir.into(), targets: vec![Target::Sim], features: Vec::new(), target_dir: None, echo: false }
    }
}

/// A program that was built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BuiltProgram {
    /// Its images, in the order of the targets.
    pub bundle: ProgramBundle,
    /// The files and directories that it was built from: when none of them changed, neither has the program.
    pub inputs: Vec<PathBuf>,
}

/// What the stages of one build share.
pub(crate) struct Context<'a> {
    pub(crate) spec: &'a ProgramSpec,
    pub(crate) host: &'a HostToolchain,
    pub(crate) source: Source,
    pub(crate) target_dir: PathBuf,
}

impl Context<'_> {
    pub(crate) fn feature_arguments(&self) -> Vec<String> {
        self.spec.features.iter().map(|feature| format!("--features={feature}")).collect()
    }
}

/// Builds a program for all targets of `spec`.
///
/// # Errors
///
/// Any [`BuildError`]: the first target that cannot be built ends the build.
pub fn build_program(spec: &ProgramSpec) -> Result<BuiltProgram, BuildError> {
    let host = HostToolchain::find()?;
    let source = Source::read(&host, &spec.crate_dir)?;
    // Absolute, because cargo runs in the crate's directory.
    let target_dir = spec.target_dir.clone().unwrap_or_else(|| source.dir.join("target"));
    let target_dir = std::path::absolute(&target_dir).map_err(BuildError::io("find", target_dir))?;
    let context = Context { spec, host: &host, source, target_dir };
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
    Ok(BuiltProgram { bundle: ProgramBundle::new(context.source.package, images), inputs })
}

/// The device toolchain, looked for once and only if a target needs it.
fn found(toolchain: &mut Option<DeviceToolchain>) -> Result<&DeviceToolchain, BuildError> {
    match toolchain {
        Some(toolchain) => Ok(toolchain),
        None => Ok(toolchain.insert(DeviceToolchain::find()?)),
    }
}

impl BuiltProgram {
    /// Writes the bundle to a file.
    ///
    /// # Errors
    ///
    /// [`BuildError::Io`].
    pub fn write(&self, file: &Path) -> Result<(), BuildError> {
        std::fs::write(file, self.bundle.to_bytes()).map_err(BuildError::io("write", file))
    }
}
