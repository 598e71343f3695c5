//! Agents, instruction sets and memory pools, as information functions tell of them.

use std::ffi::c_void;

use offload::hsa::sys::*;

use crate::memory::{Kind, pool, pool_of};
use crate::world::{CPU, Gpu, TIMESTAMP_HZ, world};
use crate::{put, put_text};

/// The clock rates that GPUs say they have, in MHz: any that are not 0.
const CLOCK_MHZ: u32 = 2100;
const MEMORY_CLOCK_MHZ: u32 = 1300;

/// `hsa_system_get_info`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_system_get_info(attribute: u32, value: *mut c_void) -> hsa_status_t {
    // SAFETY: (all) the caller's.
    unsafe {
        match attribute {
            system_info::VERSION_MAJOR => put(value, 1u16),
            system_info::VERSION_MINOR => put(value, 1u16),
            system_info::TIMESTAMP => put(value, world().ticks()),
            system_info::TIMESTAMP_FREQUENCY => put(value, TIMESTAMP_HZ),
            _ => hsa_status_t::INVALID_ARGUMENT,
        }
    }
}

/// `hsa_iterate_agents`.
///
/// # Safety
/// `callback` takes `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_iterate_agents(callback: AgentCallback, data: *mut c_void) -> hsa_status_t {
    for agent in std::iter::once(CPU).chain(world().gpus.iter().map(|gpu| gpu.agent)) {
        // SAFETY: the caller's.
        match unsafe { callback(agent, data) } {
            hsa_status_t::SUCCESS => {}
            other => return other,
        }
    }
    hsa_status_t::SUCCESS
}

/// `hsa_agent_get_info`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_agent_get_info(agent: hsa_agent_t, attribute: u32, value: *mut c_void) -> hsa_status_t {
    if agent == CPU {
        // SAFETY: the caller's.
        return unsafe {
            match attribute {
                agent_info::NAME => put_text(value, "the CPU"),
                agent_info::DEVICE => put(value, DEVICE_TYPE_CPU),
                _ => hsa_status_t::INVALID_ARGUMENT,
            }
        };
    }
    let Some(Gpu { device, agent, counter_hz, .. }) = world().gpu(agent) else { return hsa_status_t::INVALID_AGENT };
    let info = device.info();
    // SAFETY: (all) the caller's.
    unsafe {
        match attribute {
            agent_info::NAME => put_text(value, "sim"),
            agent_info::PRODUCT_NAME => put_text(value, &format!("HSA on the simulator, {} lanes", info.wave_size)),
            agent_info::DEVICE => put(value, DEVICE_TYPE_GPU),
            agent_info::WAVEFRONT_SIZE => put(value, info.wave_size),
            agent_info::WORKGROUP_MAX_SIZE => put(value, info.max_group_size),
            agent_info::QUEUE_MAX_SIZE => put(value, crate::queues::MOST_PACKETS),
            agent_info::COMPUTE_UNITS => put(value, info.sms),
            agent_info::WAVES_PER_UNIT => put(value, info.resident_waves / info.sms.max(1)),
            agent_info::BDFID => put(value, (agent.handle as u32) << 8),
            agent_info::DOMAIN => put(value, 0u32),
            agent_info::MAX_CLOCK => put(value, CLOCK_MHZ),
            agent_info::MAX_MEMORY_CLOCK => put(value, MEMORY_CLOCK_MHZ),
            agent_info::TIMESTAMP_FREQUENCY => match counter_hz {
                Some(hz) => put(value, *hz),
                None => hsa_status_t::INVALID_ARGUMENT,
            },
            // There is nothing to flush.
            agent_info::HDP_FLUSH => put(value, hsa_amd_hdp_flush_t { memory: std::ptr::null_mut(), registers: std::ptr::null_mut() }),
            _ => hsa_status_t::INVALID_ARGUMENT,
        }
    }
}

/// `hsa_agent_iterate_isas`. The one of a GPU has the GPU's handle.
///
/// # Safety
/// `callback` takes `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_agent_iterate_isas(agent: hsa_agent_t, callback: IsaCallback, data: *mut c_void) -> hsa_status_t {
    if world().gpu(agent).is_none() {
        return hsa_status_t::INVALID_AGENT;
    }
    // SAFETY: the caller's.
    unsafe { callback(hsa_isa_t { handle: agent.handle }, data) }
}

/// `hsa_isa_get_info_alt`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_isa_get_info_alt(isa: hsa_isa_t, attribute: u32, value: *mut c_void) -> hsa_status_t {
    let Some(gpu) = world().gpu(hsa_agent_t { handle: isa.handle }) else { return hsa_status_t::INVALID_ISA };
    let name = &gpu.device.info().arch;
    // SAFETY: (both) the caller's.
    unsafe {
        match attribute {
            isa_info::NAME_LENGTH => put(value, name.len() as u32 + 1),
            isa_info::NAME => put_text(value, name),
            _ => hsa_status_t::INVALID_ARGUMENT,
        }
    }
}

/// `hsa_amd_agent_iterate_memory_pools`.
///
/// # Safety
/// `callback` takes `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_agent_iterate_memory_pools(agent: hsa_agent_t, callback: PoolCallback, data: *mut c_void) -> hsa_status_t {
    let kinds: &[Kind] = match agent {
        CPU => &[Kind::HostCoarse, Kind::HostKernarg, Kind::HostFine],
        agent if world().gpu(agent).is_some() => &[Kind::Group, Kind::Device],
        _ => return hsa_status_t::INVALID_AGENT,
    };
    for &kind in kinds {
        // SAFETY: the caller's.
        match unsafe { callback(pool(agent, kind), data) } {
            hsa_status_t::SUCCESS => {}
            other => return other,
        }
    }
    hsa_status_t::SUCCESS
}

/// `hsa_amd_memory_pool_get_info`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_memory_pool_get_info(pool: hsa_amd_memory_pool_t, attribute: u32, value: *mut c_void) -> hsa_status_t {
    let Some((agent, kind)) = pool_of(pool) else { return hsa_status_t::INVALID_MEMORY_POOL };
    let bytes = match kind {
        Kind::Group => crate::queues::GROUP_BYTES as usize,
        Kind::Device => world().gpu(agent).map_or(0, |gpu| gpu.device.info().memory_bytes as usize),
        _ => 1 << 40,
    };
    let flags = match kind {
        Kind::HostCoarse | Kind::Device => pool_flags::COARSE_GRAINED,
        Kind::HostKernarg => pool_flags::KERNARG | pool_flags::FINE_GRAINED,
        Kind::HostFine => pool_flags::FINE_GRAINED,
        Kind::Group => 0,
    };
    // SAFETY: (all) the caller's.
    unsafe {
        match attribute {
            pool_info::SEGMENT => put(value, if kind == Kind::Group { SEGMENT_GROUP } else { SEGMENT_GLOBAL }),
            pool_info::GLOBAL_FLAGS => put(value, flags),
            pool_info::SIZE => put(value, bytes),
            pool_info::ALLOC_ALLOWED => put(value, kind != Kind::Group),
            pool_info::ALLOC_GRANULE => put(value, 4096usize),
            _ => hsa_status_t::INVALID_ARGUMENT,
        }
    }
}

/// `hsa_amd_agent_memory_pool_get_info`.
///
/// # Safety
/// `value` has room for the attribute, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_agent_memory_pool_get_info(
    agent: hsa_agent_t,
    pool: hsa_amd_memory_pool_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    let Some((owner, _)) = pool_of(pool) else { return hsa_status_t::INVALID_MEMORY_POOL };
    if attribute != AGENT_POOL_INFO_ACCESS {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let access = match world().gpu(owner) {
        _ if owner == agent => pool_access::BY_DEFAULT,
        Some(gpu) if agent == CPU && !gpu.host_reaches => pool_access::NEVER,
        _ => pool_access::WHEN_ALLOWED,
    };
    // SAFETY: the caller's.
    unsafe { put(value, access) }
}
