//! What lanes of one wave can do together.

/// The lanes of a wave, as the calling one sees them.
///
/// Implemented for NVIDIA and AMD GPUs, for the simulator and for the tests' models.
pub trait Lanes: Copy {
    /// The calling lane's number in its wave.
    fn lane(self) -> u32;
    /// Bit per lane of `mask` for which `predicate` holds.
    fn ballot(self, mask: u64, predicate: bool) -> u64;
    /// What lane `from` of `mask` passed as `value`.
    fn broadcast(self, mask: u64, value: u32, from: u32) -> u32;
    /// Waits for the lanes of `mask`, and orders their memory accesses.
    fn sync(self, mask: u64);
    /// A lane waits for the host for the `attempt`-th time in a row: back off.
    fn pause(self, attempt: u32);
    /// A lane waits for lanes of other waves for the `attempt`-th time in a row: lets them run.
    #[inline(always)]
    fn pause_for_waves(self, attempt: u32) {
        self.pause(attempt);
    }
    /// Nanoseconds of a clock that never goes back.
    fn now_ns(self) -> u64;
}
