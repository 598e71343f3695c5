//! `cargo hostcall config`: what a package's `.cargo/config.toml` needs so that plain `cargo run` and `cargo test` run
//! on a device.

use std::process::ExitCode;

use hostcall_build::Setting;

use crate::options::Options;
use crate::{Outcome, cargo, exec};

/// The device and the grants that are to be used each time.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    threads: exec::Threads,
}

/// Prints it. More options can be given at each run, in `HOSTCALL_RUN`.
pub(crate) fn run(arguments: Arguments) -> Outcome {
    let Arguments { options, threads } = arguments;
    let machine = cargo::machine(&options)?;
    let sysroot = cargo::prepare(&machine, false)?;
    let text = |value: String| serde_json::Value::from(value);
    let runner = cargo::runner(&[options.to_arguments(), threads.to_arguments()].concat(), true)?;
    println!("# in .cargo/config.toml; programs are compiled by rustc {}, with its std, whichever cargo is used", sysroot.release());
    println!("[build]\nrustc = {}\ntarget = {}\n", text(sysroot.rustc().display().to_string()), text(machine.name()));
    println!("[target.{}]\nrunner = {}", machine.name(), serde_json::Value::from(runner));
    println!("\n# compilers of C and C++ for build scripts\n[env]");
    for (name, value) in sysroot.c_variables() {
        println!("{name} = {}", text(value.display().to_string()));
    }
    for Setting { table, key, value } in sysroot.settings() {
        println!("\n[{table}]\n{key} = {value}");
    }
    Ok(ExitCode::SUCCESS)
}
