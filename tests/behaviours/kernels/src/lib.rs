//! Kernels of the behaviour tests. Each module belongs to the test file of the same name in
//! `tests/behaviours/tests/behaviours/`.
#![no_std]

extern crate alloc;

/// As Rust's, but it says only where: with the two values written as text, each kernel would be ten times as large.
macro_rules! assert_eq {
    ($left:expr, $right:expr $(, $($what:tt)+)?) => {
        assert!($left == $right)
    };
}

mod files;
mod fleet;
mod granularity;
mod library;
mod lifecycle;
mod modes;
mod print;
mod soak;
mod soak_streams;
mod stranger;
mod stream_bytes;
mod stream_gates;
mod stream_handlers;
mod stream_latest;
mod stream_sites;
mod streams;
mod together;
mod transport;
mod typed;

/// What an error is reported as in a `u64` result: the status above, its detail below.
fn code(error: hostcall::CallError) -> u64 {
    let (status, detail) = error.to_status();
    u64::from(status.0) << 32 | u64::from(detail)
}
