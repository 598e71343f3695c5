//! Which mailboxes of a client say that packets are the host's: 16 of them, a lot, at a time.
//!
//! Nothing rings in this wire, so each turn of a serving thread compares all mailboxes of its ports. Those of ports
//! that nobody uses stay in the processor's cache, since no device writes their lines.

use std::sync::atomic::{AtomicU32, Ordering};

/// Mailboxes that are compared at once: those of a cache line, if they are aligned to one.
pub(super) const LOT: u32 = 16;

/// Bytes that are read of so many mailboxes at most.
pub(super) const fn bytes(ports: u32) -> usize {
    4 * ports.next_multiple_of(LOT) as usize
}

/// Of every `apart`th lot from `lot` on, the first with mailboxes that hold `told` flipped, and a bit for each of them.
/// What lies behind the last mailbox counts as one.
///
/// # Safety
/// `said` is aligned to 4 bytes and valid for reads of as many words as `told` has, and accessed atomically only.
#[inline]
pub(super) unsafe fn next(said: *const u32, told: &[AtomicU32], lot: u32, apart: u32) -> Option<(u32, u32)> {
    assert!(told.len().is_multiple_of(LOT as usize) && apart > 0, "lots are whole, and others follow");
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2; the rest is the caller's.
        return unsafe { next_avx2(said, told, lot, apart) };
    }
    // SAFETY: the caller's.
    unsafe { next_portable(said, told, lot, apart) }
}

/// # Safety
/// As of [`next`].
unsafe fn next_portable(said: *const u32, told: &[AtomicU32], lot: u32, apart: u32) -> Option<(u32, u32)> {
    let (lots, _) = told.as_chunks::<{ LOT as usize }>();
    (lot as usize..lots.len()).step_by(apart as usize).find_map(|lot| {
        let differs = |(i, told): (usize, &AtomicU32)| {
            // SAFETY: one of the caller's words.
            let said = unsafe { AtomicU32::from_ptr(said.add(lot * LOT as usize + i).cast_mut()) };
            // Relaxed, both: see `Memory::is_hosts`.
            u32::from(said.load(Ordering::Relaxed) ^ told.load(Ordering::Relaxed) == 1) << i
        };
        let found = lots[lot].iter().enumerate().map(differs).sum();
        (found != 0).then_some((lot as u32, found))
    })
}

/// # Safety
/// As of [`next`], whose assertion holds, and the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn next_avx2(said: *const u32, told: &[AtomicU32], lot: u32, apart: u32) -> Option<(u32, u32)> {
    use std::arch::x86_64::{__m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_movemask_ps, _mm256_set1_epi32};
    let one = _mm256_set1_epi32(1);
    let lots = told.len() / LOT as usize;
    let mut lot = lot as usize;
    while lot < lots {
        let half = |at: usize| {
            let differ: __m256i;
            // SAFETY: `at + 8` words are inside the mailboxes, and inside `told`. Unaligned loads in assembly: a device
            // and other threads write these words meanwhile, and each aligned 4-byte lane of a vector is read in one
            // piece; whoever serves a port looks at its own words again.
            unsafe {
                std::arch::asm!(
                    "vmovdqu {x}, [{said}]", "vpxor {x}, {x}, [{told}]",
                    x = out(ymm_reg) differ, said = in(reg) said.add(at), told = in(reg) told.as_ptr().add(at),
                    options(nostack, preserves_flags, readonly)
                );
            };
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(differ, one))) as u8
        };
        let at = lot * LOT as usize;
        let found = u32::from(half(at)) | u32::from(half(at + 8)) << 8;
        if found != 0 {
            return Some((lot as u32, found));
        }
        lot += apart as usize;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by its definition.
    fn expected(said: &[u32], told: &[u32], lot: u32, apart: u32) -> Option<(u32, u32)> {
        (lot..told.len() as u32 / LOT).step_by(apart as usize).find_map(|lot| {
            let of_lot = (0..LOT).filter(|i| {
                let at = (lot * LOT + i) as usize;
                (said[at], told[at]) == (0, 1) || (said[at], told[at]) == (1, 0)
            });
            let found = of_lot.map(|i| 1 << i).sum();
            (found != 0).then_some((lot, found))
        })
    }

    proptest! {
        #[test]
        fn the_first_lot_with_a_flipped_mailbox_is_found_however_it_lies(
            words in proptest::collection::vec((prop_oneof![8 => Just(0u32), 1 => Just(1), 1 => Just(2), 1 => any::<u32>()], 0u32..8), 64),
            lot in 0u32..6, apart in 1u32..4, shift in 0usize..4,
        ) {
            // Mostly the same, so that there are lots in which nothing differs.
            let told: Vec<u32> = words.iter().map(|(said, differs)| if *differs == 0 { (said & 1) ^ 1 } else { said & 1 }).collect();
            let said: Vec<u32> = words.iter().map(|(said, _)| *said).collect();
            let known: Vec<AtomicU32> = told.iter().map(|&told| AtomicU32::new(told)).collect();
            let memory: Vec<AtomicU32> = vec![0; shift].into_iter().chain(said.iter().copied()).map(AtomicU32::new).collect();
            let at = memory[shift..].as_ptr().cast::<u32>();
            let expected = expected(&said, &told, lot, apart);
            // SAFETY: as many words as are known, which are atomics.
            unsafe {
                prop_assert_eq!(next(at, &known, lot, apart), expected);
                prop_assert_eq!(next_portable(at, &known, lot, apart), expected);
            }
        }
    }
}
