//! A worker: answers the calls of the kernel in `examples/add42/kernel`, wherever that runs.
//!
//! `HOSTCALL_REMOTE=nats://127.0.0.1:4222 cargo run --release -p hostcall-examples --features remote --example worker`;
//! the example `caller` is the other side.

use std::error::Error;

use add42_services::host;
use hostcall_remote::Worker;

fn main() -> Result<(), Box<dyn Error>> {
    let worker = Worker::from_env()?
        .service(host::add42_batch(|calls| calls.answer(|(x,)| x + 42.0)))
        .service(host::log(|message: &str| println!("a kernel says: {message}")))
        .start()?;
    println!("{worker}");
    worker.run()
}
