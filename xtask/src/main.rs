//! What developers of this repository run: `cargo xtask COMMAND`.

mod abi_header;
mod amd_bundle;
mod api;
mod arm;
mod bundle;
mod c_suites;
mod checks;
mod cpp_bundle;
mod cuda;
mod cudarc;
mod debian;
mod dist;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod errors;
mod figures;
mod gallery;
mod generated;
#[cfg(test)]
mod house;
mod locks;
mod mutants;
mod offload;
mod python;
mod python_bundle;
mod registry_bundle;
mod release;
mod rust_tests;
mod sanitize;
mod scarcity;
mod site;
mod steps;
mod tablegen;
mod test;
mod uutils;
mod ways;
mod wheel;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use xshell::Shell;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "What developers of the hostcall repository run")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install what the tests need, then run everything that runs without a GPU
    Test {
        /// Only unit tests and the behaviours, on the simulator: some minutes. Installs nothing
        #[arg(long)]
        quick: bool,
        /// Install nothing; what is missing is skipped, and said
        #[arg(long)]
        no_setup: bool,
        /// Also what takes longer than it has ever been worth between releases: every architecture, every program and
        /// crate of the registry, and `arm`
        #[arg(long, conflicts_with = "quick")]
        all: bool,
    },
    /// Install what the tests need, and unpack what they compare with
    Setup,
    /// Everything CI checks: `test`, formatting, clippy, rustdoc
    Ci,
    /// The loom models of the port, and the weakened ones that must fail
    Loom,
    /// Run the fuzz targets, each for some time
    Fuzz {
        /// Seconds for each target
        #[arg(long, default_value_t = 600)]
        seconds: u32,
        /// Only this target
        target: Option<String>,
    },
    /// Break rules of what guards the host, one after another, and say which tests notice; needs cargo-mutants, and
    /// hours. What is known is kept: a run that was interrupted goes on
    Mutants(mutants::Arguments),
    /// The Offload API's C programs on the processor, the tests of the packet library (`amd-hostcall`), and hosts in C
    /// and C++ over `libhostcall`, under the sanitizers; needs nightly with `rust-src`, and clang-22
    Sanitize {
        /// Only this one: `address` or `thread`
        kind: Option<String>,
        /// The Offload API's C programs alone
        #[arg(long)]
        offload: bool,
    },
    /// Many calls from all waves, with faults injected; nothing may be lost, doubled or corrupted
    Soak {
        /// Calls to make
        #[arg(long, default_value_t = 1_000_000)]
        calls: u64,
        /// Send so many values by message streams, instead of calls
        #[arg(long, conflicts_with = "calls")]
        stream_values: Option<u64>,
        /// `sim`, `cuda:N`
        #[arg(long, default_value = "sim")]
        device: String,
        /// Stop after so many seconds, however many calls were made
        #[arg(long)]
        seconds: Option<u64>,
    },
    /// Every behaviour on the simulator with few ports and few staging slots, on fibers, on threads and with seeds:
    /// hours
    Scarcity(scarcity::Arguments),
    /// Make `target/gpu-bundle/`: tests and benchmarks that need neither Rust nor a network where they run
    GpuBundle {
        /// For an AMD GPU: its processor, as `gfx942`. Makes `target/amd-bundle/` instead
        #[arg(long, value_name = "GFX", num_args = 0..=1, default_missing_value = "gfx942")]
        amd: Option<String>,
    },
    /// Make the part of `target/gpu-bundle/` that tests the Offload API's C library, alone
    OffloadBundle,
    /// Make the part of `target/gpu-bundle/` with kernels in C++ and hosts in C, alone
    CppBundle,
    /// Make the part of `target/gpu-bundle/` with the Python package, alone
    PythonBundle,
    /// Make the part of `target/gpu-bundle/` with programs of the registry, alone (it is no part of the whole, which
    /// would be too large)
    RegistryBundle,
    /// Rust's own tests of `core`, `alloc` and `std`, on a device
    RustTests(rust_tests::Arguments),
    /// Use popular crates of the registry on a device and here, and compare
    Crates {
        /// `sim`, `cuda:N`
        #[arg(long, default_value = "sim")]
        device: String,
    },
    /// uutils' own tests of their tools, against the tools as programs of a device
    Uutils(uutils::Arguments),
    /// The speed of `tablegen` beside that of `llvm-tblgen-22`
    BenchTablegen {
        /// Size of the generated source
        #[arg(long, default_value_t = 5)]
        megabytes: usize,
        /// Runs of each tool; the fastest counts
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// Write the files that are made from the Offload API's definitions
    Generate {
        /// Write nothing; fail if a file would change
        #[arg(long)]
        check: bool,
        /// Also write the record of the ABI, which otherwise has to stay as it is
        #[arg(long)]
        accept_abi: bool,
    },
    /// Write `include/hostcall_abi.h`, the numbers of the wire for C and C++ (part of `generate`)
    AbiHeader {
        /// Write nothing; fail if it would change
        #[arg(long)]
        check: bool,
    },
    /// Build the wheel of the Python package into `target/wheels`
    Wheel {
        /// Fast to build and slow to run, as the tests have it
        #[arg(long)]
        debug: bool,
        /// For other processors: `aarch64-unknown-linux-gnu`, which needs `rustup target add` and the package
        /// `gcc-aarch64-linux-gnu`
        #[arg(long)]
        target: Option<String>,
    },
    /// Build the wheel, install it into an environment of its own, and run the Python package's tests
    TestPython {
        /// Further interpreters with which to run those tests that need no other package's kernels: `--with
        /// /usr/bin/python3.13`
        #[arg(long)]
        with: Vec<std::path::PathBuf>,
    },
    /// Put the figures of a `run-bench` of the GPU bundle into the documentation
    Figures {
        /// Where it left `bench.md`, `bench.json` and the plots
        results: std::path::PathBuf,
    },
    /// Package the crates that are published, install the command line from these packages into an empty home, and use
    /// it there; without `--dry-run` also publish them: some 15 minutes
    Release(release::Arguments),
    /// Make `target/dist/`, for people without Rust: an archive with libraries, headers and the command line, and
    /// packages for Debian. They need a libc of 2018, and no more
    Dist(dist::Arguments),
    /// Compare the faces that others write against with what `xtask/api` has of them: public items of crates, functions
    /// of libraries in C
    Api {
        /// Write them there: look at the difference before you commit it
        #[arg(long)]
        bless: bool,
    },
    /// Tests for hosts with AArch64 processors, on this one: QEMU runs them
    Arm {
        /// Only the wheel, which a Python for such machines uses
        #[arg(long)]
        python: bool,
    },
    /// Make `target/site`, the book and the API's pages, and check it: links, pages on a phone, plots in dark themes
    Site(site::Arguments),
    /// Make the pictures of `docs/gallery` again, by what they show: all, or these
    Gallery {
        /// `heat-map` and so on, as the page `docs/guide/gallery.md` has it
        pictures: Vec<String>,
    },
    /// Licences, bans and advisories (needs a network that reaches the advisory database)
    Audit,
    /// Rewrite golden files (UI tests, snapshots)
    Bless,
}

fn main() -> Result<ExitCode> {
    // `setup` prepares std, and so cargo and rustc may know this program by other names.
    if let Some(code) = hostcall_build::act_as_tool() {
        return Ok(code);
    }
    if let Some(code) = uutils::act_as_tool()? {
        return Ok(code);
    }
    let cli = Cli::parse();
    let sh = Shell::new()?;
    sh.change_dir(root());
    match cli.command {
        Command::Test { quick: true, .. } => test::run(&sh, test::Extent::Quick),
        Command::Test { all: true, no_setup, .. } => test::all(&sh, !no_setup),
        Command::Test { no_setup, .. } => test::run(&sh, test::Extent::Whole { install: !no_setup }),
        Command::Setup => test::setup(&sh, true),
        Command::Ci => checks::ci(&sh),
        Command::Loom => {
            let mut steps = steps::Steps::begin();
            steps.tests("loom", test::loom());
            steps.finish()
        }
        Command::Fuzz { seconds, target } => checks::fuzz(&sh, seconds, target.as_deref()),
        Command::Mutants(arguments) => mutants::run(&sh, &arguments),
        Command::Api { bless } => api::run(&sh, bless),
        Command::Arm { python } => arm::run(&sh, python),
        Command::Dist(arguments) => dist::run(&sh, &arguments),
        Command::Gallery { pictures } => gallery::run(&sh, &pictures),
        Command::Site(arguments) => site::run(&sh, &arguments),
        Command::Release(arguments) => release::run(&sh, &arguments),
        Command::Sanitize { kind, offload } => {
            offload::sanitize(&sh, kind.as_deref())?;
            if offload { Ok(()) } else { sanitize::run(kind.as_deref()) }
        }
        Command::Soak { calls, stream_values, device, seconds } => checks::soak(&sh, calls, stream_values, &device, seconds),
        Command::Scarcity(arguments) => scarcity::run(&arguments),
        Command::GpuBundle { amd: None } => bundle::make(&sh),
        Command::GpuBundle { amd: Some(arch) } => amd_bundle::make(&sh, &arch),
        Command::OffloadBundle => bundle::offload(&sh),
        Command::CppBundle => bundle::cpp(&sh),
        Command::PythonBundle => bundle::python(&sh),
        Command::RegistryBundle => bundle::registry(&sh),
        Command::RustTests(arguments) => rust_tests::run(&sh, &arguments),
        Command::Crates { device } => checks::crates(&sh, &device),
        Command::Uutils(arguments) => uutils::run(&sh, &arguments),
        Command::BenchTablegen { megabytes, runs } => tablegen::bench(&sh, megabytes, runs),
        Command::Generate { check, accept_abi } => generated::run(&sh, check, accept_abi),
        Command::AbiHeader { check } => abi_header::run(&sh, check),
        Command::Wheel { debug, target } => {
            let target = target.as_deref();
            let wheel = wheel::check(target).and_then(|()| python::packages(&sh)).and_then(|()| wheel::build(&sh, debug, target));
            wheel.map(|wheel| println!("{}", wheel.display()))
        }
        Command::TestPython { with } => {
            let mut steps = steps::Steps::begin();
            steps.run("Python's packages", || python::packages(&sh));
            wheel::steps(&sh, &mut steps, &with);
            steps.finish()
        }
        Command::Figures { results } => figures::run(&results),
        Command::Audit => checks::audit(&sh),
        Command::Bless => checks::bless(&sh),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The repository's root.
fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_path_buf()
}

/// The variable by which cargo is told something of a target: its `LINKER`, its `RUNNER`.
fn target_variable(triple: &str, what: &str) -> String {
    format!("CARGO_TARGET_{}_{what}", triple.to_uppercase().replace('-', "_"))
}

/// Where cargo builds.
fn target_directory() -> std::path::PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}
