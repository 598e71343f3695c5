//! Parameters and results that only the compiler can judge.
#![allow(dead_code, unused_imports, unused_macros, missing_docs, reason = "stand-ins")]

#[path = "../mock/device.rs"]
mod device;

use hostcall_macros::kernel;

#[kernel(krate = crate::device)]
pub fn string(_name: String) {}

#[kernel(krate = crate::device)]
pub fn number(x: u32) -> u32 {
    x
}

pub struct Silent;

#[kernel(krate = crate::device)]
pub fn silent() -> Result<(), Silent> {
    Err(Silent)
}

fn main() {}
