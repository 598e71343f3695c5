//! What cannot be a stream.

use hostcall_macros::stream;

#[stream(krate = hostcall_abi)]
#[derive(Clone, Copy)]
#[repr(C)]
struct Private {
    value: u32,
}

#[stream(krate = hostcall_abi)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Generic<T> {
    value: T,
}

#[stream(krate = hostcall_abi)]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Nothing;

#[stream(krate = hostcall_abi)]
pub enum Choice {
    One,
}

#[stream(krate = hostcall_abi, policy = "later")]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Unknown {
    value: u32,
}

fn main() {}
