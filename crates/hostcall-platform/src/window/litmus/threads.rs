//! The reading side on the simulator: threads of the host, which load words as its lanes do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::{Counts, Effort, Line, Readers, Window};
use crate::backend::BackendMemory;
use crate::error::Error;

/// Threads that read. Told to end when dropped.
pub(super) struct Threads {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Counts>>,
}

struct Shared {
    begun: AtomicBool,
    stop: AtomicBool,
}

const READERS: usize = 2;

impl Threads {
    pub(super) fn start(window: &Window, lines: usize, effort: Effort) -> Threads {
        let shared = Arc::new(Shared { begun: AtomicBool::new(false), stop: AtomicBool::new(false) });
        let start = |_| {
            let (shared, memory) = (shared.clone(), window.memory.clone());
            thread::spawn(move || read(&shared, &*memory, lines, effort.most_rounds()))
        };
        let threads = (0..READERS).map(start).collect();
        Threads { shared, threads }
    }
}

impl Readers for Threads {
    fn have_begun(&self) -> Result<bool, Error> {
        // Relaxed: it orders nothing.
        Ok(self.shared.begun.load(Ordering::Relaxed))
    }

    fn finish(mut self) -> Result<Option<Counts>, Error> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let mut all = Counts::default();
        for thread in std::mem::take(&mut self.threads) {
            let Ok(counts) = thread.join() else { return Ok(None) };
            all.words_read += counts.words_read;
            all.torn_words += counts.torn_words;
            all.torn_lines += counts.torn_lines;
            all.words_back += counts.words_back;
        }
        Ok(Some(all))
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

/// Reads all lines again and again. `memory` is held, so that the lines stay.
fn read(shared: &Shared, memory: &dyn BackendMemory, lines: usize, most_rounds: u32) -> Counts {
    let mut counts = Counts::default();
    let mut last = vec![0u32; 4 * lines];
    for _ in 0..most_rounds {
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
        shared.begun.store(true, Ordering::Relaxed);
        if shared.stop.load(Ordering::Relaxed) {
            break;
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
