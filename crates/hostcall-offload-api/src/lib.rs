//! The Offload API as a C library.
//!
//! `api/OffloadAPI.td` defines the API, and `offload-tblgen` writes from it what is in [`generated`]: the types
//! ([`sys`]), the trait [`Api`] that an implementation fills, and for each function an [entry point](entry) that checks
//! its arguments, traces the call and calls the trait. What entry points need besides, and what is the same for every
//! function, is written by hand, in [`runtime`].
//!
//! `api/24/OffloadAPI.td` defines LLVM 24's API. The package `liboffload24` is these sources with `--cfg llvm24`: what
//! is generated is another set of files, and [`library`] is the same but for the functions that differ.
//!
//! A library comes of it by implementing [`Api`] and saying [`export_entry_points!`]. [`library`] is the implementation
//! over devices, [`mock`] is one for tests, and [`safe`] is the API for Rust programs that are linked to any library
//! that has it.

#[cfg(not(llvm24))]
pub mod generated;
#[cfg(llvm24)]
#[path = "generated/llvm24/mod.rs"]
pub mod generated;
pub mod library;
pub mod runtime;

pub use generated::api::{Api, HandleKind};
pub use generated::{entry, mock, replay, safe, sys};
pub use runtime::Error;
pub use sys::API_VERSION;
