//! The example `training`, for as long as a test may take.
#![allow(dead_code, reason = "its `main` is not called")]

#[path = "../training/main.rs"]
mod training;

use std::time::Duration;

use hostcall::Device;
use hostcall_build::DeviceToolchain;

#[test]
fn a_training_records_losses_that_fall() {
    if let Err(error) = DeviceToolchain::find() {
        return println!("not run: {error}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let device = Device::open("sim").expect("the simulator");
    let (first, last) = training::train(&device, &dir.path().join("run.hcs"), Duration::from_secs(1)).expect("it trains");
    assert!(first > 0.1 && last < first, "{first} {last}");
}
