//! What the host says of itself.

use std::sync::OnceLock;

use hostcall_abi::sim::GROUP_MEMORY_BYTES;
use offload::SimConfig;

use crate::library::backend::Properties;
use crate::sys::{ol_device_fp_capability_flag_t as Fp, ol_device_type_t};

/// The value after `key` in a file of lines `key : value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    Some(line.split_once(':')?.1.trim())
}

/// The machine's memory in bytes.
pub(super) fn memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = field(&text, "MemTotal").and_then(|value| value.split(' ').next()?.parse::<u64>().ok());
        // Where the system does not tell, any size that can be asked for.
        kib.map_or(isize::MAX as u64, |kib| kib << 10)
    })
}

/// The clock rates that the system does not tell. LLVM's library has a placeholder there, too: programs are not
/// prepared for an error or for 0.
const UNKNOWN_CLOCK: u32 = 1;

/// What has no number in the PCI registry: `PCI_ANY_ID`, cut to its 16 bits.
const UNKNOWN_VENDOR: u32 = 0xffff;

/// Bytes of the processor's vectors.
fn vector_bytes() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512bw") {
            return 64;
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            return 32;
        }
    }
    16
}

pub(super) fn read(config: &SimConfig) -> Properties {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = field(&cpu, "model name").unwrap_or(std::env::consts::ARCH).to_owned();
    let (vendor, vendor_id) = match field(&cpu, "vendor_id") {
        Some("GenuineIntel") => ("Intel", 0x8086),
        Some("AuthenticAMD") => ("AMD", 0x1022),
        Some(other) => (other, UNKNOWN_VENDOR),
        None => ("unknown", UNKNOWN_VENDOR),
    };
    let mhz = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    let mhz = mhz.ok().and_then(|khz| Some(khz.trim().parse::<u32>().ok()? / 1000));
    let mhz = mhz.or_else(|| field(&cpu, "cpu MHz")?.parse::<f64>().ok().map(|mhz| mhz.round() as u32));
    let flags = [
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM,
        Fp::OL_DEVICE_FP_CAPABILITY_FLAG_FMA,
    ];
    let full = flags.iter().fold(0, |all, flag| all | flag.0);
    let vector = vector_bytes();
    let group = (config.waves_per_sm * config.wave_size).min(1024);
    Properties {
        kind: ol_device_type_t::OL_DEVICE_TYPE_HOST,
        product_name: name.clone(),
        name,
        uid: "host".to_owned(),
        vendor: vendor.to_owned(),
        driver_version: env!("CARGO_PKG_VERSION").to_owned(),
        max_group_size: group,
        max_group_dimensions: [group; 3],
        max_work_size: u32::MAX,
        max_work_dimensions: [u32::MAX; 3],
        vendor_id,
        compute_units: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        clock: mhz.or(Some(UNKNOWN_CLOCK)),
        // The system tells it to root only.
        memory_clock: Some(UNKNOWN_CLOCK),
        max_allocation: memory(),
        memory: memory(),
        local_memory: GROUP_MEMORY_BYTES as u64,
        arithmetic: [full, full, 0],
        vector_widths: [vector, vector / 2, vector / 4, vector / 8, vector / 4, vector / 8, 0],
        cooperative: true,
        lanes: config.wave_size,
        arch: std::env::consts::ARCH.to_owned(),
        // Of the simulator, whose clock is the system's.
        timestamps_per_second: 1_000_000_000,
        resident_waves: config.sms * config.waves_per_sm,
        reaches_host: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t: 5\nmodel name\t: A: B\ncpu MHz\t\t: 2100.5\n";
        assert_eq!(field(text, "model name"), Some("A: B"));
        assert_eq!(field(text, "cpu MHz"), Some("2100.5"));
        assert_eq!(field(text, "name"), None);
    }
}
