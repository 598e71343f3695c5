//! `cargo hostcall build --instrument LIST FILE.ptx`: puts what `--instrument` adds into PTX that another compiler
//! made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hostcall_build::ptx::{Chosen, Instrumented, Library, PtxError, instrument};
use hostcall_build::{Instrument, Ptxas};
use regex_lite::Regex;

use crate::Outcome;

/// Which kernels of the file, and where what is made of it goes.
pub(crate) struct Wanted<'a> {
    pub(crate) instrument: &'a Instrument,
    pub(crate) kernels: &'a [Regex],
    pub(crate) output: Option<&'a Path>,
}

/// Instruments a file. Its output is PTX, or machine code for its own architecture if it is called `*.cubin`.
pub(crate) fn run(file: &Path, wanted: &Wanted<'_>) -> Outcome {
    let output = wanted.output.map_or_else(|| file.with_extension("probed.ptx"), Path::to_path_buf);
    let bytes = fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let of_file = |error: PtxError| format!("{}: {error}", file.display());
    // What cannot be instrumented is told before a toolchain is looked for.
    hostcall_build::ptx::reads_as_it_is(&bytes).map_err(of_file)?;
    let said = wanted.kernels.iter().map(|kernel| format!("that `{kernel}` finds")).collect::<Vec<_>>().join(" or ");
    let is_meant = |name: &str| wanted.kernels.iter().any(|kernel| kernel.is_match(name));
    let chosen = if wanted.kernels.is_empty() { Chosen::All } else { Chosen::Of(&is_meant, &said) };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let made = instrument(&bytes, &name, wanted.instrument, chosen, &Library::of_device()?).map_err(of_file)?;
    write(&made, &output)?;
    println!("{}", output.display());
    println!("  {}", summary(&made));
    Ok(ExitCode::SUCCESS)
}

fn write(made: &Instrumented, output: &PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    let code = if output.extension().is_some_and(|extension| extension == "cubin") {
        hostcall_build::assemble_cached(&Ptxas::find()?, made.ptx.as_bytes(), &made.arch)?
    } else {
        made.ptx.clone().into_bytes()
    };
    fs::write(output, code).map_err(|error| format!("cannot write {}: {error}", output.display()).into())
}

/// What was added, in a line, and what is not told of.
fn summary(made: &Instrumented) -> String {
    let mut all = vec![format!("for {}, kernels {}", made.arch, made.kernels.join(", "))];
    let counts = [
        (made.accesses, "access", "accesses"),
        (made.steps, "step", "steps"),
        (made.barriers, "barrier", "barriers"),
        (made.sites, "place", "places"),
    ];
    for (count, one, many) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        all.push(format!("{count} {}", if count == 1 { one } else { many }));
    }
    if !made.untold.is_empty() {
        let untold: Vec<_> = made.untold.iter().map(|(what, count)| format!("{count} of `{what}`")).collect();
        all.push(format!("nothing is told of {}", untold.join(", ")));
    }
    all.join("; ")
}
