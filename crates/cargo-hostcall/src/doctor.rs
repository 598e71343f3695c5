//! `cargo hostcall doctor`: what this machine has, what it lacks, and what to do about it.

mod amd;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use hostcall_build::{Check, Importance};
use offload::{Device, DeviceKind, Effort, Litmus, Platform, WindowError};

use crate::{Outcome, device};

/// There is nothing to choose.
#[derive(clap::Args)]
pub(crate) struct Arguments {}

/// Looks at everything. The exit code says whether what is required is there.
pub(crate) fn run(_: Arguments) -> Outcome {
    let checks = hostcall_build::doctor();
    let mut out = io::stdout().lock();
    writeln!(out, "Building")?;
    for check in &checks {
        write!(out, "{}", of_check(check))?;
    }
    writeln!(out, "\nDevices")?;
    for finding in gpus().iter().chain(&amd::findings()) {
        write!(out, "{finding}")?;
    }
    for finding in Platform::all().iter().flat_map(of_platform) {
        write!(out, "{finding}")?;
    }
    let broken = checks.iter().any(|check| !check.found && check.importance == Importance::Required);
    Ok(if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn of_check(check: &Check) -> Finding {
    let mark = match (check.found, check.importance) {
        (true, _) => Mark::Ok,
        (false, Importance::Required) => Mark::Broken,
        (false, _) => Mark::Missing,
    };
    let remedy = check.remedy.as_ref().map(|remedy| format!("{}; to fix: {remedy}", check.importance));
    Finding { mark, name: check.name.into(), detail: check.detail.clone(), remedy }
}

fn of_platform(platform: &Platform) -> Vec<Finding> {
    let name = platform.name();
    let finding = |mark, detail| Finding { mark, name: name.clone(), detail, remedy: None };
    let of_device = |device: &Device| {
        let mut findings = vec![finding(Mark::Ok, device::describe(device))];
        // The simulator's is memory of this process, which says nothing of a machine.
        if device.info().kind != DeviceKind::Sim {
            findings.extend([window(device), near(device)]);
        }
        findings
    };
    match platform.devices() {
        Ok(devices) if devices.is_empty() => vec![finding(Mark::Missing, "no devices".into())],
        Ok(devices) => devices.iter().flat_map(of_device).collect(),
        // The error names the remedy.
        Err(error) => vec![finding(Mark::Missing, error.to_string())],
    }
}

/// Whether the host can write into the device's memory while a kernel reads it, who sees to that, and what a test of it
/// saw. Where `Placement::NearDevice` puts serving threads.
fn near(device: &Device) -> Finding {
    let detail = match hostcall::Placement::near(device.info()) {
        Some(processors) => format!("processors {processors}"),
        None => "the system does not say which processors are near the device".into(),
    };
    Finding { mark: Mark::Ok, name: "placement".into(), detail, remedy: None }
}

fn window(device: &Device) -> Finding {
    const BYTES: usize = 1 << 20;
    let tested = device.window(BYTES).and_then(|window| Ok((window.litmus(Effort::Thorough)?, window)));
    let (mark, detail, remedy) = match tested {
        Ok((litmus, window)) => (Mark::Ok, format!("by {}, lines by {}; {}", window.provider(), window.line_store(), tally(&litmus)), None),
        // The errors name the remedy.
        Err(error @ WindowError::Torn { .. }) => (Mark::Broken, error.to_string(), None),
        Err(error) => (Mark::Missing, error.to_string(), Some("optional: calls take half a round trip longer without it".into())),
    };
    Finding { mark, name: "window".into(), detail, remedy }
}

fn tally(litmus: &Litmus) -> String {
    let millions = |n: u64| n as f64 / 1e6;
    format!("{:.1} M words read while {:.1} M lines were stored, none torn", millions(litmus.words_read), millions(litmus.lines_stored))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Ok,
    Missing,
    Broken,
}

/// One line, or two.
#[derive(Debug)]
struct Finding {
    mark: Mark,
    name: String,
    detail: String,
    remedy: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.mark {
            Mark::Ok => "ok",
            Mark::Missing => "missing",
            Mark::Broken => "MISSING",
        };
        writeln!(f, "  {mark:<7}  {:<17} {}", self.name, self.detail)?;
        match &self.remedy {
            Some(remedy) => writeln!(f, "  {:<7}  {:<17} {remedy}", "", ""),
            None => Ok(()),
        }
    }
}

/// What the system knows of NVIDIA's GPUs without their driver's library: it says why that finds none.
fn gpus() -> Vec<Finding> {
    let Some(count) = gpus_of("0x10de") else { return Vec::new() };
    let finding = |mark, name: &str, detail: String, remedy: Option<&str>| Finding {
        mark,
        name: name.into(),
        detail,
        remedy: remedy.map(Into::into),
    };
    let mut findings = vec![finding(Mark::Ok, "NVIDIA GPUs", format!("{count} on the PCI bus"), None)];
    match fs::read_to_string("/proc/driver/nvidia/version") {
        Ok(version) => findings.push(finding(Mark::Ok, "kernel module", version.lines().next().unwrap_or_default().trim().into(), None)),
        Err(_) => {
            let remedy = "to fix: install NVIDIA's driver, and reboot or `modprobe nvidia`";
            findings.push(finding(Mark::Missing, "kernel module", "the module `nvidia` is not loaded".into(), Some(remedy)));
        }
    }
    let files = device_files();
    if files.is_empty() {
        let remedy = "to fix: `nvidia-modprobe -u -c 0`; in a container: run it with the NVIDIA container toolkit, `--gpus all`";
        findings.push(finding(Mark::Missing, "device files", "no /dev/nvidia0".into(), Some(remedy)));
    }
    for file in files {
        let name = file.display().to_string();
        findings.push(match fs::File::options().read(true).write(true).open(&file) {
            Ok(_) => finding(Mark::Ok, "device file", name, None),
            Err(error) => {
                let remedy = "to fix: give this user access, as by adding it to the group that `ls -l` shows";
                finding(Mark::Missing, "device file", format!("{name}: {error}"), Some(remedy))
            }
        });
    }
    findings
}

/// Display controllers and accelerators of the vendor, from sysfs; `None` if there are none, or there is no sysfs.
fn gpus_of(vendor: &str) -> Option<usize> {
    let is_gpu = |device: PathBuf| {
        let read = |name| fs::read_to_string(device.join(name)).unwrap_or_default();
        read("vendor").trim() == vendor && ["0x03", "0x12"].iter().any(|class| read("class").starts_with(class))
    };
    let count = fs::read_dir("/sys/bus/pci/devices").ok()?.flatten().filter(|device| is_gpu(device.path())).count();
    (count > 0).then_some(count)
}

/// `/dev/nvidiactl` and `/dev/nvidia0` …
fn device_files() -> Vec<PathBuf> {
    let named = |name: &str| name == "ctl" || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()));
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().and_then(|name| name.strip_prefix("nvidia")).is_some_and(named))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_told_with_its_provider_and_what_the_test_saw() {
        let device = Device::sim("".parse().unwrap()).unwrap();
        let finding = window(&device);
        assert_eq!((finding.mark, finding.name.as_str()), (Mark::Ok, "window"), "{finding:?}");
        assert!(finding.detail.starts_with("by the simulator, lines by ") && finding.detail.ends_with("none torn"), "{finding:?}");
    }

    #[test]
    fn a_device_that_has_no_room_for_a_window_is_told_with_the_reason() {
        let device = Device::sim("".parse().unwrap()).unwrap();
        let most = device.info().memory_bytes as usize;
        let _all = (0..64).map_while(|_| device.alloc::<u8>(most / 64).ok()).collect::<Vec<_>>();
        let finding = window(&device);
        assert_eq!(finding.mark, Mark::Missing, "{finding:?}");
        assert!(finding.detail.contains("out of device memory") && finding.remedy.is_some(), "{finding:?}");
    }
}
