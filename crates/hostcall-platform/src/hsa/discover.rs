//! The agents that the runtime knows, their instruction sets and their memory.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use super::runtime::{Failed, Runtime};
use super::sys::*;
use super::target;
use crate::device::{DeviceInfo, DeviceKind};

/// A GPU, and what of the machine around it is used with it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) agent: hsa_agent_t,
    /// The processor whose memory kernels call through.
    pub(super) cpu: hsa_agent_t,
    /// Names of the instruction sets it runs, the most specific first.
    pub(super) isas: Vec<String>,
    pub(super) pools: Pools,
    /// The most packets of a queue.
    pub(super) queue_packets: u32,
    /// Bytes of memory that a workgroup can have.
    pub(super) group_bytes: u32,
    /// Ticks a second of its constant counter, if the runtime says.
    pub(super) counter_hz: Option<u64>,
    /// MHz, at most: of its processors and of its memory, if the runtime says.
    pub(super) clocks: [Option<u32>; 2],
    /// Writes through the PCI window are flushed here; null where nothing is needed.
    pub(super) flush: usize,
}

/// Where memory comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pools {
    /// The GPU's own, coarse-grained.
    pub(super) device: hsa_amd_memory_pool_t,
    pub(super) device_bytes: usize,
    /// Whether the host can be allowed to reach it.
    pub(super) host_reaches_device: bool,
    /// The host's, fine-grained.
    pub(super) host: hsa_amd_memory_pool_t,
    /// The host's, for arguments.
    pub(super) kernarg: hsa_amd_memory_pool_t,
}

/// Why an agent cannot be used.
#[derive(Debug)]
pub(super) enum DiscoverError {
    Call(Failed),
    /// It lacks a kind of memory.
    NoPool(&'static str),
    /// There is no CPU agent.
    NoCpu,
}

impl From<Failed> for DiscoverError {
    fn from(failed: Failed) -> Self {
        Self::Call(failed)
    }
}

/// Collects what an iteration of the runtime names.
///
/// # Safety
/// `data` is a `Vec<H>` that nobody else uses.
unsafe extern "C" fn collect<H: Copy>(handle: H, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the caller's.
    unsafe { (*data.cast::<Vec<H>>()).push(handle) };
    hsa_status_t::SUCCESS
}

fn collected<H: Copy>(iterate: impl FnOnce(*mut c_void) -> Result<(), Failed>) -> Result<Vec<H>, Failed> {
    let mut list: Vec<H> = Vec::new();
    iterate((&raw mut list).cast())?;
    Ok(list)
}

/// A plain value that an information function writes.
fn value<T: Copy>(ask: impl FnOnce(*mut c_void) -> Result<(), Failed>) -> Result<T, Failed> {
    // Zeroed, so that a runtime that writes less leaves no undefined byte. Only integers, booleans and plain structures
    // are asked for.
    let mut place = MaybeUninit::<T>::zeroed();
    ask(place.as_mut_ptr().cast())?;
    // SAFETY: the function succeeded, so the value is there; what it did not write is zero.
    Ok(unsafe { place.assume_init() })
}

/// Text of a fixed size, up to its NUL.
fn text(ask: impl FnOnce(*mut c_void) -> Result<(), Failed>) -> Result<String, Failed> {
    // The interface says 64 bytes; runtimes have written more than they say.
    let mut buffer = [0u8; 256];
    ask(buffer.as_mut_ptr().cast())?;
    Ok(until_nul(&buffer))
}

fn until_nul(buffer: &[u8]) -> String {
    String::from_utf8_lossy(buffer.split(|&byte| byte == 0).next().unwrap_or_default()).trim().to_owned()
}

/// An agent's plain value.
fn agent_value<T: Copy>(runtime: &Runtime, agent: hsa_agent_t, attribute: u32) -> Result<T, Failed> {
    // SAFETY: a live agent; `T` is the attribute's type (its constant says which).
    value(|out| unsafe { runtime.hsa_agent_get_info(agent, attribute, out) })
}

/// All agents of a kind.
pub(super) fn agents(runtime: &Runtime, kind: u32) -> Result<Vec<hsa_agent_t>, Failed> {
    // SAFETY: `collect` is given the vector of its handles.
    let all = collected::<hsa_agent_t>(|data| unsafe { runtime.hsa_iterate_agents(collect::<hsa_agent_t>, data) })?;
    let mut found = Vec::new();
    for agent in all {
        if agent_value::<u32>(runtime, agent, agent_info::DEVICE)? == kind {
            found.push(agent);
        }
    }
    Ok(found)
}

/// A pool that memory can be had from.
struct Pool {
    pool: hsa_amd_memory_pool_t,
    flags: u32,
    bytes: usize,
}

/// The global pools of an agent, and the bytes of its group segment.
fn pools(runtime: &Runtime, agent: hsa_agent_t) -> Result<(Vec<Pool>, usize), Failed> {
    let all = collected::<hsa_amd_memory_pool_t>(|data| {
        // SAFETY: a live agent; `collect` is given the vector of its handles.
        unsafe { runtime.hsa_amd_agent_iterate_memory_pools(agent, collect::<hsa_amd_memory_pool_t>, data) }
    })?;
    let (mut found, mut group) = (Vec::new(), 0);
    for pool in all {
        // SAFETY: a live pool; the attribute's constant says the type.
        let info = |attribute, out| unsafe { runtime.hsa_amd_memory_pool_get_info(pool, attribute, out) };
        let bytes = value::<usize>(|out| info(pool_info::SIZE, out))?;
        match value::<u32>(|out| info(pool_info::SEGMENT, out))? {
            SEGMENT_GROUP => group = group.max(bytes),
            // A `bool` is a byte of C, read as one.
            SEGMENT_GLOBAL if value::<u8>(|out| info(pool_info::ALLOC_ALLOWED, out))? != 0 => {
                found.push(Pool { pool, flags: value(|out| info(pool_info::GLOBAL_FLAGS, out))?, bytes });
            }
            _ => {}
        }
    }
    Ok((found, group))
}

/// Everything that is used of one GPU.
pub(super) fn look(runtime: &Runtime, agent: hsa_agent_t, ordinal: u32) -> Result<(Found, DeviceInfo), DiscoverError> {
    let cpu = *agents(runtime, DEVICE_TYPE_CPU)?.first().ok_or(DiscoverError::NoCpu)?;
    let isas = isas(runtime, agent)?;
    let (mine, group) = pools(runtime, agent)?;
    let (hosts, _) = pools(runtime, cpu)?;
    let has = |pool: &&Pool, with: u32, without: u32| pool.flags & with == with && pool.flags & without == 0;
    let find = |list: &[Pool], with, without| list.iter().find(|pool| has(pool, with, without)).map(|pool| (pool.pool, pool.bytes));
    let (device, device_bytes) = find(&mine, pool_flags::COARSE_GRAINED, 0).ok_or(DiscoverError::NoPool("coarse-grained device memory"))?;
    let (host, _) = find(&hosts, pool_flags::FINE_GRAINED, pool_flags::KERNARG).ok_or(DiscoverError::NoPool("fine-grained host memory"))?;
    let (kernarg, _) = find(&hosts, pool_flags::KERNARG, 0).ok_or(DiscoverError::NoPool("memory for kernels' arguments"))?;
    // SAFETY: live handles; the attribute is a `u32`.
    let access: u32 = value(|out| unsafe { runtime.hsa_amd_agent_memory_pool_get_info(cpu, device, AGENT_POOL_INFO_ACCESS, out) })?;
    let pools = Pools { device, device_bytes, host_reaches_device: access != pool_access::NEVER, host, kernarg };

    let get = |attribute| agent_value::<u32>(runtime, agent, attribute);
    let waves_per_unit = get(agent_info::WAVES_PER_UNIT)?;
    let sms = get(agent_info::COMPUTE_UNITS)?;
    // SAFETY: (both) a live agent, a buffer longer than the text.
    let name = text(|out| unsafe { runtime.hsa_agent_get_info(agent, agent_info::NAME, out) })?;
    // SAFETY: as above.
    let product = text(|out| unsafe { runtime.hsa_agent_get_info(agent, agent_info::PRODUCT_NAME, out) }).unwrap_or_default();
    let info = DeviceInfo {
        kind: DeviceKind::Hsa,
        ordinal,
        name: if product.is_empty() { name } else { product },
        driver: version(runtime)?,
        arch: target::arch(&isas),
        pci_bus_id: Some(pci(get(agent_info::DOMAIN).unwrap_or_default(), get(agent_info::BDFID).unwrap_or_default())),
        wave_size: get(agent_info::WAVEFRONT_SIZE)?,
        sms,
        resident_waves: sms.saturating_mul(waves_per_unit),
        memory_bytes: device_bytes as u64,
        max_group_size: get(agent_info::WORKGROUP_MAX_SIZE)?,
    };
    let found = Found {
        agent,
        cpu,
        isas,
        pools,
        queue_packets: get(agent_info::QUEUE_MAX_SIZE)?,
        group_bytes: u32::try_from(group).unwrap_or(u32::MAX),
        // Old runtimes do not know these.
        clocks: [agent_info::MAX_CLOCK, agent_info::MAX_MEMORY_CLOCK]
            .map(|attribute| agent_value::<u32>(runtime, agent, attribute).ok().filter(|&mhz| mhz > 0)),
        counter_hz: agent_value::<u64>(runtime, agent, agent_info::TIMESTAMP_FREQUENCY).ok().filter(|&hz| hz > 0),
        flush: agent_value::<hsa_amd_hdp_flush_t>(runtime, agent, agent_info::HDP_FLUSH).map_or(0, |flush| flush.memory.addr()),
    };
    Ok((found, info))
}

/// Names of the instruction sets that an agent runs.
fn isas(runtime: &Runtime, agent: hsa_agent_t) -> Result<Vec<String>, Failed> {
    let handles = collected::<hsa_isa_t>(|data| {
        // SAFETY: a live agent; `collect` is given the vector of its handles.
        unsafe { runtime.hsa_agent_iterate_isas(agent, collect::<hsa_isa_t>, data) }
    })?;
    let name = |isa| {
        // SAFETY: a live handle; the attribute is a `u32`.
        let len: u32 = value(|out| unsafe { runtime.hsa_isa_get_info_alt(isa, isa_info::NAME_LENGTH, out) })?;
        // One more than asked for, as runtimes differ in whether they count the NUL; and no more than a name can have.
        let mut buffer = vec![0u8; (len as usize).min(4096) + 1];
        // SAFETY: a live handle, a buffer of at least the length that the runtime gave.
        unsafe { runtime.hsa_isa_get_info_alt(isa, isa_info::NAME, buffer.as_mut_ptr().cast()) }?;
        Ok(until_nul(&buffer))
    };
    handles.into_iter().map(name).collect()
}

/// `HSA runtime 1.15`.
fn version(runtime: &Runtime) -> Result<String, Failed> {
    // SAFETY: the attribute is a `u16`.
    let part = |attribute| value::<u16>(|out| unsafe { runtime.hsa_system_get_info(attribute, out) });
    Ok(format!("HSA runtime {}.{}", part(system_info::VERSION_MAJOR)?, part(system_info::VERSION_MINOR)?))
}

/// Ticks a second of the runtime's times and time-outs.
pub(super) fn timestamp_hz(runtime: &Runtime) -> Result<u64, Failed> {
    // SAFETY: the attribute is a `u64`.
    value::<u64>(|out| unsafe { runtime.hsa_system_get_info(system_info::TIMESTAMP_FREQUENCY, out) })
}

/// A PCI address, from its domain and AMD's word of bus, device and function.
fn pci(domain: u32, bdf: u32) -> String {
    format!("{domain:04x}:{:02x}:{:02x}.{}", bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pci_address_is_written_as_lspci_does() {
        assert_eq!(pci(0, 0xc100), "0000:c1:00.0");
        assert_eq!(pci(1, 0x03 << 8 | 0x1f << 3 | 7), "0001:03:1f.7");
    }

    #[test]
    fn text_ends_at_its_nul() {
        assert_eq!(until_nul(b"gfx942\0junk"), "gfx942");
        assert_eq!(until_nul(b"AMD Instinct MI300X "), "AMD Instinct MI300X");
        assert_eq!(until_nul(b""), "");
    }
}
