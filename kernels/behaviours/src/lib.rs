//! Kernels of the behaviour tests. Each module belongs to the test file of the same name in
//! `crates/hostcall-tests/tests/behaviours/`.
#![no_std]

mod library;
mod typed;
