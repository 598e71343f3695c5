//! What cannot be `Plain`, as far as the tokens show.

use hostcall_macros::Plain;

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
pub struct NoRepr {
    a: u32,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(u32)]
pub enum Enumeration {
    A,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub union Union {
    a: u32,
    b: f32,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Generic<T> {
    a: T,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(crate = hostcall_abi)]
#[repr(C)]
pub struct Argument {
    a: u32,
}

fn main() {}
