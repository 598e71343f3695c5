//! `cargo xtask gpu-bundle`: a folder with the tests and benchmarks, to be carried to a machine with a GPU that has
//! neither Rust nor a network.

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// The folder, below the repository's root.
const OUT: &str = "target/gpu-bundle";
/// The most that it may weigh.
const LIMIT: u64 = 60 << 20;

/// Builds and copies everything.
pub(crate) fn make(sh: &Shell) -> Result<()> {
    sh.remove_path(OUT)?;
    sh.create_dir(OUT)?;
    // Bundles must hold the GPU images: without the device toolchain this is an error, not a smaller bundle.
    let build = |targets: &str, flags: &str, what: &[&str]| -> Result<String> {
        let build = cmd!(sh, "cargo build --release --message-format=json-render-diagnostics {what...}");
        Ok(build.env("HOSTCALL_TARGETS", targets).env("HOSTCALL_PTXAS_FLAGS", flags).read()?)
    };
    // Programs carry machine code, so that nothing is compiled there; the tests' is optimised little, which is a matter of seconds instead
    // of minutes.
    let mut json = build("sim,nvptx,cubin:sm_90", "", &["--package", "cargo-hostcall", "--bins"])?;
    let tests = ["--package", "hostcall-tests", "--bins", "--test", "behaviours"];
    json += &build("sim,nvptx,cubin:sm_90", "--Ofast-compile=max", &tests)?;
    json += &build("sim", "", &["--package", "offload", "--example", "cuda_smoke"])?;
    let mut taken = 0;
    for (name, path) in executables(&json) {
        let to = format!("{OUT}/{name}");
        sh.copy_file(&path, &to)?;
        cmd!(sh, "strip {to}").quiet().run().context("needs binutils")?;
        taken += 1;
    }
    ensure!(taken >= 4, "expected the command line, the soak, the behaviours and the smoke test among the built programs; found {taken}");
    for script in ["run-tests", "run-bench"] {
        sh.copy_file(format!("xtask/gpu-bundle/{script}"), format!("{OUT}/{script}"))?;
        cmd!(sh, "chmod +x {OUT}/{script}").quiet().run()?;
    }
    sh.copy_file("LICENSE-APACHE", format!("{OUT}/sample.txt"))?;
    let bytes: u64 = sh.read_dir(OUT)?.iter().map(|file| std::fs::metadata(file).map_or(0, |m| m.len())).sum();
    ensure!(bytes <= LIMIT, "the bundle weighs {bytes} bytes, more than {LIMIT}");
    println!("{OUT}: {taken} programs, {:.1} MiB; run ./run-tests and ./run-bench there", bytes as f64 / f64::from(1 << 20));
    Ok(())
}

/// Names and paths of the executables in cargo's messages.
fn executables(json: &str) -> Vec<(String, String)> {
    let field = |line: &str, name: &str| -> Option<String> {
        let start = line.find(&format!("\"{name}\":\""))? + name.len() + 4;
        Some(line[start..].split('"').next()?.to_owned())
    };
    json.lines()
        .filter_map(|line| {
            let path = field(line, "executable")?;
            let stem = std::path::Path::new(&path).file_name()?.to_str()?;
            // Tests carry a hash: `behaviours-0123456789abcdef`.
            let name = match stem.rsplit_once('-') {
                Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name,
                _ => stem,
            };
            Some((name.to_owned(), path))
        })
        .filter(|(name, _)| ["cargo-hostcall", "soak", "behaviours", "cuda_smoke"].contains(&name.as_str()))
        .collect()
}
