//! Loads and stores of memory wherever it lies, a lane's own included, which no compiler takes apart or makes a
//! `memcpy` of.

use core::arch::asm;

/// # Safety
/// The address is valid for the read of four bytes, and aligned to them.
#[inline(always)]
pub(crate) unsafe fn load(from: u64) -> u32 {
    let value: u32;
    // SAFETY: the caller's.
    unsafe {
        asm!("ld.u32 {value}, [{from}];", value = out(reg32) value, from = in(reg64) from, options(readonly, nostack, preserves_flags))
    };
    value
}

/// # Safety
/// The address is valid for the write of four bytes, and aligned to them.
#[inline(always)]
pub(crate) unsafe fn store(to: u64, value: u32) {
    // SAFETY: the caller's.
    unsafe { asm!("st.u32 [{to}], {value};", value = in(reg32) value, to = in(reg64) to, options(nostack, preserves_flags)) };
}

/// # Safety
/// The address is valid for the read.
#[inline(always)]
pub(crate) unsafe fn load_byte(from: u64) -> u8 {
    let value: u32;
    // SAFETY: the caller's. What is loaded is narrower than the register, which PTX allows.
    unsafe {
        asm!("ld.u8 {value}, [{from}];", value = out(reg32) value, from = in(reg64) from, options(readonly, nostack, preserves_flags))
    };
    value as u8
}

/// # Safety
/// The address is valid for the write.
#[inline(always)]
pub(crate) unsafe fn store_byte(to: u64, value: u8) {
    // SAFETY: as in `load_byte`.
    unsafe { asm!("st.u8 [{to}], {value};", value = in(reg32) u32::from(value), to = in(reg64) to, options(nostack, preserves_flags)) };
}

/// # Safety
/// The address is valid for reads of 16 bytes, and aligned to them.
#[inline(always)]
pub(crate) unsafe fn load_piece(from: u64) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the caller's.
    unsafe {
        asm!("ld.v4.u32 {{{a}, {b}, {c}, {d}}}, [{from}];", a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            from = in(reg64) from, options(readonly, nostack, preserves_flags));
    }
    [a, b, c, d]
}

/// # Safety
/// The address is valid for writes of 16 bytes, and aligned to them.
#[inline(always)]
pub(crate) unsafe fn store_piece(to: u64, value: [u32; 4]) {
    // SAFETY: the caller's.
    unsafe {
        asm!("st.v4.u32 [{to}], {{{a}, {b}, {c}, {d}}};", a = in(reg32) value[0], b = in(reg32) value[1], c = in(reg32) value[2], d = in(reg32) value[3],
            to = in(reg64) to, options(nostack, preserves_flags));
    }
}
