//! What cannot be `Plain`, as the compiler finds.

use hostcall_macros::Plain;

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Padded {
    a: u8,
    b: u32,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C, align(16))]
pub struct Tail {
    a: u64,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Pointing {
    length: u64,
    address: *const u8,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Flagged {
    flag: bool,
}

#[derive(Clone, Copy, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct Borrowing {
    name: &'static str,
}

#[derive(Clone, Plain)]
#[hostcall(krate = hostcall_abi)]
#[repr(C)]
pub struct NotCopy {
    a: u32,
}

fn main() {}
