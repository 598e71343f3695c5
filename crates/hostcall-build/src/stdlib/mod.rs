//! Programs with std: an ordinary `fn main()`, compiled for a device.
//!
//! std is built for a *machine* ([`Machine`]) once, with a small [overlay], into a [`Sysroot`]; cargo then builds
//! programs with that sysroot's compiler and linker, which are this very program under other names ([`act_as_tool`]).
//! What comes out is a bundle that a device loads like any other.

pub(crate) mod act;
pub(crate) mod c;
mod compilers;
mod foreign;
mod known;
mod linker;
mod machine;
mod math;
mod natives;
mod overlay;
mod prepare;
mod program;
mod registry;
mod runtime;
pub(crate) mod shorten;
mod sysroot;
mod tools;
mod unwinding;
mod variadic;
mod wrapper;

pub use act::act_as_tool;
pub use linker::{is_test_harness, linked_runtime};
pub use machine::{Machine, SUFFIX};
pub use natives::Setting;
pub use overlay::{apply as apply_overlay, identity as overlay_identity};
pub use program::build_std_program;
pub use runtime::runtime_state;
pub use sysroot::Sysroot;
