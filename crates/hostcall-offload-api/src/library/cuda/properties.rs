//! What a GPU says of itself.

use offload::cuda::flat::Flat;

use crate::library::backend::Properties;
use crate::library::error::of_device;
use crate::runtime::Error;
use crate::sys::{ol_device_fp_capability_flag_t as Fp, ol_device_type_t};

/// `CUdevice_attribute`: `MAX_BLOCK_DIM_X` and its neighbours, `MAX_GRID_DIM_X` and its neighbours, `CLOCK_RATE` and
/// `MEMORY_CLOCK_RATE` (kHz), `COOPERATIVE_LAUNCH`, `PAGEABLE_MEMORY_ACCESS`.
const BLOCK: [i32; 3] = [2, 3, 4];
const GRID: [i32; 3] = [5, 6, 7];
const CLOCK: i32 = 13;
const MEMORY_CLOCK: i32 = 36;
const COOPERATIVE: i32 = 95;
const PAGEABLE_MEMORY_ACCESS: i32 = 88;

/// NVIDIA in the PCI registry.
const VENDOR: u32 = 0x10de;

fn three(flat: &Flat, attributes: [i32; 3]) -> Result<[u32; 3], Error> {
    let [x, y, z] = attributes.map(|attribute| flat.attribute(attribute).map_err(of_device));
    Ok([x?, y?, z?])
}

pub(super) fn read(flat: &Flat) -> Result<Properties, Error> {
    let (info, cuda) = (flat.info(), flat.cuda_info().map_err(of_device)?);
    let mhz = |attribute| flat.attribute(attribute).ok().filter(|khz| *khz > 0).map(|khz| khz / 1000);
    let half = Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST.0
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN.0
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM.0
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_FMA.0;
    let full = half
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT.0
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO.0
        | Fp::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF.0;
    Ok(Properties {
        kind: ol_device_type_t::OL_DEVICE_TYPE_GPU,
        name: info.name.clone(),
        product_name: info.name.clone(),
        uid: info.pci_bus_id.clone().unwrap_or_default(),
        vendor: "NVIDIA".to_owned(),
        driver_version: info.driver.clone(),
        max_group_size: info.max_group_size,
        max_group_dimensions: three(flat, BLOCK)?,
        max_work_size: u32::MAX,
        max_work_dimensions: three(flat, GRID)?,
        vendor_id: VENDOR,
        compute_units: info.sms,
        clock: mhz(CLOCK),
        memory_clock: mhz(MEMORY_CLOCK),
        max_allocation: info.memory_bytes,
        memory: info.memory_bytes,
        local_memory: u64::from(cuda.shared_bytes),
        arithmetic: [full, full, half],
        vector_widths: [1; 7],
        cooperative: flat.attribute(COOPERATIVE).map_err(of_device)? != 0,
        lanes: info.wave_size,
        arch: info.arch.clone(),
        // Of `%globaltimer`, which counts nanoseconds.
        timestamps_per_second: 1_000_000_000,
        resident_waves: info.resident_waves,
        reaches_host: flat.attribute(PAGEABLE_MEMORY_ACCESS).is_ok_and(|value| value != 0),
    })
}
