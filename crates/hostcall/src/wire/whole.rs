//! Words that are moved in one piece.
//!
//! A device that the compiler knows nothing of writes shared memory. So words are moved by inline assembly, never
//! through references.

use hostcall_abi::Word;

/// Whether this processor moves aligned 16-byte words in one piece.
///
/// x86-64: processors with AVX guarantee it for aligned SSE moves (Intel SDM vol. 3A §10.1.1, AMD APM vol. 2 §7.3.2).
/// AArch64: those with `FEAT_LSE2` guarantee it for `ldp`/`stp` of an aligned pair.
pub(super) fn has_whole_words() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx")
    }
    #[cfg(target_arch = "aarch64")]
    {
        std::arch::is_aarch64_feature_detected!("lse2")
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        false
    }
}

/// The word of 14 bytes of payload and a tag.
///
/// # Safety
/// `at` is valid for reads of 16 bytes, which nobody else writes.
#[inline(always)]
pub(super) unsafe fn word_at(at: *const u8, tag: u16) -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_loadu_si128, _mm_or_si128, _mm_set_epi16};
        // SAFETY: SSE2 is part of x86-64; 16 bytes, as the caller says. `Word` is 16 bytes of plain integers, as
        // vectors are.
        unsafe {
            let payload = _mm_and_si128(_mm_loadu_si128(at.cast()), _mm_set_epi16(0, -1, -1, -1, -1, -1, -1, -1));
            std::mem::transmute::<__m128i, Word>(_mm_or_si128(payload, _mm_set_epi16(tag.cast_signed(), 0, 0, 0, 0, 0, 0, 0)))
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // SAFETY: 16 bytes, as the caller says, which are plain integers.
        Word::new(unsafe { at.cast::<[u32; 4]>().read_unaligned() }, tag)
    }
}

/// Loads an aligned word in one piece.
///
/// # Safety
/// `at` is valid for reads of 16 bytes and aligned to 16; [`has_whole_words`] said yes.
#[inline(always)]
pub(crate) unsafe fn load16(at: *const u8) -> Word {
    #[cfg(target_arch = "x86_64")]
    {
        let x: std::arch::x86_64::__m128i;
        // SAFETY: one aligned load from a valid address; it changes neither memory, stack nor flags.
        unsafe { std::arch::asm!("movdqa {x}, [{at}]", x = out(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags, readonly)) };
        // SAFETY: both are 16 bytes of plain integers.
        unsafe { std::mem::transmute::<std::arch::x86_64::__m128i, Word>(x) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let (a, b): (u64, u64);
        // The barrier keeps reads of staged bytes behind the word that announces them (x86-64 orders loads by itself).
        // SAFETY: one aligned load from a valid address, and a barrier; neither stack nor flags are changed.
        unsafe {
            std::arch::asm!("ldp {a}, {b}, [{at}]", "dmb oshld", a = out(reg) a, b = out(reg) b, at = in(reg) at, options(nostack, preserves_flags))
        };
        Word([a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32])
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `has_whole_words`; asked for {at:?}")
    }
}

/// Stores an aligned word in one piece.
///
/// # Safety
/// `at` is valid for writes of 16 bytes and aligned to 16; [`has_whole_words`] said yes.
#[inline(always)]
pub(crate) unsafe fn store16(at: *mut u8, word: Word) {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: both are 16 bytes of plain integers.
        let x = unsafe { std::mem::transmute::<Word, std::arch::x86_64::__m128i>(word) };
        // SAFETY: one aligned store to a valid address; it changes neither stack nor flags.
        unsafe { std::arch::asm!("movdqa [{at}], {x}", x = in(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags)) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        let [a, b, c, d] = word.0.map(u64::from);
        let (a, b) = (a | b << 32, c | d << 32);
        // The barrier keeps staged bytes before the word that announces them (x86-64 orders stores by itself).
        // SAFETY: a barrier, and one aligned store to a valid address; neither stack nor flags are changed.
        unsafe {
            std::arch::asm!("dmb oshst", "stp {a}, {b}, [{at}]", a = in(reg) a, b = in(reg) b, at = in(reg) at, options(nostack, preserves_flags))
        };
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        unreachable!("no 16-byte words on this machine, see `has_whole_words`; asked for {at:?} and {word:?}")
    }
}
