//! Clocks: the device's own, and the host's wall clock.

use crate::builtin::Clock;
use crate::context::machine;
use core::ops::{Add, Sub};
use core::time::Duration;
use hostcall_abi::CallError;
use hostcall_abi::lanes::Lanes;

/// A time of the device's clock, which never goes back. Reading it makes no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// Now.
    #[inline(always)]
    pub fn now() -> Self {
        Self(machine().now_ns())
    }

    /// How long ago it was.
    #[inline(always)]
    pub fn elapsed(self) -> Duration {
        Self::now() - self
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// How much later `self` is than `earlier`; zero if it is not.
    #[inline(always)]
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline(always)]
    fn add(self, later: Duration) -> Instant {
        Self(self.0.saturating_add(nanos(later)))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A time of the host's wall clock, which may be set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime {
    seconds: i64,
    nanos: u32,
}

impl SystemTime {
    /// The start of 1970, UTC.
    pub const UNIX_EPOCH: SystemTime = SystemTime { seconds: 0, nanos: 0 };

    pub(crate) const fn new(seconds: i64, nanos: u32) -> Self {
        Self { seconds, nanos }
    }

    /// Now, as the host says.
    ///
    /// # Errors
    /// Whatever ended the call to the host.
    pub fn now() -> Result<Self, CallError> {
        let (seconds, nanos) = Clock::system_time()?;
        Ok(Self { seconds, nanos })
    }

    /// Time since the start of 1970; zero if it is before.
    pub fn since_epoch(self) -> Duration {
        u64::try_from(self.seconds).map_or(Duration::ZERO, |seconds| Duration::new(seconds, self.nanos))
    }
}

/// Waits on the device, without a call, for at least `duration`.
pub fn sleep(duration: Duration) {
    let end = Instant::now() + duration;
    let mut attempt = 32;
    while Instant::now() < end {
        machine().pause(attempt);
        attempt += 1;
    }
}
