//! Why a program could not be built.

use std::fmt;
use std::path::PathBuf;

/// A piece of a toolchain that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// `cargo` and `rustc` for the host and the simulator.
    HostToolchain,
    /// A `rustc` and `cargo` that build for GPUs, with the standard library's source and LLVM's tools.
    DeviceToolchain,
    /// `ld.lld`, which links AMD code objects.
    Lld,
    /// NVIDIA's assembler.
    Ptxas,
    /// NVIDIA's linker.
    Nvlink,
    /// LLVM's headers, for the pass that instruments.
    LlvmHeaders,
    /// A compiler for it.
    CppCompiler,
    /// The compiler of C and C++, of the device toolchain's LLVM.
    Clang,
    /// musl's sources, of which C's library for devices is made.
    Musl,
}

impl Piece {
    /// What installs it.
    pub fn remedy(self) -> &'static str {
        match self {
            Piece::HostToolchain => "install Rust from https://rustup.rs, or put `cargo` on PATH",
            Piece::DeviceToolchain => {
                "run `cargo hostcall setup`; by hand: `apt-get install rustc-web cargo-web rust-web-src llvm-22 lld-22` \
                 (Debian 12 has them in bookworm-security), \
                 or `rustup toolchain install nightly --component rust-src,llvm-tools`"
            }
            Piece::Clang => "run `cargo hostcall setup`, or `apt-get install clang-22`",
            Piece::Musl => {
                "run `cargo hostcall setup`, or set HOSTCALL_MUSL_SOURCE to the directory of musl's sources, release 1.2.3 or later"
            }
            Piece::Lld => "run `cargo hostcall setup`, or `apt-get install lld-22`",
            Piece::Ptxas => {
                "run `cargo hostcall setup`, or set HOSTCALL_PTXAS to the `ptxas` of a CUDA toolkit 12.8 or 12.9 (13 no longer knows sm_70)"
            }
            Piece::Nvlink => {
                "run `cargo hostcall setup`, or set HOSTCALL_NVLINK to the `nvlink` of a CUDA toolkit that is not older than `ptxas`"
            }
            Piece::LlvmHeaders => "run `cargo hostcall setup`, or `apt-get install llvm-22-dev`",
            Piece::CppCompiler => "run `cargo hostcall setup`, or `apt-get install g++`, or set CXX",
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Piece::HostToolchain => "Rust toolchain for the host",
            Piece::DeviceToolchain => "device toolchain (rustc with rust-src, and the LLVM tools of the same version)",
            Piece::Lld => "ld.lld",
            Piece::Ptxas => "ptxas",
            Piece::Nvlink => "nvlink",
            Piece::LlvmHeaders => "LLVM headers, which `--instrument` needs,",
            Piece::CppCompiler => "C++ compiler, which `--instrument` needs,",
            Piece::Clang => "clang for the device toolchain",
            Piece::Musl => "sources of musl, the C library",
        })
    }
}

/// Why a program could not be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A piece of a toolchain is missing.
    #[error("no {piece} found{}; {}", if tried.is_empty() { String::new() } else { format!(" ({tried})") }, piece.remedy())]
    Missing {
        /// Which.
        piece: Piece,
        /// Where it was looked for and what was wrong with what was there; may be empty.
        tried: String,
    },
    /// A program could not be started.
    #[error("cannot run `{command}`: {source}")]
    Spawn {
        /// The command line.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A package does not compile.
    #[error("{said}\n{package} was not built for {target} ({status}); the command was:\n{command}")]
    Compile {
        /// The package.
        package: String,
        /// What it was to be built for.
        target: String,
        /// The compiler's errors, or cargo's.
        said: String,
        /// The command line.
        command: String,
        /// How cargo ended.
        status: std::process::ExitStatus,
    },
    /// A program failed.
    #[error("{} failed ({status}):\n{tail}\nthe command was:\n{command}", program_of(command))]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// The end of what it wrote to stderr.
        tail: String,
    },
    /// A program succeeded but its answer makes no sense.
    #[error("`{command}` printed something unexpected: {problem}")]
    Unexpected {
        /// The command line.
        command: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The directory for what is kept cannot be made: a home that is read-only, a disk that is full.
    #[error("cannot create {}: {source}; HOSTCALL_CACHE can name another directory for what is kept", path.display())]
    Cache {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A package could not be installed.
    #[error("{packages} could not be installed, which takes a network and room on the disk: {source}")]
    Install {
        /// What was wanted, with the version where there is a choice.
        packages: String,
        /// What failed.
        source: Box<BuildError>,
    },
    /// The directory is not that of a package.
    #[error("{} is not a kernel crate: {problem}", path.display())]
    NotAPackage {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The simulator's image needs functions that nobody will provide.
    #[error(
        "the simulator image of {package} needs {}, which nothing provides; a kernel crate is `#![no_std]` and uses the crate \
         `hostcall`, which brings the panic handler and the allocator", symbols.join(", ")
    )]
    UndefinedSymbols {
        /// The kernel crate.
        package: String,
        /// The functions.
        symbols: Vec<String>,
    },
    /// A kernel crate brings functions that would run when its image is loaded, and nobody could run them.
    #[error(
        "{package} brings functions that are to run when its image is loaded or let go: {}; on no device does anybody run them for \
         kernels, which have no `main` (`#[link_section = \".init_array\"]`, C's `constructor`, and C++'s variables outside of functions make \
         them): call them from a kernel, or make the crate a program with std, whose first thread runs them", functions.join(", ")
    )]
    Constructors {
        /// The kernel crate.
        package: String,
        /// The functions.
        functions: Vec<String>,
    },
    /// A patch of the overlay has no place in this compiler's std.
    #[error(
        "std of {version} is not the one that the overlay knows: patch `{patch}`, file {file}: {problem}; \
         use the Rust release that `cargo hostcall setup` installs, or set HOSTCALL_DEVICE_RUSTC to its rustc"
    )]
    Overlay {
        /// The compiler.
        version: String,
        /// The patch.
        patch: &'static str,
        /// The file, below `library`.
        file: String,
        /// Which hunk, and why.
        problem: String,
    },
    /// A program calls functions that nothing on the device provides.
    #[error(
        "{program} cannot be linked for the device: nothing there provides {}; a program has Rust's std and C's library there, and \
         what calls something else cannot be used", symbols.join(", ")
    )]
    Unresolved {
        /// The program.
        program: String,
        /// Each function and who calls it.
        symbols: Vec<String>,
    },
    /// The program that prepares std cannot be the compiler and the linker that cargo is to call.
    #[error(
        "{} does not act as `{name}`, so cargo could not call it; its `main` must begin with `hostcall_build::act_as_tool()`", program.display()
    )]
    NotATool {
        /// The program.
        program: PathBuf,
        /// The name that it was started under.
        name: String,
    },
    /// The crate has no kernel.
    #[error("{package} has no kernel; mark a public function with `#[hostcall::kernel]`")]
    NoKernel {
        /// The kernel crate.
        package: String,
    },
    /// A kernel that was to be instrumented is not there.
    #[error("there is no kernel `{kernel}` to instrument: `kernel=NAME` names a function that is marked with `#[hostcall::kernel]`")]
    NoSuchKernel {
        /// Its name.
        kernel: String,
    },
    /// What the environment asks for cannot be read.
    #[error("HOSTCALL_INSTRUMENT={text}: {source}")]
    Instrument {
        /// What was asked for.
        text: String,
        /// Why not.
        source: crate::ParseInstrumentError,
    },
    /// A target that nobody knows.
    #[error(
        "unknown target {text:?}; targets are sim, nvptx, nvptx:sm_NN, cubin:sm_NN, amdgpu, amdgpu:gfxNNN and all, separated by commas"
    )]
    UnknownTarget {
        /// What was written.
        text: String,
    },
    /// Something that only cargo sets in a build script is not set.
    #[error("{variable} is not set: `hostcall_build::program(…).emit()` is for a build.rs; elsewhere use `hostcall_build::build_program`")]
    NotABuildScript {
        /// The variable.
        variable: &'static str,
    },
}

hostcall_error::readable!(BuildError);

/// The program's name, from its command line.
fn program_of(command: &str) -> &str {
    let program = command.split(' ').next().unwrap_or(command);
    program.rsplit('/').next().unwrap_or(program)
}

impl BuildError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
        let path = path.into();
        move |source| BuildError::Io { action, path, source }
    }
}
