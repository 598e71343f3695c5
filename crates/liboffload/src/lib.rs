//! The Offload API as a C library.
//!
//! `api/OffloadAPI.td` defines the API, and `offload-tblgen` writes from it what is in [`generated`]: the types ([`sys`]), the trait [`Api`] that an
//! implementation fills, and for each function an [entry point](entry) that checks its arguments, traces the call and calls the trait. What
//! entry points need besides, and what is the same for every function, is written by hand, in [`runtime`].
//!
//! A library comes of it by implementing [`Api`] and saying [`export_entry_points!`]. [`library`] is the implementation over devices, [`mock`] is
//! one for tests, and [`safe`] is the API for Rust programs that are linked to any library that has it.

pub mod generated;
pub mod library;
pub mod runtime;

/// The version of LLVM whose API this is.
pub const API_VERSION: u32 = 23;

pub use generated::api::{Api, HandleKind};
pub use generated::{entry, mock, replay, safe, sys};
pub use runtime::Error;
