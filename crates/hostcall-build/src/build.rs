//! Building a program: every target that was asked for, in one bundle.

use std::cell::RefCell;
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
    /// Whether its default features are enabled.
    pub default_features: bool,
    /// Where to build. It can be shared by all kernel crates; `None`: `target` in the crate's directory; for a package that builds its own
    /// kernels, `hostcall` in the directory where cargo builds that package.
    pub target_dir: Option<PathBuf>,
    /// Whether to pass on what cargo says while it works.
    pub echo: bool,
}

impl ProgramSpec {
    /// The kernel crate in `crate_dir`, for the simulator.
    pub fn new(crate_dir: impl Into<PathBuf>) -> ProgramSpec {
        ProgramSpec {
            crate_dir: crate_dir.into(),
            targets: vec![Target::Sim],
            features: Vec::new(),
            default_features: true,
            target_dir: None,
            echo: false,
        }
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
    /// What the compiler warns of in the program's own crates (those that no registry has), as the compiler writes it.
    pub warnings: Vec<String>,
}

/// What the stages of one build share.
pub(crate) struct Context<'a> {
    pub(crate) spec: &'a ProgramSpec,
    pub(crate) host: &'a HostToolchain,
    pub(crate) source: Source,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(spec: &'a ProgramSpec, host: &'a HostToolchain, source: Source) -> Context<'a> {
        Context { spec, host, source, warnings: RefCell::default() }
    }

    /// Keeps warnings that are not known yet: each target is compiled by itself, and most of what is wrong is wrong for all.
    pub(crate) fn warn(&self, warnings: &[String]) {
        let mut known = self.warnings.borrow_mut();
        for warning in warnings {
            if !known.contains(warning) {
                known.push(warning.clone());
            }
        }
    }

    pub(crate) fn feature_arguments(&self) -> Vec<String> {
        let features = self.spec.features.iter().map(|feature| format!("--features={feature}"));
        features.chain((!self.spec.default_features).then(|| "--no-default-features".to_owned())).collect()
    }
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
    let warnings = context.warnings.into_inner();
    Ok(BuiltProgram { bundle: ProgramBundle::new(context.source.package, images), inputs, warnings })
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
