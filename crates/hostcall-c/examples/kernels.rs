//! Builds a package of kernels into a file that `hc_program_load` takes, for the simulator, or for what `--targets`
//! says: `cargo run -p hostcall-c --example kernels -- [--targets cubin:sm_90] examples/add42/kernel add42.program`

use std::error::Error;

use hostcall_build::{ProgramSpec, Target, build_program};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (targets, package, file) = match &arguments[..] {
        [package, file] => (vec![Target::Sim], package, file),
        [option, targets, package, file] if option == "--targets" => (Target::parse_list(targets)?, package, file),
        _ => return Err("usage: kernels [--targets LIST] PACKAGE FILE".into()),
    };
    let built = build_program(&ProgramSpec { targets, ..ProgramSpec::new(package) })?;
    std::fs::write(file, built.bundle.to_bytes())?;
    Ok(())
}
