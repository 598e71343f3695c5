//! Memory: who has it, and who may reach it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

use offload::backend::BackendMemory;
use offload::hsa::sys::*;

use crate::world::{CPU, lock, world};

/// Kinds of pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    HostFine,
    HostKernarg,
    HostCoarse,
    Device,
    Group,
}

const KINDS: [Kind; 5] = [Kind::HostFine, Kind::HostKernarg, Kind::HostCoarse, Kind::Device, Kind::Group];

/// The pool of an agent.
pub(crate) fn pool(agent: hsa_agent_t, kind: Kind) -> hsa_amd_memory_pool_t {
    let kind = KINDS.iter().position(|&k| k == kind).unwrap_or_default() as u64;
    hsa_amd_memory_pool_t { handle: agent.handle << 8 | kind }
}

/// What pool a handle is.
pub(crate) fn pool_of(pool: hsa_amd_memory_pool_t) -> Option<(hsa_agent_t, Kind)> {
    let agent = hsa_agent_t { handle: pool.handle >> 8 };
    let kind = *KINDS.get((pool.handle & 0xff) as usize)?;
    let of_gpu = matches!(kind, Kind::Device | Kind::Group);
    (if of_gpu { world().gpu(agent).is_some() } else { agent == CPU }).then_some((agent, kind))
}

/// Memory that somebody has.
struct Range {
    bytes: usize,
    /// Whose memory it is.
    owner: hsa_agent_t,
    /// Who else may reach it.
    allowed: Vec<hsa_agent_t>,
    /// `None` of the application's own.
    _memory: Option<Arc<dyn BackendMemory>>,
}

/// By first address.
static RANGES: Mutex<BTreeMap<usize, Range>> = Mutex::new(BTreeMap::new());

/// Junk at the start and end of what is allocated.
const JUNK: usize = 64 << 10;

/// `hsa_amd_memory_pool_allocate`.
///
/// # Safety
/// `pointer` is a place for a pointer, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_memory_pool_allocate(
    pool: hsa_amd_memory_pool_t,
    bytes: usize,
    flags: u32,
    pointer: *mut *mut c_void,
) -> hsa_status_t {
    let Some((agent, kind)) = pool_of(pool) else { return hsa_status_t::INVALID_MEMORY_POOL };
    if bytes == 0 || flags != 0 || pointer.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let made = match (kind, world().gpu(agent)) {
        (Kind::Group, _) => return hsa_status_t::INVALID_ALLOCATION,
        (_, Some(gpu)) => gpu.device.backend().alloc(bytes),
        (_, None) => world().gpus[0].device.backend().alloc_host(bytes),
    };
    let Ok(memory) = made else { return hsa_status_t::OUT_OF_RESOURCES };
    let start = memory.host_pointer();
    let junk = bytes.min(JUNK);
    // SAFETY: memory just made; the caller's pointer.
    unsafe {
        std::ptr::write_bytes(start, 0xa5, junk);
        std::ptr::write_bytes(start.add(bytes - junk), 0xa5, junk);
        pointer.write(start.cast());
    }
    lock(&RANGES).insert(start.addr(), Range { bytes, owner: agent, allowed: Vec::new(), _memory: Some(memory) });
    hsa_status_t::SUCCESS
}

/// `hsa_amd_memory_pool_free`. Does not wait for kernels.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_amd_memory_pool_free(pointer: *mut c_void) -> hsa_status_t {
    let range = lock(&RANGES).remove(&pointer.addr());
    if range.is_none_or(|range| range._memory.is_none()) {
        crate::misuse(&format!("{pointer:p} was freed, and is no allocation"));
    }
    hsa_status_t::SUCCESS
}

/// `hsa_amd_agents_allow_access`.
///
/// # Safety
/// `agents` has `count` agents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_agents_allow_access(
    count: u32,
    agents: *const hsa_agent_t,
    flags: *const u32,
    pointer: *const c_void,
) -> hsa_status_t {
    if count == 0 || agents.is_null() || !flags.is_null() {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    let agents = unsafe { std::slice::from_raw_parts(agents, count as usize) };
    let mut ranges = lock(&RANGES);
    let Some(range) = ranges.get_mut(&pointer.addr()) else { return hsa_status_t::INVALID_ARGUMENT };
    let never = world().gpu(range.owner).is_some_and(|gpu| !gpu.host_reaches);
    if never && agents.contains(&CPU) {
        return hsa_status_t::ERROR;
    }
    range.allowed = agents.to_vec();
    hsa_status_t::SUCCESS
}

/// `hsa_amd_memory_lock`.
///
/// # Safety
/// `agents` has `count` agents (none: all GPUs), `seen` is a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_memory_lock(
    host: *mut c_void,
    bytes: usize,
    agents: *mut hsa_agent_t,
    count: i32,
    seen: *mut *mut c_void,
) -> hsa_status_t {
    if host.is_null() || bytes == 0 || seen.is_null() || count < 0 {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    let allowed = match usize::try_from(count) {
        // SAFETY: the caller's.
        Ok(count @ 1..) if !agents.is_null() => unsafe { std::slice::from_raw_parts(agents, count) }.to_vec(),
        _ => world().gpus.iter().map(|gpu| gpu.agent).collect(),
    };
    lock(&RANGES).insert(host.addr(), Range { bytes, owner: CPU, allowed, _memory: None });
    // SAFETY: the caller's.
    unsafe { seen.write(host) };
    hsa_status_t::SUCCESS
}

/// `hsa_amd_memory_unlock`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_amd_memory_unlock(host: *mut c_void) -> hsa_status_t {
    let range = lock(&RANGES).remove(&host.addr());
    if range.is_none_or(|range| range._memory.is_some()) {
        crate::misuse(&format!("{host:p} was unlocked, and is not locked"));
    }
    hsa_status_t::SUCCESS
}

/// Registers memory of loaded code, so that it can be copied.
pub(crate) fn add_global(address: usize, bytes: usize, owner: hsa_agent_t) {
    lock(&RANGES).entry(address).or_insert(Range { bytes, owner, allowed: Vec::new(), _memory: None });
}

/// Forgets it.
pub(crate) fn remove_global(address: usize) {
    lock(&RANGES).remove(&address);
}

/// Whether `agent`, doing a copy, reaches these bytes, and they are `owner`'s; why not.
pub(crate) fn check(address: usize, bytes: usize, owner: hsa_agent_t, agent: hsa_agent_t) -> Result<(), String> {
    let ranges = lock(&RANGES);
    let found = ranges.range(..=address).next_back().filter(|(start, range)| address + bytes <= *start + range.bytes);
    let Some((_, range)) = found else { return Err(format!("{bytes} bytes at {address:#x} are no memory of the runtime's")) };
    if range.owner != owner {
        return Err(format!("{address:#x} is memory of agent {}, the copy says {}", range.owner.handle, owner.handle));
    }
    if range.owner != agent && !range.allowed.contains(&agent) {
        return Err(format!("agent {} was not allowed to reach {address:#x}", agent.handle));
    }
    Ok(())
}
