//! Every behaviour on the simulator with few ports and few staging slots: what hangs is a fault.
//!
//! A run is one choice of ports, slots and device: lanes as fibers on as many threads as there are, lanes as threads,
//! or one thread and a seed. What a test cannot do without it gets all the same (`hostcall_tests::with_ports`). nextest
//! ends a test that hangs, and says which.

use clap::Parser;

use super::steps::Steps;
use super::test::tests;

#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// Seeds for each number of ports and slots
    #[arg(long, default_value_t = 20)]
    seeds: u32,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u32,
    /// Ports of a buffer
    #[arg(long, value_delimiter = ',', default_values_t = [1, 3, 64])]
    ports: Vec<u32>,
    /// Staging slots of a buffer
    #[arg(long, value_delimiter = ',', default_values_t = [2, 8])]
    slots: Vec<u32>,
    /// Only tests with this in their names
    #[arg(long, default_value = "")]
    only: String,
}

/// The whole matrix, or what the arguments leave of it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut steps = Steps::begin();
    let seeds = (arguments.first..).take(arguments.seeds as usize).map(|seed| format!("sim:seed={seed}"));
    let devices: Vec<String> = ["sim", "sim:threads"].map(str::to_owned).into_iter().chain(seeds).collect();
    for &ports in &arguments.ports {
        for &slots in &arguments.slots {
            step(&mut steps, ports, slots, &devices, &arguments.only);
        }
    }
    steps.finish()
}

/// A part of it that takes minutes.
pub(crate) fn some(steps: &mut Steps) {
    step(steps, 1, 2, &["sim".to_owned()], "");
    step(steps, 3, 8, &["sim:seed=1".to_owned()], "");
}

fn step(steps: &mut Steps, ports: u32, slots: u32, devices: &[String], only: &str) {
    let name = format!("every behaviour with {ports} ports and {slots} staging slots, on {}", devices.join(", "));
    let run = |device: &String| {
        let mut command = tests(&format!("--test behaviours {only}"));
        command.env("HOSTCALL_TEST_DEVICE", device);
        command.env("HOSTCALL_TEST_PORTS", ports.to_string()).env("HOSTCALL_TEST_SLOTS", slots.to_string());
        command
    };
    steps.tests(name, devices.iter().map(run));
}
