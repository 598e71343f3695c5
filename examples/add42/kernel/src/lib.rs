//! Lanes that ask the host to add 42: launched by `cargo run -p hostcall-examples --example add42`.
#![no_std]

use add42_services::Host;
use hostcall::CallError;
use hostcall::prelude::*;

/// Adds 42 to every element.
#[kernel]
pub fn demo(y: &mut [f32]) -> Result<(), CallError> {
    let i = global_id();
    if i < y.len() {
        y[i] = Host::add42(y[i])?;
        println!("lane {i}: {}", y[i]);
    }
    if i == 0 {
        Host::log("the first lane is done")?;
    }
    Ok(())
}
