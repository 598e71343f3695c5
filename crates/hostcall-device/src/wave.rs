//! Where a lane is, and calls made once for many lanes.
//!
//! A *lane* is a thread of a kernel. Lanes that run together are a *wave* (CUDA: warp). Waves that share memory are a
//! *workgroup* (CUDA: thread block), and all workgroups of a launch are the *grid*.

mod once;

pub use once::OncePerGrid;

use crate::arch::current as arch;
use crate::context::machine;
use crate::outcome::Outcome;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;
use hostcall_abi::{CallError, Plain, Status};

/// Workgroup coordinates.
#[inline(always)]
pub fn group_id() -> [u32; 3] {
    arch::group_id()
}

/// Workgroups of the grid.
#[inline(always)]
pub fn group_count() -> [u32; 3] {
    arch::group_count()
}

/// Coordinates in the workgroup.
#[inline(always)]
pub fn local_id() -> [u32; 3] {
    arch::local_id()
}

/// Size of the workgroup.
#[inline(always)]
pub fn group_size() -> [u32; 3] {
    arch::group_size()
}

#[inline(always)]
fn linear(id: [u32; 3], size: [u32; 3]) -> usize {
    (id[2] as usize * size[1] as usize + id[1] as usize) * size[0] as usize + id[0] as usize
}

#[inline(always)]
fn volume(size: [u32; 3]) -> usize {
    size[0] as usize * size[1] as usize * size[2] as usize
}

/// Number of the lane in its workgroup.
#[inline(always)]
pub fn local_index() -> usize {
    linear(local_id(), group_size())
}

/// Number of the workgroup in the grid.
#[inline(always)]
pub fn group_index() -> usize {
    linear(group_id(), group_count())
}

/// Number of the lane in the grid.
#[inline(always)]
pub fn global_id() -> usize {
    group_index() * volume(group_size()) + local_index()
}

/// Lanes of the grid.
#[inline(always)]
pub fn global_size() -> usize {
    volume(group_count()) * volume(group_size())
}

/// Lane in its wave.
#[inline(always)]
pub fn lane_id() -> u32 {
    machine().lane()
}

/// Lanes of a wave.
#[inline(always)]
pub fn wave_size() -> u32 {
    arch::wave_size()
}

/// Number of the wave in the grid (waves are the runs of [`wave_size`] lanes of a workgroup).
#[inline(always)]
pub fn wave_index() -> usize {
    let per_group = volume(group_size()).div_ceil(wave_size() as usize);
    group_index() * per_group + local_index() / wave_size() as usize
}

/// The SM (compute unit) that runs the lane. A hint: it may change.
#[inline(always)]
pub fn sm_id() -> u32 {
    arch::sm()
}

/// Waits for all lanes of the workgroup.
///
/// Every lane of the workgroup that has not ended must come to the same call.
#[inline(always)]
pub fn sync_workgroup() {
    #[cfg(all(hostcall_probe, not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
    barrier::__hostcall_barrier();
    #[cfg(not(all(hostcall_probe, not(any(target_arch = "nvptx64", target_arch = "amdgpu")))))]
    arch::sync_group();
}

/// The simulator's barrier, as a call that an instrumented program's compiler finds.
#[cfg(all(hostcall_probe, not(any(target_arch = "nvptx64", target_arch = "amdgpu"))))]
mod barrier {
    #[cfg(target_vendor = "hostcall")]
    unsafe extern "C" {
        pub(super) safe fn __hostcall_barrier();
    }
    #[cfg(not(target_vendor = "hostcall"))]
    pub(super) use crate::stream::probe::__hostcall_barrier;
}

/// The lanes of a wave that run converged at a place.
#[derive(Clone, Copy, Debug)]
pub struct Converged(hostcall_abi::port::Group);

impl Converged {
    /// The lanes converged here: at the caller's place in the source.
    #[inline(always)]
    #[track_caller]
    pub fn here() -> Self {
        Self::at(core::panic::Location::caller())
    }

    /// The lanes converged at a place. The simulator tells lanes that have parted by it; a GPU knows.
    #[inline(always)]
    pub(crate) fn at(place: &core::panic::Location<'_>) -> Self {
        Self::at_site(core::ptr::from_ref(place) as usize, 0)
    }

    /// The lanes converged at a site, among whom `key` is the same.
    #[inline(always)]
    pub(crate) fn at_site(site: usize, key: u32) -> Self {
        Self(crate::context::group_at(site, key))
    }

    /// Ends the calling lane if the first of them has ended: in a call of its own, because the kernel is being ended.
    /// What it was to hand to the others will never come.
    #[inline(always)]
    fn end_with_leader(&self) {
        if machine().ballot(self.0.mask, self.leads()) == 0 {
            arch::exit_lane();
        }
    }

    /// The lanes, by lane number.
    #[inline(always)]
    pub fn mask(&self) -> u64 {
        self.0.mask
    }

    /// How many.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.count
    }

    /// The caller's place among them, from 0.
    #[inline(always)]
    pub fn rank(&self) -> u32 {
        self.0.rank
    }

    /// Whether the caller is the first.
    #[inline(always)]
    pub fn leads(&self) -> bool {
        self.0.leads()
    }

    /// Bit per lane for which `predicate` holds.
    #[inline(always)]
    pub fn ballot(&self, predicate: bool) -> u64 {
        machine().ballot(self.0.mask, predicate)
    }

    /// Waits for all of them.
    #[inline(always)]
    pub fn sync(&self) {
        machine().sync(self.0.mask);
    }

    /// The value of the first lane. If that one has ended, so does the calling lane.
    #[inline(always)]
    pub fn broadcast<T: Plain>(&self, value: T) -> T {
        const { assert!(T::DWORDS <= 16, "broadcast carries at most 64 bytes") };
        self.end_with_leader();
        let mut units = [0u32; 16];
        value.put(&mut units);
        for unit in &mut units[..T::DWORDS] {
            *unit = machine().broadcast(self.0.mask, *unit, self.0.leader);
        }
        // A plain value of its own units always decodes.
        T::get(&units).unwrap_or(value)
    }
}

/// What crosses between lanes: a result of at most 14 units, or why there is none.
fn share<R: Fixed>(units: &mut [u32; 16], result: Option<Result<R, CallError>>) {
    match result {
        None => {}
        Some(Ok(value)) => {
            units[0] = 0;
            value.put(&mut units[2..]);
        }
        Some(Err(error)) => {
            let (status, detail) = error.to_status();
            units[0] = u32::from(status.0);
            units[1] = detail;
        }
    }
}

fn unshare<R: Fixed>(units: &[u32; 16]) -> Result<R, CallError> {
    Outcome::new(Status(units[0] as u16), units[1]).result()?;
    R::get(&units[2..]).map_err(|_| CallError::Malformed)
}

/// Runs `call` once for the converged lanes, on the first of them; all get its result.
///
/// For anything that one lane can do. A single call of a service is better made by its own `…_together`, in which the
/// other lanes help instead of waiting.
///
/// # Errors
/// What `call` returned.
#[inline(always)]
#[track_caller]
pub fn once_per_wave<R: Fixed>(call: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
    const { assert!(R::DWORDS <= 14, "a shared result is at most 56 bytes") };
    let group = Converged::here();
    let mut units = [0u32; 16];
    share::<R>(&mut units, group.leads().then(call));
    group.end_with_leader();
    for unit in &mut units[..2 + R::DWORDS] {
        *unit = machine().broadcast(group.0.mask, *unit, group.0.leader);
    }
    unshare(&units)
}

/// Runs `call` once for the workgroup, on its first lane; all get its result.
///
/// Every lane of the workgroup must come here (it waits as [`sync_workgroup`] does).
///
/// # Errors
/// What `call` returned.
#[inline(always)]
pub fn once_per_workgroup<R: Fixed>(call: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
    const { assert!(R::DWORDS <= 14, "a shared result is at most 56 bytes") };
    let scratch = arch::group_scratch().cast::<[u32; 16]>();
    let mut units = [0u32; 16];
    if local_index() == 0 {
        // Should the call end this lane, that is what the others find.
        share::<R>(&mut units, Some(Err(CallError::Other(Status::KERNEL_ENDED))));
        // SAFETY: 64 bytes, 16-byte aligned, of this workgroup; only its first lane writes, and nobody reads
        // before the barrier below.
        unsafe { scratch.write_volatile(units) };
        share::<R>(&mut units, Some(call()));
        // SAFETY: as above.
        unsafe { scratch.write_volatile(units) };
    }
    sync_workgroup();
    // SAFETY: written before the barrier.
    units = unsafe { scratch.read_volatile() };
    // Nobody may come round to the next call and write while others still read.
    sync_workgroup();
    unshare(&units)
}
