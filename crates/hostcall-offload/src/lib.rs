//! `libhostcall_offload`: the C library.
//!
//! All of it is in `liboffload`; this package gives its entry points their C names. It is a package of its own because a Rust program that
//! uses `liboffload` may be linked to another library that has these names: LLVM's, or a mock.

liboffload::export_entry_points!(liboffload::library::Library);
