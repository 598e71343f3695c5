//! The reading side on the simulator: threads of the host, which load words as its lanes do.

use std::thread;
use std::time::{Duration, Instant};

use super::{Counts, Effort, Line, Window};
use crate::backend::BackendMemory;

const READERS: usize = 2;

/// Reads by threads, and gives what they saw; `None` if one ended before its time.
pub(super) fn read(window: &Window, lines: usize, effort: Effort) -> Option<Counts> {
    let one = || read_for(effort.duration(), &*window.memory, lines);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..READERS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().try_fold(Counts::default(), |all, thread| Some(all.and(thread.join().ok()?)))
    })
}

/// Reads all lines again and again. `memory` is held, so that the lines stay.
fn read_for(time: Duration, memory: &dyn BackendMemory, lines: usize) -> Counts {
    let (mut counts, start) = (Counts::default(), Instant::now());
    let mut last = vec![0u32; 4 * lines];
    while counts.words_read == 0 || start.elapsed() < time {
        for (line, last) in last.chunks_exact_mut(4).enumerate() {
            // SAFETY: the lines are the first of `memory`.
            let words = [0, 16, 32, 48].map(|at| unsafe { load16(memory.host_pointer().add(line * Line::BYTES + at)) });
            for ([a, b, c, d], last) in words.into_iter().zip(last) {
                counts.torn_words += u64::from(a != b || a != c || a != d);
                counts.words_back += u64::from(a.wrapping_sub(*last).cast_signed() < 0);
                *last = a;
            }
            counts.torn_lines += u64::from(words.iter().any(|word| *word != words[0]));
            counts.words_read += 4;
        }
    }
    counts
}

/// Loads a word, in one piece on processors that have AVX or LSE2.
///
/// # Safety
/// `at` is valid for reads of 16 bytes and aligned to 16.
#[inline(always)]
unsafe fn load16(at: *const u8) -> [u32; 4] {
    #[cfg(target_arch = "x86_64")]
    {
        let x: std::arch::x86_64::__m128i;
        // SAFETY: one aligned load from the caller's address; it changes neither memory, stack nor flags. The result is
        // 16 bytes of integers.
        unsafe {
            std::arch::asm!("movdqa {x}, [{at}]", x = out(xmm_reg) x, at = in(reg) at, options(nostack, preserves_flags, readonly));
            std::mem::transmute::<std::arch::x86_64::__m128i, [u32; 4]>(x)
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let (a, b): (u64, u64);
        // SAFETY: one aligned load from the caller's address; it changes neither memory, stack nor flags.
        unsafe {
            std::arch::asm!("ldp {a}, {b}, [{at}]", a = out(reg) a, b = out(reg) b, at = in(reg) at, options(nostack, preserves_flags, readonly))
        };
        [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        // SAFETY: the caller's address.
        [0, 1, 2, 3].map(|i| unsafe { at.cast::<u32>().add(i).read_volatile() })
    }
}
