//! Lanes that greet: `cargo hostcall run --block 4 examples/hello hello`.
#![no_std]

use hostcall::prelude::*;
use hostcall::{env, time::Instant};

/// Every lane says hello; the first one reads the run's arguments, and says how long that took.
#[kernel]
pub fn hello() -> Result<(), CallError> {
    println!("hello from lane {} of {}", global_id(), global_size());
    if global_id() == 0 {
        let started = Instant::now();
        let arguments = env::args()?;
        println!("and hello, {:?}: asking the host for you took {:?}", &arguments[1..], started.elapsed());
    }
    Ok(())
}
