//! Which device, and why; and what a kernel's end means for the command line.

use hostcall::{KernelReport, Server, Stats};
use offload::{Device, DeviceKind, ProgramBundle};

/// The device that was asked for, or the best there is (that `bundle`, if it is built already, was built for), and why
/// it is this one.
pub(crate) fn open(spec: Option<&str>, bundle: Option<&ProgramBundle>) -> Result<(Device, String), offload::Error> {
    match spec {
        Some(spec) => Ok((Device::open(spec)?, format!("because of --device {spec}"))),
        None => Ok(bundle.map_or_else(Device::choose, Device::default_for)),
    }
}

/// The devices of a list, and why they are these.
pub(crate) fn open_list(list: &str, bundle: &ProgramBundle) -> Result<Vec<(Device, String)>, offload::Error> {
    let because = |(device, why): (Device, String)| (device, why.replace("--device ", "--devices "));
    Device::list(list)?.iter().map(|spec| open(one_of(list, spec), Some(bundle)).map(because)).collect()
}

/// A device of a list as [`open`] takes it. Where `all` is the simulator the default is so too, which says why.
pub(crate) fn one_of<'a>(list: &str, device: &'a str) -> Option<&'a str> {
    (list != "all" || device != "sim").then_some(device)
}

/// Gives lanes of an AMD GPU the stack that was asked for, in kernels whose need is not known. Other devices have other
/// ways.
pub(crate) fn give_stack(device: &Device, bytes: Option<usize>) -> Result<(), offload::Error> {
    match bytes {
        Some(bytes) if device.info().kind == DeviceKind::Hsa => offload::hsa::set_stack(device, u32::try_from(bytes).unwrap_or(u32::MAX)),
        _ => Ok(()),
    }
}

/// One line about a device.
pub(crate) fn describe(device: &Device) -> String {
    let info = device.info();
    let (waves, memory) = (info.resident_waves, bytes(info.memory_bytes));
    format!("{}: {}, {waves} waves of {} lanes at once, {memory} of memory, {}", info.name, info.arch, info.wave_size, info.driver)
}

/// What was called, and nothing else.
pub(crate) fn called(server: &Server) -> Stats {
    let mut stats = server.stats();
    stats.services.retain(|service| service.messages > 0);
    stats
}

/// A number of bytes for people.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}

/// The report's text with repeated failures, of which each lane may have one, cut short.
pub(crate) fn summary(report: &KernelReport) -> String {
    const KEEP: usize = 4;
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut summary = lines[..lines.len().min(KEEP)].join("\n");
    if lines.len() > KEEP {
        summary += &format!("\n… and {} more lines like these", lines.len() - KEEP);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_in_the_largest_unit_that_fits() {
        assert_eq!([0, 1023, 1024, 1 << 30, u64::MAX].map(bytes), ["0 bytes", "1023 bytes", "1.0 KiB", "1.0 GiB", "16384.0 PiB"]);
    }

    #[test]
    fn a_long_report_is_cut_short() {
        let mut report = KernelReport::default();
        report.exits.extend([3; 9]);
        assert_eq!(summary(&report).lines().count(), 5);
        assert!(summary(&report).ends_with("… and 5 more lines like these"));
    }
}
