//! `cargo hostcall build`: leaves programs' images, for whichever devices.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostcall_build::{Instrument, Machine, NVPTX_ARCH, ProgramBundle, Ptxas, Target};
use offload::{Image, ImageKind};
use regex_lite::Regex;

use crate::cargo::{self, Selection};
use crate::{Outcome, ptx};

/// What to build, and for what.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Devices to build for: sim, nvptx, cubin:sm_NN, amdgpu, amdgpu:gfxNNN, all, separated by commas
    #[arg(long = "for", value_name = "LIST", default_value = "sim,nvptx", value_parser = targets)]
    targets: Targets,
    /// Directory for the images [default: target/hostcall]; of FILE the file that is made: PTX, or machine code if it
    /// is called *.cubin [default: FILE.probed.ptx]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Also check the programs as a GPU's code: what only this machine's processor has is an error
    #[arg(long, conflicts_with = "tests")]
    check_gpu: bool,
    /// Build the tests instead of the programs; `cargo hostcall exec` runs them
    #[arg(long)]
    tests: bool,
    /// Build only the library's tests
    #[arg(long, requires = "tests")]
    lib: bool,
    /// Build only this integration test
    #[arg(long, value_name = "NAME", requires = "tests")]
    test: Vec<String>,
    /// Have kernels tell of what they do, though their source says nothing of it: access, blocks, loops, barriers, some
    /// of these, and kernel=NAME for kernels that are meant [default: all]
    #[arg(long, value_name = "LIST")]
    instrument: Option<Instrument>,
    /// Only kernels of FILE in whose names this regular expression finds something. May be given several times
    #[arg(long, value_name = "REGEX", requires = "file")]
    kernel: Vec<Regex>,
    /// PTX that another compiler made, to be instrumented, instead of a package to be built
    #[arg(value_name = "FILE", requires = "instrument", conflicts_with_all = ["targets", "check_gpu", "tests"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

#[derive(Clone, Debug)]
struct Targets(Vec<Target>);

fn targets(text: &str) -> Result<Targets, String> {
    Target::parse_list(text).map(Targets).map_err(|error| error.to_string())
}

/// Builds for each device and puts the images of each program into one bundle.
pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { targets: Targets(targets), output, check_gpu, tests, lib, test, instrument, kernel, file, selection } = arguments;
    if let (Some(file), Some(instrument)) = (&file, &instrument) {
        let wanted = ptx::Wanted { instrument, kernels: &kernel, output: output.as_deref() };
        return ptx::run(file, &wanted);
    }
    if let Some(Target::Nvptx { arch }) = targets.iter().find(|target| matches!(target, Target::Nvptx { arch } if arch != NVPTX_ARCH)) {
        return Err(format!(
            "PTX of programs with std is for {NVPTX_ARCH} and every later GPU, {arch} included: write `--for nvptx`, or `--for cubin:{arch}` for machine code"
        )
        .into());
    }
    if !tests {
        cargo::ensure_programs(&selection)?;
    }
    if check_gpu && let Some(code) = cargo::check_gpu(&selection)? {
        return Ok(code);
    }
    let of_tests = tests.then(|| cargo::Targets::to_build(lib, test));
    let mut bundles: Vec<(ProgramBundle, PathBuf)> = Vec::new();
    for target in &targets {
        let files = match cargo::build(&Machine::of(target), &selection, of_tests.as_ref(), instrument.as_ref())? {
            Ok(files) => files,
            Err(code) => return Ok(code),
        };
        for file in files {
            let bytes = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let built = ProgramBundle::from_bytes(&bytes)?;
            let images = built
                .images
                .iter()
                .map(|image| finish(target, &built.name, image.clone(), selection.quiet))
                .collect::<Result<Vec<_>, _>>()?;
            match bundles.iter_mut().find(|(bundle, _)| bundle.name == built.name) {
                Some((bundle, _)) => bundle.images.extend(images),
                None => bundles.push((ProgramBundle { images, ..built }, place(&file, tests))),
            }
        }
    }
    if bundles.is_empty() {
        let what = if tests { "tests" } else { "program (`fn main()`)" };
        return Err(format!("nothing was built: the packages that were chosen have no {what}").into());
    }
    for (bundle, beside) in &bundles {
        let dir = output.as_deref().unwrap_or(beside);
        fs::create_dir_all(dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
        let file = dir.join(format!("{}{}", bundle.name, hostcall_build::SUFFIX));
        fs::write(&file, bundle.to_bytes()).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        println!("{}", file.display());
        for image in &bundle.images {
            println!("  {} for {}, {} bytes, SHA-256 {}", image.kind, image.arch, image.bytes.len(), image.sha256);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The image that the target asks for: cubins are assembled from PTX, and optimised as the program was.
fn finish(target: &Target, name: &str, image: Image, quiet: bool) -> Result<Image, Box<dyn std::error::Error>> {
    let Target::Cubin { arch } = target else { return Ok(image) };
    if !quiet {
        eprintln!("  Assembling {name} for {arch}");
    }
    let code = hostcall_build::assemble_as_built(&Ptxas::find()?, &image.bytes, arch)?;
    Ok(Image::new(ImageKind::Cubin, arch.clone(), code))
}

/// `target/hostcall`, from `target/MACHINE/PROFILE/NAME.program`, or `target/hostcall/tests`, from a file that is one
/// directory deeper.
fn place(file: &Path, tests: bool) -> PathBuf {
    let (depth, name) = if tests { (4, "hostcall/tests") } else { (3, "hostcall") };
    file.ancestors().nth(depth).map_or_else(|| PathBuf::from("."), |target| target.join(name))
}
