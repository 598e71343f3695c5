//! `cargo xtask gpu-bundle --amd`: the tests and benchmarks for people with an AMD GPU. One command there runs them,
//! and leaves one file to send.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use super::bundle::{executable, executables, programs};
use super::steps::Steps;
use super::test::tests;

/// The folder, below the repository's root.
const OUT: &str = "target/amd-bundle";
/// The executables in it.
const NAMES: [&str; 5] = ["cargo-hostcall", "soak", "behaviours", "std-programs", "std-kernels"];

/// Builds and copies everything for one processor, as `gfx942`.
pub(crate) fn make(sh: &Shell, arch: &str) -> Result<()> {
    ensure!(arch.starts_with("gfx"), "{arch} is no processor of AMD's: they are called gfx90a, gfx942, gfx1100, …");
    sh.remove_path(OUT)?;
    probe(sh, arch, &format!("{OUT}/probe"))?;
    let target = format!("amdgpu:{arch}");
    let build = |what: &[&str]| -> Result<String> {
        let build = cmd!(sh, "cargo build --release --message-format=json-render-diagnostics {what...}");
        Ok(build.env("HOSTCALL_TARGETS", format!("sim,{target}")).read()?)
    };
    // For the same targets as the rest: the kernels that its package needs are not built twice.
    let json = build(&["--package", "hostcall-cpp-tests", "--test", "whole"])?;
    sh.copy_file(executable(&json, "whole").context("cargo built no probe")?, format!("{OUT}/probe/probe"))?;
    cmd!(sh, "strip {OUT}/probe/probe").quiet().run().context("needs binutils")?;
    let mut json = build(&["--package", "cargo-hostcall", "--package", "hostcall-bench", "--bins"])?;
    let command = executable(&json, "cargo-hostcall").context("cargo built no command line")?;
    json += &build(&["--package", "hostcall-tests", "--features", "hostcall-tests/sinks", "--bins", "--test", "behaviours"])?;
    json += &build(&["--package", "cargo-hostcall", "--test", "programs", "--test", "kernels"])?;
    for (name, path) in executables(&json).into_iter().filter(|(name, _)| NAMES.contains(&name.as_str())) {
        let to = format!("{OUT}/{name}");
        sh.copy_file(&path, &to)?;
        cmd!(sh, "strip {to}").quiet().run().context("needs binutils")?;
    }
    for name in NAMES {
        ensure!(sh.path_exists(format!("{OUT}/{name}")), "cargo built no {name}");
    }
    // The simulator's images too: over the stand-in for AMD's runtime the bundle can be tried where there is no GPU.
    programs(sh, OUT, &command, &format!("sim,{target}"))?;
    sh.copy_file("xtask/gpu-bundle/run-amd", format!("{OUT}/run-amd"))?;
    cmd!(sh, "chmod +x {OUT}/run-amd").quiet().run()?;
    sh.copy_file("LICENSE-APACHE", format!("{OUT}/sample.txt"))?;
    cmd!(sh, "tar -C target -cJf {OUT}-{arch}.tar.xz amd-bundle").run().context("needs tar and xz")?;
    println!("{OUT}-{arch}.tar.xz: unpack it on the machine with the GPU, run ./run-amd there, and send the file that it names");
    Ok(())
}

/// The kernel of the probe that is run first, by clang.
fn probe(sh: &Shell, arch: &str, to: &str) -> Result<()> {
    sh.create_dir(to)?;
    let source = "tests/cpp/cpp/whole.cu";
    // Version 5 of code objects, which runtimes since 2022 load.
    let options = ["-std=c++17", "-O3", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib", "-nogpuinc"];
    cmd!(sh, "clang++-22 {options...} -mcode-object-version=5 --offload-arch={arch} -Iinclude {source} -o {to}/clang.co")
        .run()
        .context("`cargo xtask setup` installs clang")
}

/// What `HOSTCALL_AMD` asks of `cargo xtask test`: the probe, and if no word is torn the behaviours with few waves, on
/// the first AMD GPU or the emulator of one that a program finds here. The variable's value is the processor; 1 means
/// gfx942.
pub(crate) fn step(sh: &Shell, steps: &mut Steps) {
    let Some(wanted) = std::env::var("HOSTCALL_AMD").ok().filter(|wanted| !wanted.is_empty() && wanted != "0") else {
        println!("   not run: an AMD GPU or an emulator of one; HOSTCALL_AMD=1, or its processor as HOSTCALL_AMD=gfx942, asks for it");
        return;
    };
    let arch = if wanted == "1" { "gfx942".to_owned() } else { wanted };
    let images = super::target_directory().join("amd-probe");
    let on_device = |mut command: Command| {
        command.env("HOSTCALL_TEST_DEVICE", "hsa:0").env("HOSTCALL_TEST_FEW", "1").env("HOSTCALL_PROBE_ROUNDS", "1000");
        // One after another: an emulator has one processor for all of its waves.
        command.env("NEXTEST_TEST_THREADS", "1").env("RUST_TEST_THREADS", "1");
        command.env("HOSTCALL_WHOLE_IMAGES", &images).env("HOSTCALL_TARGETS", format!("sim,amdgpu:{arch}"));
        command
    };
    let mut whole = false;
    steps.run("AMD: words of 16 bytes cross in one piece", || {
        probe(sh, &arch, &images.display().to_string())?;
        whole = on_device(tests("--test whole")).status()?.success();
        ensure!(whole, "they are torn, or the probe did not run: nothing else is tried on this device");
        Ok(())
    });
    if whole {
        steps.tests("AMD: every behaviour, with few waves", [on_device(tests("--test behaviours"))]);
    }
}
