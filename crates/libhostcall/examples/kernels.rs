//! Builds a package of kernels into a file that `hc_program_load` takes, for the simulator, or for what `--target` says:
//! `cargo run -p libhostcall --example kernels -- [--target cubin:sm_90] kernels/add42 add42.program`

use std::error::Error;

use hostcall_build::{ProgramSpec, Target, build_program};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (target, package, file) = match &arguments[..] {
        [package, file] => (Target::Sim, package, file),
        [option, target, package, file] if option == "--target" => (target.parse()?, package, file),
        _ => return Err("usage: kernels [--target TARGET] PACKAGE FILE".into()),
    };
    let built = build_program(&ProgramSpec { targets: vec![target], ..ProgramSpec::new(package) })?;
    std::fs::write(file, built.bundle.to_bytes())?;
    Ok(())
}
