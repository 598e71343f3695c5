//! How this processor writes a whole line of 64 bytes into a window.
//!
//! A window is mapped write-combining. Stores gather in a buffer of the processor, a line each. They leave when the
//! buffer is full, is needed for another line, or is flushed by a fence or an interrupt. A *full* buffer leaves as one
//! transfer of 64 bytes. A half full one leaves in chunks of 8 bytes ("Buffering of Write Combining Memory Locations",
//! Intel SDM vol. 3A), which can tear a 16-byte word. So a line is whole only where one instruction stores all of it.

use std::fmt;

/// One line of a window: what one [`LineStore::store`] writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Line(pub [u32; 16]);

const _: () = assert!(size_of::<Line>() == Line::BYTES && align_of::<Line>() == Line::BYTES);

impl Line {
    /// Bytes of a line.
    pub const BYTES: usize = 64;
}

/// Instructions that write a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LineStore {
    /// `movdir64b`: one write of 64 bytes, which the Intel SDM promises to be atomic. It goes past the caches, so it is
    /// slow into ordinary memory.
    MovDir64b,
    /// One AVX-512 store. It fills a write-combining buffer at once.
    Avx512,
    /// Two AVX stores. The buffer may leave between them.
    Avx,
    /// Four stores of 16 bytes. The buffer may leave between them.
    Sse2,
    /// Stores of 16 bytes where the processor has them in one piece (AArch64), else of 8.
    Plain,
}

impl LineStore {
    /// The best that this processor has for a window across a bus.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// The best that this processor has for ordinary, cached memory, such as the simulator's windows are.
    pub fn detect_cached() -> Self {
        let cached = Self::available().into_iter().find(|&store| store != Self::MovDir64b);
        cached.unwrap_or(Self::Plain)
    }

    /// All that this processor has, the best first.
    pub fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let candidates = [
                (Self::MovDir64b, has_movdir64b()),
                (Self::Avx512, std::arch::is_x86_feature_detected!("avx512f")),
                (Self::Avx, std::arch::is_x86_feature_detected!("avx")),
                (Self::Sse2, true),
                (Self::Plain, true),
            ];
            candidates.into_iter().filter_map(|(store, has)| has.then_some(store)).collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            vec![Self::Plain]
        }
    }

    /// Whether one instruction stores the whole line, so that a window's reader across the bus sees no torn word (see
    /// the module).
    pub fn is_whole(self) -> bool {
        matches!(self, Self::MovDir64b | Self::Avx512)
    }

    /// Writes a line. Lines written one after another may arrive in another order, as may what is written after them by
    /// other instructions; each 16-byte word of a line arrives whole if [`LineStore::is_whole`], and in ordinary memory
    /// always (on processors with AVX or LSE2).
    ///
    /// # Safety
    /// * `to` is aligned to 64 and valid for writes of 64 bytes;
    /// * nobody has a Rust reference to these bytes, and threads that read them at the same time do it by volatile or
    ///   atomic accesses;
    /// * this processor has these instructions: the value comes from [`LineStore::available`] or one of its neighbours.
    #[inline(always)]
    pub unsafe fn store(self, to: *mut u8, line: &Line) {
        debug_assert!(to.addr().is_multiple_of(Line::BYTES));
        match self {
            // SAFETY: a store of the caller's 64 bytes at an aligned address; neither stack nor flags are changed. The
            // caller's processor has the instruction.
            #[cfg(target_arch = "x86_64")]
            Self::MovDir64b => unsafe {
                std::arch::asm!("movdir64b {to}, [{line}]", to = in(reg) to, line = in(reg) line, options(nostack, preserves_flags));
            },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { store_avx512(to, line) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx => unsafe { store_avx(to, line) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => unsafe { store_sse2(to, line) },
            // SAFETY: as above.
            _ => unsafe { store_plain(to, line) },
        }
    }

    /// After the last line of a batch: has the lines leave the processor's buffers now.
    ///
    /// `movdir64b` needs none for that: its stores follow the protocol of write-combining memory, but leave at once and
    /// are not combined with later ones (Intel SDM vol. 2, `MOVDIR64B`). They are *ordered* no more than others, so
    /// where a later store must not be seen before the lines, use [`LineStore::order`]. A reader that knows a word by
    /// its tag needs neither.
    #[inline(always)]
    pub fn fence(self) {
        if self != Self::MovDir64b {
            self.order();
        }
    }

    /// What is stored later is seen after the lines stored before.
    #[inline(always)]
    pub fn order(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE is part of x86-64, and a fence touches no memory.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
        #[cfg(not(target_arch = "x86_64"))]
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }
}

impl fmt::Display for LineStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MovDir64b => "movdir64b",
            Self::Avx512 => "AVX-512",
            Self::Avx => "AVX",
            Self::Sse2 => "SSE2",
            Self::Plain => "plain stores",
        })
    }
}

/// CPUID leaf 7, ECX bit 28.
#[cfg(target_arch = "x86_64")]
fn has_movdir64b() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // SAFETY: every x86-64 processor has the instruction; leaf 0 tells how many leaves there are.
    #[allow(unused_unsafe, reason = "these are unsafe in the oldest compiler served, and safe in newer ones")]
    unsafe {
        __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & 1 << 28 != 0
    }
}

/// # Safety
/// As for [`LineStore::store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn store_avx512(to: *mut u8, line: &Line) {
    // SAFETY: a line is 64 readable bytes; one aligned store of the caller's bytes, which changes neither stack nor
    // flags.
    unsafe {
        let all = std::arch::x86_64::_mm512_load_si512((&raw const *line).cast());
        std::arch::asm!("vmovdqa64 [{to}], {all}", to = in(reg) to, all = in(zmm_reg) all, options(nostack, preserves_flags));
    }
}

/// # Safety
/// As for [`LineStore::store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn store_avx(to: *mut u8, line: &Line) {
    let from = (&raw const *line).cast::<std::arch::x86_64::__m256i>();
    // SAFETY: a line is 64 readable bytes; two aligned stores of the caller's bytes, which change neither stack nor
    // flags.
    unsafe {
        let (low, high) = (std::arch::x86_64::_mm256_load_si256(from), std::arch::x86_64::_mm256_load_si256(from.add(1)));
        std::arch::asm!(
            "vmovdqa [{to}], {low}", "vmovdqa [{to} + 32], {high}",
            to = in(reg) to, low = in(ymm_reg) low, high = in(ymm_reg) high, options(nostack, preserves_flags),
        );
    }
}

/// # Safety
/// As for [`LineStore::store`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn store_sse2(to: *mut u8, line: &Line) {
    let from = (&raw const *line).cast::<std::arch::x86_64::__m128i>();
    // SAFETY: a line is 64 readable bytes; four aligned stores of the caller's bytes, which change neither stack nor
    // flags.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| std::arch::x86_64::_mm_load_si128(from.add(i)));
        std::arch::asm!(
            "movdqa [{to}], {a}", "movdqa [{to} + 16], {b}", "movdqa [{to} + 32], {c}", "movdqa [{to} + 48], {d}",
            to = in(reg) to, a = in(xmm_reg) a, b = in(xmm_reg) b, c = in(xmm_reg) c, d = in(xmm_reg) d, options(nostack, preserves_flags),
        );
    }
}

/// # Safety
/// As for [`LineStore::store`].
#[inline(always)]
unsafe fn store_plain(to: *mut u8, line: &Line) {
    let from = (&raw const *line).cast::<u64>();
    #[cfg(target_arch = "aarch64")]
    for word in 0..4 {
        // SAFETY: two halves of a word of the line, and one aligned store to a word of the caller's; neither stack nor
        // flags are changed.
        unsafe {
            let (a, b) = (from.add(2 * word).read(), from.add(2 * word + 1).read());
            let to = to.add(16 * word);
            std::arch::asm!("stp {a}, {b}, [{to}]", a = in(reg) a, b = in(reg) b, to = in(reg) to, options(nostack, preserves_flags));
        }
    }
    #[cfg(not(target_arch = "aarch64"))]
    for half in 0..8 {
        // SAFETY: inside the line and inside the caller's bytes, both aligned.
        unsafe { to.cast::<u64>().add(half).write_volatile(from.add(half).read()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_store_a_line_writes_exactly_that_line() {
        let available = LineStore::available();
        eprintln!("this processor has {available:?}");
        assert_eq!(LineStore::detect(), available[0]);
        assert_ne!(LineStore::detect_cached(), LineStore::MovDir64b);
        assert!(available.contains(&LineStore::detect_cached()));
        for store in available {
            let mut memory = [Line([0x5555_5555; 16]); 5];
            let line = Line(std::array::from_fn(|i| 0x0101_0101 * (i as u32 + 1)));
            // SAFETY: the middle of five lines, which nobody else uses; the processor has the instructions.
            unsafe { store.store(memory.as_mut_ptr().add(2).cast(), &line) };
            store.fence();
            for (at, found) in memory.iter().enumerate() {
                assert_eq!(*found, if at == 2 { line } else { Line([0x5555_5555; 16]) }, "{store}, line {at}");
            }
        }
    }

    #[test]
    fn only_one_instruction_for_the_line_counts_as_whole() {
        let whole: Vec<_> = [LineStore::MovDir64b, LineStore::Avx512, LineStore::Avx, LineStore::Sse2, LineStore::Plain]
            .into_iter()
            .filter(|store| store.is_whole())
            .collect();
        assert_eq!(whole, [LineStore::MovDir64b, LineStore::Avx512]);
    }
}
