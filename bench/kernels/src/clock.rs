//! A clock fine enough for single calls.

use core::time::Duration;
use hostcall::time::Instant;

/// A pause after which the reply to a request is there.
pub const REPLIED: Duration = Duration::from_micros(8);

/// A clock that counts *ticks*. NVIDIA's clock in nanoseconds, that of [`hostcall::time`], moves in steps of up to a
/// microsecond, so single calls are timed by the SM's cycle counter, and both clocks over the whole run say how long a
/// tick is. Elsewhere a tick is a nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    #[cfg(not(target_arch = "nvptx64"))]
    start: Instant,
}

impl Ticks {
    /// The clock, from now on.
    #[inline(always)]
    pub fn start() -> Self {
        Self {
            #[cfg(not(target_arch = "nvptx64"))]
            start: Instant::now(),
        }
    }

    /// Ticks since some time before [`Ticks::start`] returned.
    #[inline(always)]
    pub fn now(self) -> u64 {
        #[cfg(target_arch = "nvptx64")]
        {
            let ticks: u64;
            // SAFETY: reads a register. Not `pure`: every read is another value.
            unsafe { core::arch::asm!("mov.u64 {ticks}, %clock64;", ticks = out(reg64) ticks, options(nostack)) };
            ticks
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            self.start.elapsed().as_nanos() as u64
        }
    }

    /// `ticks` in nanoseconds, by how many have passed since the tick `first`, which was at `start`.
    #[inline(always)]
    pub fn nanoseconds(self, ticks: u64, first: u64, start: Instant) -> u64 {
        let passed = (self.now() - first).max(1);
        (ticks as f64 * start.elapsed().as_nanos() as f64 / passed as f64) as u64
    }
}
