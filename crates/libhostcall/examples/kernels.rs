//! Builds a package of kernels for the simulator into a file that `hc_program_load` takes:
//! `cargo run -p libhostcall --example kernels -- kernels/add42 add42.program`

use std::error::Error;

use hostcall_build::{ProgramSpec, Target, build_program};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, file] = &arguments[..] else { return Err("usage: kernels PACKAGE FILE".into()) };
    let built = build_program(&ProgramSpec { targets: vec![Target::Sim], ..ProgramSpec::new(package) })?;
    std::fs::write(file, built.bundle.to_bytes())?;
    Ok(())
}
