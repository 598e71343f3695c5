//! What a message of a wave alone consists of, each part by itself.

use bench_services::units;
use hostcall::kernel;
use hostcall::time::Instant;
use hostcall::wave::{Converged, global_id, lane_id};

use crate::clock::Ticks;
use crate::streams::write;

/// Bits of `what`.
mod part {
    /// The first lane adds to the ring's head, and all lanes are told what it was.
    pub(super) const HEAD: u32 = 1;
    /// All lanes load the credit.
    pub(super) const CREDIT: u32 = 2;
    /// The clock in nanoseconds is read.
    pub(super) const CLOCK: u32 = 4;
    /// Five ballots.
    pub(super) const BALLOTS: u32 = 8;
    /// Each lane stores 16 bytes to host memory, and four lanes 16 more.
    pub(super) const STORES: u32 = 16;
    /// The stores are where the head says.
    pub(super) const DEPENDS: u32 = 32;
    /// 32 bytes are loaded through the L1, as gates are.
    pub(super) const GATE: u32 = 64;
    /// Twice the number to choose by, of which one is told to all.
    pub(super) const DICE: u32 = 128;
    /// 32 bytes are loaded past the L1.
    pub(super) const GATE_PAST: u32 = 256;
}

/// Bytes of `ring`, a power of two.
const RING: u32 = 1 << 19;

/// One wave does the parts in `what` (see the source) `warm + each` times. `head`: in device memory; `credit` and
/// `gate`: where a ring's and a stream's are; `ring`: 512 KiB of host memory. `out`: of each lane a sum that keeps the
/// parts, and nanoseconds of `each` times.
#[kernel]
pub fn stream_parts(
    what: u32,
    warm: u32,
    each: u32,
    head: *mut u32,
    credit: *const u64,
    gate: *const u32,
    ring: *mut u32,
    out: &mut [[u64; 2]],
) {
    let wave = Converged::here();
    let (clock, begin) = (Ticks::start(), Instant::now());
    let first = clock.now();
    let (mut start, mut sum) = (first, 0u64);
    for i in 0..warm + each {
        if i == warm {
            start = clock.now();
        }
        let units: [u32; 4] = units(lane_id(), i);
        let (mut at, mut freed) = (i * 9, 0);
        if what & part::CREDIT != 0 {
            // SAFETY: the host passes 8 bytes, which are accessed atomically only.
            freed = unsafe { load(credit) };
        }
        if what & (part::GATE | part::GATE_PAST) != 0 {
            // SAFETY: the host passes 32 bytes of device memory, which nobody writes.
            let words = unsafe { if what & part::GATE != 0 { gate_cached(gate) } else { gate_past(gate) } };
            sum = words.iter().fold(sum, |sum, word| sum.wrapping_add(u64::from(*word)));
        }
        if what & part::DICE != 0 {
            let (one, other) = (dice(), dice());
            if one.wrapping_mul(0x9e37_79b9) >> 25 == 0 {
                sum += 1;
            }
            sum = sum.wrapping_add(u64::from(wave.broadcast(other)));
        }
        let mut was = 0;
        if what & part::HEAD != 0 && wave.leads() {
            // SAFETY: the host passes a word of device memory, which is accessed atomically only.
            was = unsafe { add(head, 9) };
        }
        if what & part::CLOCK != 0 {
            sum = sum.wrapping_add(begin.elapsed().as_nanos() as u64);
        }
        if what & part::BALLOTS != 0 {
            for unit in units {
                sum = sum.wrapping_add(wave.ballot(unit >> 31 != 0));
            }
        }
        if what & part::HEAD != 0 {
            was = wave.broadcast(was);
            if what & part::DEPENDS != 0 {
                at = was;
            } else {
                sum = sum.wrapping_add(u64::from(was));
            }
        }
        if what & part::CREDIT != 0 && u64::from(at).wrapping_sub(freed) == u64::MAX {
            sum += 1;
        }
        if what & part::STORES != 0 {
            let place = at.wrapping_mul(64) % RING;
            for (offset, stores) in [(0, lane_id() < 4), (64, true)] {
                if stores {
                    let at = (place + offset + lane_id() * 16) % RING;
                    // SAFETY: below the bytes that the host passes, aligned to 16, and nobody reads them.
                    unsafe { store(ring.byte_add(at as usize), units) };
                }
            }
        }
    }
    let ns = clock.nanoseconds(clock.now() - start, first, begin);
    write(out, global_id(), [sum, ns]);
}

/// As rings' credit is loaded.
///
/// # Safety
/// `at` is a word of memory that is accessed atomically only.
#[inline(always)]
unsafe fn load(at: *const u64) -> u64 {
    #[cfg(target_arch = "nvptx64")]
    {
        let value: u64;
        // SAFETY: the caller's. Pairs with nothing: what is measured is the time.
        unsafe {
            core::arch::asm!("ld.relaxed.sys.global.u64 {value}, [{at}];", value = out(reg64) value, at = in(reg64) at, options(nostack))
        };
        value
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's. Relaxed: pairs with nothing, as above.
    unsafe {
        core::sync::atomic::AtomicU64::from_ptr(at.cast_mut()).load(core::sync::atomic::Ordering::Relaxed)
    }
}

/// As room in rings is reserved.
///
/// # Safety
/// `at` is a word of memory that is accessed atomically only.
#[inline(always)]
unsafe fn add(at: *mut u32, granules: u32) -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let was: u32;
        // SAFETY: the caller's. Relaxed: it hands out numbers, and orders nothing.
        unsafe {
            core::arch::asm!("atom.relaxed.gpu.global.add.u32 {was}, [{at}], {granules};", was = out(reg32) was, at = in(reg64) at,
                granules = in(reg32) granules, options(nostack));
        }
        was
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's. Relaxed, as above.
    unsafe {
        core::sync::atomic::AtomicU32::from_ptr(at).fetch_add(granules, core::sync::atomic::Ordering::Relaxed)
    }
}

/// A function that loads a gate by an instruction of NVIDIA's.
macro_rules! loads_gate {
    ($(#[$doc:meta])* $name:ident, $load:literal) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// `at` has 32 bytes, aligned to 16.
        #[inline(always)]
        unsafe fn $name(at: *const u32) -> [u32; 8] {
            #[cfg(target_arch = "nvptx64")]
            {
                let (a, b, c, d, e, f, g, h): (u32, u32, u32, u32, u32, u32, u32, u32);
                // SAFETY: the caller's.
                unsafe {
                    core::arch::asm!(concat!($load, " {{{a}, {b}, {c}, {d}}}, [{at}];"), concat!($load, " {{{e}, {f}, {g}, {h}}}, [{at}+16];"),
                        at = in(reg64) at, a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                        e = out(reg32) e, f = out(reg32) f, g = out(reg32) g, h = out(reg32) h, options(nostack));
                }
                [a, b, c, d, e, f, g, h]
            }
            #[cfg(not(target_arch = "nvptx64"))]
            // SAFETY: the caller's.
            unsafe {
                at.cast::<[u32; 8]>().read_volatile()
            }
        }
    };
}
loads_gate!(
    /// As gates are loaded mostly.
    gate_cached,
    "ld.global.ca.v4.u32"
);
loads_gate!(
    /// As gates are loaded now and then.
    gate_past,
    "ld.relaxed.gpu.global.v4.u32"
);

/// The number to choose by.
#[inline(always)]
fn dice() -> u32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let clock: u32;
        // SAFETY: reads a special register. Not pure: it is another number each time.
        unsafe { core::arch::asm!("mov.u32 {clock}, %clock;", clock = out(reg32) clock, options(nomem, nostack, preserves_flags)) };
        clock
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        1
    }
}

/// # Safety
/// `at` is host memory for four units, aligned to 16.
#[inline(always)]
unsafe fn store(at: *mut u32, [a, b, c, d]: [u32; 4]) {
    // SAFETY: the caller's.
    #[cfg(target_arch = "nvptx64")]
    unsafe {
        core::arch::asm!("st.relaxed.sys.global.v4.b32 [{at}], {{{a}, {b}, {c}, {d}}};", at = in(reg64) at, a = in(reg32) a, b = in(reg32) b,
            c = in(reg32) c, d = in(reg32) d, options(nostack));
    }
    #[cfg(not(target_arch = "nvptx64"))]
    // SAFETY: the caller's.
    unsafe {
        at.cast::<[u32; 4]>().write_volatile([a, b, c, d]);
    }
}
