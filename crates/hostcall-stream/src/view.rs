//! The units of a ring, as readers load them while a device writes.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use hostcall_abi::stream::RingMemory;
use hostcall_abi::stream::unit::{PHASE, Position};
use offload::HostMemory;

/// Where the next message of a ring begins: all that a look at a ring needs in which there is nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Eye {
    first: *const u32,
    phase: u32,
}

// SAFETY: an address, which only `see` follows; what that asks for goes for any thread.
unsafe impl Send for Eye {}

impl Eye {
    /// Which of as many as 64 see the first unit of a message: a bit for each.
    ///
    /// # Safety
    /// The memories of all of them are there.
    #[inline(always)]
    pub(crate) unsafe fn see(eyes: &[Self]) -> u64 {
        eyes.iter().enumerate().fold(0, |seen, (at, eye)| {
            // SAFETY: a unit inside a ring that is there, aligned. Volatile, because a device writes it.
            let unit = unsafe { eye.first.read_volatile() };
            seen | u64::from((unit ^ eye.phase) & PHASE == 0) << at
        })
    }
}

/// The units of one ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RingView<'a> {
    first: NonNull<u32>,
    units: usize,
    _memory: &'a HostMemory<u32>,
}

impl<'a> RingView<'a> {
    /// The `units` units from number `first` of the memory on.
    ///
    /// # Panics
    /// When the memory is shorter.
    pub(crate) fn new(memory: &'a HostMemory<u32>, first: usize, units: usize) -> Self {
        assert!(first.checked_add(units).is_some_and(|end| end <= memory.len()), "inside the memory");
        // SAFETY: inside the memory, as just checked; an address in memory is not null.
        let first = unsafe { NonNull::new_unchecked(memory.as_ptr().add(first)) };
        Self { first, units, _memory: memory }
    }

    /// Where a message begins.
    pub(crate) fn eye(&self, at: Position) -> Eye {
        Eye { first: self.at(at.unit(0), 1), phase: at.phase(0) }
    }

    #[inline(always)]
    fn at(&self, unit: u32, count: usize) -> *const u32 {
        assert!(unit as usize + count <= self.units, "inside the ring");
        // SAFETY: as just checked.
        unsafe { self.first.as_ptr().add(unit as usize) }
    }
}

impl RingMemory for RingView<'_> {
    #[inline(always)]
    fn load_four(&self, unit: u32) -> [u32; 4] {
        // SAFETY: inside the ring, and aligned: the ring is aligned to a line, and `unit` a multiple of four.
        unsafe { load(self.at(unit, 4)) }
    }

    #[inline(always)]
    fn load_eight(&self, unit: u32) -> [u32; 8] {
        // SAFETY: as above, a multiple of eight.
        unsafe { load_eight(self.at(unit, 8)) }
    }

    #[inline(always)]
    fn load_eights(&self, unit: u32, count: u32) -> impl Iterator<Item = [u32; 8]> {
        let from = self.at(unit, 8 * count as usize);
        // SAFETY: the range was checked, and lives as long as `self`. It may change at any time, which a cell may.
        let eights = unsafe { std::slice::from_raw_parts(from.cast::<UnsafeCell<Eight>>(), count as usize) };
        // SAFETY: as in `load_eight`.
        eights.iter().map(|eight| unsafe { load_eight(eight.get().cast()) })
    }

    #[inline(always)]
    fn copy(&self, unit: u32, phase: u32, out: &mut [u32]) -> bool {
        let from = self.at(unit, out.len());
        // SAFETY: the range was checked; see `load_four` for the rest.
        unsafe { copy(from, phase, out) }
    }

    #[inline(always)]
    fn prefetch(&self, unit: u32) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a hint, for any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.first.as_ptr().wrapping_add(unit as usize).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = unit;
    }

    fn repair(&self, unit: u32, value: u32) {
        // SAFETY: inside the ring; no kernel writes it any more. Relaxed: this thread reads it next.
        unsafe { AtomicU32::from_ptr(self.at(unit, 1).cast_mut()) }.store(value, Ordering::Relaxed);
    }
}

/// What the processor loads at once.
#[cfg(target_arch = "x86_64")]
type Quad = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Quad = [u32; 4];

/// What the best of processors load at once.
#[cfg(target_arch = "x86_64")]
type Eight = std::arch::x86_64::__m256i;
#[cfg(not(target_arch = "x86_64"))]
type Eight = [u32; 8];

/// Loads eight units.
///
/// # Safety
/// As [`load`], of eight units, aligned to 32.
#[inline(always)]
unsafe fn load_eight(from: *const u32) -> [u32; 8] {
    // SAFETY: the caller's; as in `load`. Where processors do not load 32 bytes at once it is two loads.
    let eight = unsafe { from.cast::<Eight>().read_volatile() };
    // SAFETY: both are 32 bytes, of which any are eight numbers.
    unsafe { std::mem::transmute::<Eight, [u32; 8]>(eight) }
}

/// Loads four units.
///
/// # Safety
/// `from` is valid for reads of four units and aligned to 16. A device may write them meanwhile.
#[inline(always)]
unsafe fn load(from: *const u32) -> [u32; 4] {
    // SAFETY: the caller's. Volatile, because a device writes; it stores units of 4 bytes, and processors load those of
    // an aligned quad whole.
    let quad = unsafe { from.cast::<Quad>().read_volatile() };
    // SAFETY: both are 16 bytes, of which any are four numbers.
    unsafe { std::mem::transmute::<Quad, [u32; 4]>(quad) }
}

/// Copies units, a multiple of four of them, and says whether all have the phase.
///
/// # Safety
/// As [`load`], of as many units.
#[inline(always)]
unsafe fn copy(from: *const u32, phase: u32, out: &mut [u32]) -> bool {
    let mut differ = [0; 8];
    let (eights, rest) = out.as_chunks_mut::<8>();
    let done = eights.len() * 8;
    for (i, out) in eights.iter_mut().enumerate() {
        // SAFETY: the caller's.
        let (low, high) = unsafe { (load(from.add(8 * i)), load(from.add(8 * i + 4))) };
        for k in 0..4 {
            differ[k] |= low[k] ^ phase;
            differ[k + 4] |= high[k] ^ phase;
        }
        out[..4].copy_from_slice(&low);
        out[4..].copy_from_slice(&high);
    }
    for (i, out) in rest.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // SAFETY: the caller's.
        let quad = unsafe { load(from.add(done + 4 * i)) };
        for k in 0..4 {
            differ[k] |= quad[k] ^ phase;
        }
        *out = quad;
    }
    differ.iter().fold(0, |all, one| all | one) & PHASE == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use offload::{Device, SimConfig};

    #[test]
    fn a_ring_is_read_as_it_was_written_and_units_of_another_phase_are_seen() {
        let device = Device::sim(SimConfig::default()).expect("a simulator");
        let memory = device.alloc_host::<u32>(256).expect("memory");
        let ring = RingView::new(&memory, 128, 128);
        for unit in 0..64 {
            ring.repair(unit, unit | PHASE);
        }
        let mut units = [0; 64];
        assert!(ring.copy(0, PHASE, &mut units));
        assert!(units.iter().enumerate().all(|(i, unit)| *unit == i as u32 | PHASE));
        assert_eq!(ring.load_four(8), [8, 9, 10, 11].map(|unit| unit | PHASE));
        ring.repair(37, 37);
        assert!(!ring.copy(0, PHASE, &mut units) && ring.copy(0, PHASE, &mut units[..36]));
        assert!(RingView::new(&memory, 0, 128).load_four(0) == [0; 4], "the other ring is another's");
    }
}
