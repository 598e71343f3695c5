//! C and C++ in programs: a compiler driver, and C's library.
//!
//! The *driver* (`driver`) is this program under the names `hostcall-cc` and `hostcall-c++`: clang, told what a
//! machine wants, and for a whole program the linker of programs with std. What it compiles is bitcode for GPUs and
//! machine code for the simulator, and cargo's build scripts compile with it, because the variables that they ask for
//! it name it (`stdlib::compilers`).
//!
//! C's *library* (`library`) has two halves. What needs the system or memory is `hostcall-std`, as for programs in
//! Rust. The other half is pure: numbers from texts and texts from numbers, streams, sorting, calendars, regular
//! expressions. It is musl's (`files` names what is taken), because crates in Rust that have such functions are parts
//! of it (`printf` without `scanf`, no streams) or need an unstable compiler and the system calls of this machine,
//! and because the types that programs see are musl's already. It is compiled from musl's sources, which Debian has,
//! for each machine: a device runs none of a `libc.a`.

pub(crate) mod compiler;
pub(crate) mod computed;
pub(crate) mod driver;
mod files;
pub(crate) mod library;
pub(crate) mod musl;
