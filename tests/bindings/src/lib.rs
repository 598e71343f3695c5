//! Tests of `hostcall-idl` that need more than it: the macros' definitions, the language's layouts, and compilers of
//! other languages.
//!
//! They are in `tests/`. `tests/odd` and `tests/echo` are files of services that are compiled as Rust, and read.
