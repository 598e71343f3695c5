//! What is to be built, and what the stages of one build share.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::command::Run;
use crate::instrument::INSTRUMENTED_DIR;
use crate::probe::Probe;
use crate::source::Source;
use crate::{BuildError, DeviceToolchain, HostToolchain, Instrument, Target, cargo};

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
    /// Where to build. It can be shared by all kernel crates; `None`: `target` in the crate's directory; for a package
    /// that builds its own kernels, `hostcall` in the directory where cargo builds that package.
    pub target_dir: Option<PathBuf>,
    /// Whether to pass on what cargo says while it works.
    pub echo: bool,
    /// What kernels are to tell of themselves; `None`: what their source says.
    pub instrument: Option<Instrument>,
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
            instrument: None,
        }
    }
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

    /// Keeps warnings that are not known yet: each target is compiled by itself, and most of what is wrong is wrong for
    /// all.
    pub(crate) fn warn(&self, warnings: &[String]) {
        let mut known = self.warnings.borrow_mut();
        for warning in warnings {
            if !known.contains(warning) {
                known.push(warning.clone());
            }
        }
    }

    /// The warnings that were kept.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings.into_inner()
    }

    pub(crate) fn feature_arguments(&self) -> Vec<String> {
        let features = self.spec.features.iter().map(|feature| format!("--features={feature}"));
        features.chain((!self.spec.default_features).then(|| "--no-default-features".to_owned())).collect()
    }

    /// Where it is built, absolute.
    pub(crate) fn target_dir(&self) -> PathBuf {
        let all = &self.source.target_dir;
        if self.spec.instrument.is_some() { all.join(INSTRUMENTED_DIR) } else { all.clone() }
    }

    /// The pass, if the program is to be instrumented.
    pub(crate) fn probe(&self, toolchain: &DeviceToolchain) -> Result<Option<Probe>, BuildError> {
        self.spec.instrument.as_ref().map(|wanted| Probe::new(wanted, toolchain)).transpose()
    }

    /// The cargo that builds for this machine's processor, in the package's directory.
    pub(crate) fn host_cargo(&self) -> Run {
        let run = Run::new(&self.host.cargo).without_outer_cargo().dir(&self.source.dir);
        if let Some(rustc) = &self.host.rustc { run.env("RUSTC", rustc) } else { run }
    }

    /// Runs cargo and finds the file with that suffix among what it made of the kernel crate.
    pub(crate) fn artifact(&self, run: Run, target: &str, suffix: &str) -> Result<PathBuf, BuildError> {
        let source = &self.source;
        let compiled = cargo::compile(run, &source.package, target, &source.own(), &|path| source.place(path), self.spec.echo)?;
        self.warn(&compiled.warnings);
        let file = compiled.file(&source.manifest, suffix).map(Path::to_path_buf);
        file.ok_or_else(|| BuildError::Unexpected {
            problem: format!("no file `*{suffix}` was made of {}", source.package),
            command: compiled.command,
        })
    }
}
