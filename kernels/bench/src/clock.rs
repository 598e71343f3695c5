//! A clock fine enough for single calls.

/// A clock that counts *ticks*. NVIDIA's clock in nanoseconds, that of [`hostcall::time`], moves in steps of up to a microsecond, so single calls are
/// timed by the SM's cycle counter, and both clocks over the whole run say how long a tick is. Elsewhere a tick is a nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    #[cfg(not(target_arch = "nvptx64"))]
    start: hostcall::time::Instant,
}

impl Ticks {
    /// The clock, from now on.
    #[inline(always)]
    pub fn start() -> Self {
        Self {
            #[cfg(not(target_arch = "nvptx64"))]
            start: hostcall::time::Instant::now(),
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
}
