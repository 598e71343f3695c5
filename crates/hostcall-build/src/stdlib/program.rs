//! A program with std as a bundle of images, for applications that bring one along.

use std::fs;
use std::path::Path;

use offload_image::{Image, ImageKind, ProgramBundle};

use super::machine::Machine;
use super::sysroot::Sysroot;
use crate::command::Run;
use crate::source::Source;
use crate::{
    BuildError, BuiltProgram, HostToolchain, INSTRUMENT_VARIABLE, INSTRUMENTED_DIR, ProgramSpec, Ptxas, Target, assemble_cached, cargo,
};

/// Builds the package in `spec.crate_dir`, whose only program is an ordinary `fn main()`, for all targets of `spec`.
/// std is built where that has not been done yet, and `progress` told so. `tool` is as for [`Sysroot::prepare`].
///
/// # Errors
///
/// Any [`BuildError`]: the first target that cannot be built ends the build.
pub fn build_std_program(spec: &ProgramSpec, tool: Option<&Path>, mut progress: impl FnMut(&str)) -> Result<BuiltProgram, BuildError> {
    let host = HostToolchain::find()?;
    let source = Source::of_package(&host, &spec.crate_dir, spec.target_dir.as_deref())?;
    let mut images = Vec::new();
    let mut warnings = Vec::new();
    for target in &spec.targets {
        let sysroot = Sysroot::prepare(&Machine::of(target), tool, &mut progress)?;
        if let Some(wanted) = &spec.instrument {
            sysroot.prepare_instrumented(wanted, &mut progress)?;
        }
        let image = build(spec, &source, &sysroot, &mut warnings)?;
        images.push(match target {
            Target::Cubin { arch } => Image::new(ImageKind::Cubin, arch.clone(), assemble_cached(&Ptxas::find()?, &image.bytes, arch)?),
            _ => image,
        });
    }
    let inputs = source.inputs();
    Ok(BuiltProgram { bundle: ProgramBundle::new(source.package, images), inputs, warnings })
}

fn build(spec: &ProgramSpec, source: &Source, sysroot: &Sysroot, warnings: &mut Vec<String>) -> Result<Image, BuildError> {
    let run = Run::new(sysroot.cargo()).without_outer_cargo().dir(&source.dir);
    let run = sysroot
        .variables()?
        .into_iter()
        .fold(run, |run, (name, value)| run.env(&name, value))
        .env(
            "CARGO_TARGET_DIR",
            if spec.instrument.is_some() { source.target_dir.join(INSTRUMENTED_DIR) } else { source.target_dir.clone() },
        )
        .env(INSTRUMENT_VARIABLE, spec.instrument.as_ref().map(ToString::to_string).unwrap_or_default())
        .args(["build", "--release", "--bins", "--package", &source.package, "--target", &sysroot.machine.name()])
        .args(sysroot.settings().iter().map(|setting| format!("--config={setting}")))
        .args(spec.features.iter().map(|feature| format!("--features={feature}")))
        .arg(cargo::MESSAGES);
    let compiled = cargo::compile(run, &source.package, &sysroot.machine.name(), &source.own(), &|path| source.place(path), spec.echo)?;
    for warning in &compiled.warnings {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
    let command = compiled.command.clone();
    let programs: Vec<&Path> = compiled.executables().collect();
    let unexpected = |problem: String| BuildError::Unexpected { command: command.clone(), problem };
    let [program] = programs[..] else {
        return Err(unexpected(format!("{} has {} programs, and exactly one is wanted", source.package, programs.len())));
    };
    let bytes = fs::read(program).map_err(BuildError::io("read", program))?;
    let bundle = ProgramBundle::from_bytes(&bytes).map_err(|error| unexpected(error.to_string()))?;
    bundle.images.into_iter().next().ok_or_else(|| unexpected("the bundle has no image".into()))
}
