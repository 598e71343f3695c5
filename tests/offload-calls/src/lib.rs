//! Kernels that call the host while they run: printing, files, a service of the program's, and a panic.
#![no_std]

use add42_services::Host;
use hostcall::fs::{self, File};
use hostcall::prelude::*;

/// Every item says which one it is.
#[kernel]
pub fn greet() {
    println!("hello from item {}", global_id());
}

/// Adds 42 to every element, as the host does.
#[kernel]
pub fn ask(y: &mut [f32]) -> Result<(), CallError> {
    let i = global_id();
    if i < y.len() {
        y[i] = Host::add42(y[i])?;
    }
    if i == 0 {
        Host::log("asked")?;
    }
    Ok(())
}

/// Writes a file.
#[kernel]
pub fn keep() -> Result<(), fs::Error> {
    if global_id() == 0 {
        File::create("w/kept.txt")?.write_all(b"kept by a kernel\n")?;
    }
    Ok(())
}

/// One item panics.
#[kernel]
pub fn give_up(item: u32) {
    assert!(global_id() != item as usize, "item {item} gives up");
}
