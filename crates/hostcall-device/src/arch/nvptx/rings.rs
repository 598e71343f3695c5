//! Rings of streams on NVIDIA GPUs: where they are, and the accesses that [`RingMachine`] wants.

use super::{Machine, nanosleep};
use crate::arch::ring::RingMachine;
use core::arch::asm;
use hostcall_abi::stream::Rings;

// In constant memory, as the descriptor of ports.
#[cfg(not(target_vendor = "hostcall"))]
core::arch::global_asm!(".visible .const .align 64 .b8 __hostcall_rings[64];");

/// A field of the rings' descriptor. The compiler may move, merge and drop the load as it likes.
macro_rules! field {
    ($field:ident, reg64) => {{
        let value: u64;
        // SAFETY: reads 8 bytes of the rings' descriptor, which does not change while the kernel runs.
        unsafe {
            asm!("ld.const.u64 {value}, [__hostcall_rings+{offset}];", value = out(reg64) value,
                offset = const core::mem::offset_of!(Rings, $field), options(pure, nomem, nostack, preserves_flags));
        }
        value
    }};
    ($field:ident, reg32) => {{
        let value: u32;
        // SAFETY: reads 4 bytes of the rings' descriptor, which does not change while the kernel runs.
        unsafe {
            asm!("ld.const.u32 {value}, [__hostcall_rings+{offset}];", value = out(reg32) value,
                offset = const core::mem::offset_of!(Rings, $field), options(pure, nomem, nostack, preserves_flags));
        }
        value
    }};
}

/// The rings as the host wrote them. Fields that are not used are not read.
#[inline(always)]
pub(crate) fn rings() -> Rings {
    Rings {
        data: field!(data, reg64),
        stride: field!(stride, reg64),
        states: field!(states, reg64),
        credit: field!(credit, reg64),
        control: field!(control, reg64),
        counters: field!(counters, reg64),
        ring_log2: field!(ring_log2, reg32),
        rings_log2: field!(rings_log2, reg32),
        gates: field!(gates, reg64),
    }
}

impl RingMachine for Machine {
    #[inline(always)]
    fn load_credit(self, at: u64) -> u64 {
        let credit: u64;
        // SAFETY: callers pass the address of a `Credit`, in device or host memory. Pairs with the reader's store; what
        // is stored into the ring next depends on the value.
        unsafe { asm!("ld.relaxed.sys.global.u64 {credit}, [{at}];", credit = out(reg64) credit, at = in(reg64) at, options(nostack)) };
        credit
    }

    #[inline(always)]
    fn store_credit(self, at: u64, credit: u64) {
        // SAFETY: as above, in device memory. Pairs with `load_credit` of another wave.
        unsafe { asm!("st.relaxed.gpu.global.u64 [{at}], {credit};", at = in(reg64) at, credit = in(reg64) credit, options(nostack)) };
    }

    #[inline(always)]
    fn load_head(self, at: u64) -> u32 {
        let head: u32;
        // SAFETY: callers pass the address of a ring's head, in device memory. Relaxed: it hands out room, and orders
        // nothing.
        unsafe { asm!("ld.relaxed.gpu.global.u32 {head}, [{at}];", head = out(reg32) head, at = in(reg64) at, options(nostack)) };
        head
    }

    #[inline(always)]
    fn add_head(self, at: u64, granules: u32) -> u32 {
        let head: u32;
        // SAFETY: as above.
        unsafe {
            asm!("atom.relaxed.gpu.global.add.u32 {head}, [{at}], {granules};", head = out(reg32) head, at = in(reg64) at,
                granules = in(reg32) granules, options(nostack));
        }
        head
    }

    #[inline(always)]
    fn load_gate(self, at: u64) -> [u32; 8] {
        let (a, b, c, d, e, f, g, h): (u32, u32, u32, u32, u32, u32, u32, u32);
        // Mostly through the L1, which takes a quarter of the time, and never hears of a change. A relaxed load now and
        // then (of 128, one) brings the line anew. The product spreads all bits of the clock: in a loop its low ones
        // may always be the same.
        if RingMachine::dice(self).wrapping_mul(0x9e37_79b9) >> 25 == 0 {
            // SAFETY: callers pass the address of a gate, 32 bytes aligned to 32, in device memory.
            unsafe {
                asm!("ld.relaxed.gpu.global.v4.u32 {{{a}, {b}, {c}, {d}}}, [{at}];", "ld.relaxed.gpu.global.v4.u32 {{{e}, {f}, {g}, {h}}}, [{at}+16];",
                    at = in(reg64) at, a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    e = out(reg32) e, f = out(reg32) f, g = out(reg32) g, h = out(reg32) h, options(nostack));
            }
        } else {
            // SAFETY: as above. Weak, while the host may write: any value will do, and lanes agree by a ballot.
            unsafe {
                asm!("ld.global.ca.v4.u32 {{{a}, {b}, {c}, {d}}}, [{at}];", "ld.global.ca.v4.u32 {{{e}, {f}, {g}, {h}}}, [{at}+16];",
                    at = in(reg64) at, a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
                    e = out(reg32) e, f = out(reg32) f, g = out(reg32) g, h = out(reg32) h, options(nostack));
            }
        }
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn dice(self) -> u32 {
        let clock: u32;
        // SAFETY: reads a special register. Not pure: it is another number each time.
        unsafe { asm!("mov.u32 {clock}, %clock;", clock = out(reg32) clock, options(nomem, nostack, preserves_flags)) };
        clock
    }

    #[inline(always)]
    fn add_count(self, at: u64) {
        // SAFETY: callers pass the address of a counter, in device memory. Relaxed: it is read when the kernel has
        // ended.
        unsafe { asm!("red.relaxed.gpu.global.add.u64 [{at}], 1;", at = in(reg64) at, options(nostack)) };
    }

    #[inline(always)]
    fn store_units<const N: usize>(self, at: u64, values: [u32; N]) {
        // PTX promises for a vector what it does for each of its elements, and no more is needed. Pairs with the
        // reader's loads, by the units' phases.
        match values[..] {
            // SAFETY: callers pass the address of 1, 2 or 4 units of the wave's ring, aligned to their size together.
            [a, b, c, d] => unsafe {
                asm!("st.relaxed.sys.global.v4.b32 [{at}], {{{a}, {b}, {c}, {d}}};", at = in(reg64) at, a = in(reg32) a, b = in(reg32) b,
                    c = in(reg32) c, d = in(reg32) d, options(nostack));
            },
            // SAFETY: as above.
            [a, b] => unsafe {
                asm!("st.relaxed.sys.global.v2.b32 [{at}], {{{a}, {b}}};", at = in(reg64) at, a = in(reg32) a, b = in(reg32) b, options(nostack));
            },
            ref all => {
                for (i, &value) in all.iter().enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        asm!("st.relaxed.sys.global.b32 [{at}], {value};", at = in(reg64) at + 4 * i as u64, value = in(reg32) value, options(nostack));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn settle(self, [mut a, mut b, mut c, mut d]: [u32; 4]) -> [u32; 4] {
        // SAFETY: does nothing. Not pure: so it stays where it is, between accesses of memory, and what it takes is
        // worked out before.
        unsafe {
            asm!("// {a} {b} {c} {d}", a = inout(reg32) a, b = inout(reg32) b, c = inout(reg32) c, d = inout(reg32) d, options(nostack))
        };
        [a, b, c, d]
    }

    #[inline(always)]
    fn nap(self, attempt: u32) {
        // Up to 2 µs.
        nanosleep(64 << attempt.min(5));
    }
}
