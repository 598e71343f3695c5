//! `cargo xtask gpu-bundle`: a folder with the tests and benchmarks, to be carried to a machine with a GPU that has
//! neither Rust nor a network.

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

/// The folder, below the repository's root.
const OUT: &str = "target/gpu-bundle";
/// The most that its archive may weigh.
const LIMIT: u64 = 60 << 20;

/// The executables in it.
const NAMES: [&str; 7] = ["cargo-hostcall", "hostcall-bench", "soak", "behaviours", "cuda_smoke", "std-programs", "std-kernels"];

/// Builds and copies everything.
pub(crate) fn make(sh: &Shell) -> Result<()> {
    // First: what is missing after half an hour of compiling was missing before.
    ready(sh)?;
    sh.remove_path(OUT)?;
    sh.create_dir(OUT)?;
    // Bundles must hold the GPU images: without the device toolchain this is an error, not a smaller bundle.
    let build = |targets: &str, flags: &str, what: &[&str]| -> Result<String> {
        let build = cmd!(sh, "cargo build --release --message-format=json-render-diagnostics {what...}");
        Ok(build.env("HOSTCALL_TARGETS", targets).env("HOSTCALL_PTXAS_FLAGS", flags).read()?)
    };
    // Programs carry machine code, so that nothing is compiled there; the tests' is optimised little, which is a matter
    // of seconds instead of minutes.
    let mut json = build("sim,nvptx,cubin:sm_90", "", &["--package", "cargo-hostcall", "--package", "hostcall-bench", "--bins"])?;
    let command = executable(&json, "cargo-hostcall").context("cargo built no command line")?;
    let tests = ["--package", "hostcall-tests", "--features", "hostcall-tests/sinks", "--bins", "--test", "behaviours"];
    json += &build("sim,nvptx,cubin:sm_90", "--Ofast-compile=max", &tests)?;
    // With the command line's targets, so that its kernels are not built once more.
    json += &build("sim,nvptx,cubin:sm_90", "", &["--package", "cargo-hostcall", "--test", "programs", "--test", "kernels"])?;
    json += &build("sim", "", &["--package", "hostcall-platform", "--example", "cuda_smoke"])?;
    for (name, path) in executables(&json).into_iter().filter(|(name, _)| NAMES.contains(&name.as_str())) {
        let to = format!("{OUT}/{name}");
        sh.copy_file(&path, &to)?;
        cmd!(sh, "strip {to}").quiet().run().context("needs binutils")?;
    }
    for name in NAMES {
        ensure!(sh.path_exists(format!("{OUT}/{name}")), "cargo built no {name}");
    }
    programs(sh, OUT, &command, "cubin:sm_90")?;
    crate::offload::bundle(sh, OUT)?;
    crate::cpp_bundle::bundle(sh, OUT)?;
    crate::python_bundle::bundle(sh, OUT)?;
    probe(sh, OUT)?;
    // For the behaviours of streams that go to JetStream.
    sh.copy_file("target/debian/usr/sbin/nats-server", OUT).context("`cargo xtask setup` unpacks it")?;
    scripts(
        sh,
        &[
            "run-tests",
            "run-bench",
            "run-offload",
            "run-cpp",
            "run-python",
            "run-beside",
            "beside.py",
            "run-probe",
            "probe.py",
            "probed.cu",
        ],
    )?;
    sh.copy_file("LICENSE-APACHE", format!("{OUT}/sample.txt"))?;
    cmd!(sh, "tar -C target -cJf {OUT}.tar.xz gpu-bundle").run().context("needs tar and xz")?;
    let bytes = std::fs::metadata(format!("{OUT}.tar.xz"))?.len();
    ensure!(bytes <= LIMIT, "{OUT}.tar.xz weighs {bytes} bytes, more than {LIMIT}");
    println!(
        "{OUT}.tar.xz: {:.1} MiB; unpack it there, and run ./run-tests, ./run-cpp, ./run-python, ./run-beside, ./run-probe and ./run-bench in it",
        bytes as f64 / f64::from(1 << 20)
    );
    Ok(())
}

/// What `cargo hostcall probe` needs where nothing can be compiled: the library that it preloads, beside the command
/// line, and hostcall's functions as PTX.
fn probe(sh: &Shell, out: &str) -> Result<()> {
    cmd!(sh, "cargo build --release --package hostcall-probe").run()?;
    let library = crate::target_directory().join("release/libhostcall_probe.so");
    sh.copy_file(library, format!("{out}/libhostcall_probe.so"))?;
    cmd!(sh, "strip --strip-unneeded {out}/libhostcall_probe.so").quiet().run()?;
    sh.write_file(format!("{out}/hostcall.ptx"), hostcall_build::ptx::Library::text_of_device()?)?;
    Ok(())
}

/// Installs what the bundle is made with, and says at once what cannot be had.
fn ready(sh: &Shell) -> Result<()> {
    crate::test::setup_all(sh)?;
    let missing: Vec<_> = ["strip", "tar", "xz"]
        .into_iter()
        .filter(|program| cmd!(sh, "{program} --version").quiet().ignore_stdout().ignore_stderr().run().is_err())
        .collect();
    ensure!(missing.is_empty(), "a bundle is made with {}: install them first", missing.join(", "));
    Ok(())
}

/// The part that tests the Offload API's C library, alone.
pub(crate) fn offload(sh: &Shell) -> Result<()> {
    sh.create_dir(OUT)?;
    crate::offload::bundle(sh, OUT)?;
    scripts(sh, &["run-offload"])?;
    println!("{OUT}: run ./run-offload there");
    Ok(())
}

/// The part that tests and measures kernels in C++ and hosts in C, alone.
pub(crate) fn cpp(sh: &Shell) -> Result<()> {
    sh.create_dir(OUT)?;
    crate::cpp_bundle::bundle(sh, OUT)?;
    scripts(sh, &["run-cpp"])?;
    println!("{OUT}: run ./run-cpp there");
    Ok(())
}

/// The part that tests and measures the Python package, alone.
pub(crate) fn python(sh: &Shell) -> Result<()> {
    sh.create_dir(OUT)?;
    crate::python_bundle::bundle(sh, OUT)?;
    scripts(sh, &["run-python"])?;
    println!("{OUT}: run ./run-python there");
    Ok(())
}

/// Programs of the registry, alone.
pub(crate) fn registry(sh: &Shell) -> Result<()> {
    sh.create_dir(OUT)?;
    crate::registry_bundle::bundle(sh, OUT)?;
    scripts(sh, &["run-registry"])?;
    println!("{OUT}: run ./run-registry there");
    Ok(())
}

fn scripts(sh: &Shell, names: &[&str]) -> Result<()> {
    for script in names {
        sh.copy_file(format!("xtask/gpu-bundle/{script}"), format!("{OUT}/{script}"))?;
        cmd!(sh, "chmod +x {OUT}/{script}").quiet().run()?;
    }
    Ok(())
}

/// Those of `tests/programs/` whose results are compared with this machine's.
const HERE: [&str; 8] = ["checksum", "csv2json", "numbers", "printed", "search", "streams", "unixfs", "wordcount"];

/// Those of `tests/programs/` that `bench --std` takes.
const MEASURED: [&str; 2] = ["--package=costs", "--package=lines"];

/// What the tests of `tests/programs/` need where nothing can be built: images, the same programs for this machine, and
/// files to read.
pub(crate) fn programs(sh: &Shell, out: &str, command: &str, target: &str) -> Result<()> {
    let (to, here) = (format!("{out}/programs"), format!("{out}/programs/here"));
    sh.create_dir(&here)?;
    let build = ["hostcall", "build", "--release", "--manifest-path", "tests/programs/Cargo.toml", "--for", target, "--output"];
    // Optimised little, like the other tests: the library of tests alone takes minutes otherwise. What is measured is
    // optimised in full.
    let little = "--Ofast-compile=max";
    for (flags, more) in [(little, &[][..]), (little, &["--tests", "--package=tested"]), ("", &MEASURED)] {
        cmd!(sh, "{command} {build...} {to} {more...}").env("HOSTCALL_PTXAS_FLAGS", flags).run()?;
    }
    let packages = HERE.map(|name| format!("--package={name}"));
    cmd!(sh, "cargo build --release --manifest-path tests/programs/Cargo.toml --target-dir tests/programs/target {packages...}").run()?;
    for name in HERE {
        sh.copy_file(format!("tests/programs/target/release/{name}"), &here)?;
        cmd!(sh, "strip {here}/{name}").quiet().run()?;
    }
    sh.create_dir(format!("{out}/docs"))?;
    for file in sh.read_dir("docs/reference")?.iter().filter(|file| file.extension().is_some_and(|extension| extension == "md")) {
        sh.copy_file(file, format!("{out}/docs"))?;
    }
    Ok(())
}

/// The path of an executable in cargo's messages.
pub(crate) fn executable(json: &str, name: &str) -> Option<String> {
    executables(json).into_iter().find(|(found, _)| found == name).map(|(_, path)| path)
}

/// Names and paths of the executables in cargo's messages.
pub(crate) fn executables(json: &str) -> Vec<(String, String)> {
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
        // The directory `programs` has what they run.
        .map(|(name, path)| (if ["programs", "kernels"].contains(&&*name) { format!("std-{name}") } else { name }, path))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{HERE, NAMES};

    #[test]
    fn what_scripts_start_of_the_workspaces_is_in_the_bundle() {
        let mut all = BTreeSet::new();
        for script in ["run-tests", "run-bench", "run-offload", "run-cpp", "run-python", "run-beside"] {
            let text = std::fs::read_to_string(crate::root().join("xtask/gpu-bundle").join(script)).unwrap();
            let words = text.split(|c: char| c.is_whitespace() || "\"'()".contains(c)).filter_map(|word| word.rsplit_once("./"));
            let started = words.map(|(_, name)| name).filter(|name| name.starts_with("hostcall-") || name.starts_with("cargo-"));
            all.extend(started.map(str::to_owned));
        }
        assert_eq!(all.iter().map(String::as_str).collect::<Vec<_>>(), ["cargo-hostcall", "hostcall-bench"]);
        assert!(all.iter().all(|name| NAMES.contains(&&**name)), "{all:?}");
    }

    #[test]
    fn what_the_tests_of_programs_start_on_this_machine_is_in_the_bundle() {
        let tests = include_str!("../../crates/cargo-hostcall/tests/programs.rs");
        // The first text of a call that is no path of a directory.
        let name = |call: &'static str| call.split('"').skip(1).step_by(2).find(|text| *text != ".");
        let started: BTreeSet<&str> = tests.split(" on_this_machine(").skip(1).filter_map(name).collect();
        assert_eq!(started, BTreeSet::from(HERE));
    }
}
