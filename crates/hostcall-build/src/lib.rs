//! Builds a kernel crate into a [`ProgramBundle`]: one image for the simulator, and one for each kind of GPU.
//!
//! A kernel crate is an ordinary `#![no_std]` library. The simulator's image is the same code compiled by the stable
//! toolchain that builds the host, as a shared library. GPU images need a *second* toolchain, one that may use
//! unstable features and has the standard library's source ([`DeviceToolchain`]); it builds the crate and all that it
//! depends on to unoptimised bitcode, and this crate takes it from there: link, mark everything convergent, drop what
//! no kernel reaches, optimise, and generate code.
//!
//! * [`program`]: for a `build.rs`; what it emits, `offload::include_program!` includes.
//! * [`build_program`]: for tools.
//! * [`std_program`], [`build_std_program`] and [`Sysroot`]: the same for ordinary programs, with `fn main()` and std.
//! * [`doctor`](doctor()) and [`setup`](setup()): which pieces this machine has, and installing those it lacks.
//! * [`ptx`]: PTX that other compilers made, with hostcall's calls put into it; and reading PTX text, for tests that
//!   check what a kernel was compiled to.
//!
//! Nothing here runs in a kernel or serves one.

mod amdgpu;
mod at_once;
mod atomics;
mod bitcode;
mod build;
mod cache;
mod cargo;
mod command;
mod constructors;
mod context;
mod copies;
mod corelib;
mod cuda;
mod doctor;
mod error;
mod flags;
mod gpu;
mod instrument;
mod lanes;
mod module;
mod nvlink;
mod nvptx;
mod one_package;
mod panics;
mod parts;
mod probe;
mod progress;
pub mod ptx;
mod ptxas;
mod recipe;
mod said;
mod script;
mod setup;
mod shared_stacks;
mod sim;
mod source;
mod statics;
mod stdlib;
mod symbols;
mod target;
mod timings;
mod toolchain;
mod words;

pub use build::{BuiltProgram, build_program};
pub use context::ProgramSpec;
pub use doctor::{Check, Importance, doctor};
pub use error::{BuildError, Piece};
pub use instrument::{INSTRUMENT_VARIABLE, INSTRUMENTED_DIR, Instrument, ParseInstrumentError};
pub use offload_image::{Image, ImageKind, ProgramBundle};
pub use progress::PROGRESS_VARIABLE;
pub use ptxas::{Ptxas, assemble_all, assemble_as_built, assemble_cached, assemble_quickly, note_arch, noted_arch};
pub use script::{Program, program, std_program};
pub use setup::{SetupReport, setup};
pub use source::beside;
pub use stdlib::c::driver::compile as compile_c;
pub use stdlib::{
    Machine, SUFFIX, Setting, Sysroot, act_as_tool, apply_overlay, build_std_program, is_test_harness, linked_runtime, overlay_identity,
    runtime_state,
};
pub use target::{AMDGPU_ARCHES, AMDGPU_GENERIC, NVPTX_ARCH, PTX_VERSION, Target};
pub use toolchain::{DeviceToolchain, HostToolchain};
