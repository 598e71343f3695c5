//! `cargo hostcall doctor`: what this machine has, what it lacks, and what to do about it.

use std::process::ExitCode;

use hostcall_build::{Check, Importance};
use offload::Platform;

use crate::Outcome;

/// There is nothing to choose.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Looks at everything. The exit code says whether what is required is there.
pub(crate) fn run(_: Arguments) -> Outcome {
    let checks = hostcall_build::doctor();
    println!("Building");
    checks.iter().for_each(print_check);
    println!("\nDevices");
    for platform in Platform::all() {
        print_platform(&platform);
    }
    let broken = checks.iter().any(|check| !check.found && check.importance == Importance::Required);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_check(check: &Check) {
    let mark = match (check.found, check.importance) {
        (true, _) => "ok     ",
        (false, Importance::Required) => "MISSING",
        (false, _) => "missing",
    };
    println!("  {mark}  {:<17} {}", check.name, check.detail);
    if let Some(remedy) = &check.remedy {
        println!("           {:<17} {}; to fix: {remedy}", "", check.importance);
    }
}

fn print_platform(platform: &Platform) {
    match platform.devices() {
        Ok(devices) if devices.is_empty() => println!("  none     {:<17} it has no devices", platform.name()),
        Ok(devices) => {
            for device in devices {
                let info = device.info();
                println!(
                    "  ok       {:<17} {}: {} ({}), {} SMs, {} waves of {} lanes at once, {:.1} GiB; {}",
                    platform.name(),
                    info.ordinal,
                    info.name,
                    info.arch,
                    info.sms,
                    info.resident_waves,
                    info.wave_size,
                    info.memory_bytes as f64 / (1u64 << 30) as f64,
                    info.driver
                );
            }
        }
        Err(error) => println!("  none     {:<17} {error}", platform.name()),
    }
}
