//! Calls made once for a whole grid.
//!
//! A kernel does not know which launch it is, and a static outlives it. So the caller says which launch it is, and the
//! static's state says of which one its result is.

use super::{Converged, share, unshare};
use crate::context::machine;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use hostcall_abi::CallError;
use hostcall_abi::codec::Fixed;
use hostcall_abi::lanes::Lanes;

/// A call made once by a whole grid: a static of the kernel's crate.
///
/// The first lane of a launch to come runs the call, whichever it is; others wait for its result. It is not the grid's
/// first lane, which may come last or never to this place: so the call's arguments should be the same in all lanes.
/// Which launch it is, the host says: by a number that is another one for each launch, a parameter of the kernel.
///
/// ```ignore
/// static FIRST: OncePerGrid<f32> = OncePerGrid::new();
///
/// #[kernel]
/// pub fn demo(launch: u32, y: &mut [f32]) -> Result<(), CallError> {
///     y[global_id()] = FIRST.call(launch, || Host::add42(1.0))?;
///     Ok(())
/// }
/// ```
///
/// Launches that run at the same time and share such a static each get a result of their own, but may call more than
/// once.
#[derive(Debug)]
pub struct OncePerGrid<R> {
    /// A [`State`].
    state: AtomicU64,
    /// The result, written by who has made the state [`Phase::WRITING`].
    units: [AtomicU32; 16],
    result: PhantomData<fn() -> R>,
}

/// | bits | |
/// |---|---|
/// | 0–1 | phase |
/// | 2–31 | how often the static was taken |
/// | 32–63 | the launch that took it last |
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(u64);

/// What the state's launch is at.
struct Phase;

impl Phase {
    /// A lane makes the call. It may end before it has a result, together with its kernel.
    const CALLING: u64 = 1;
    /// A lane stores the result: it does nothing else, and so comes to its end.
    const WRITING: u64 = 2;
    /// The result is there.
    const DONE: u64 = 3;
}

impl State {
    fn phase(self) -> u64 {
        self.0 & 3
    }

    fn launch(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Taken by a launch, which is about to call.
    fn taken(self, launch: u32) -> Self {
        Self(u64::from(launch) << 32 | u64::from((self.0 as u32 & !3).wrapping_add(4)) | Phase::CALLING)
    }

    /// The same launch, in another phase.
    fn at(self, phase: u64) -> Self {
        Self(self.0 & !3 | phase)
    }
}

impl<R: Fixed> OncePerGrid<R> {
    /// Not called yet.
    #[expect(clippy::new_without_default, reason = "used in statics only")]
    pub const fn new() -> Self {
        Self { state: AtomicU64::new(0), units: [const { AtomicU32::new(0) }; 16], result: PhantomData }
    }

    /// Runs `call` if no lane of launch number `launch` has; all lanes of that launch get its result.
    ///
    /// A launch that gives the number of the last one gets the last one's result.
    ///
    /// # Errors
    /// What `call` returned.
    #[inline(never)]
    #[track_caller]
    pub fn call(&self, launch: u32, call: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
        const { assert!(R::DWORDS <= 14, "a shared result is at most 56 bytes") };
        // Only one lane of a wave tries, so that no lane waits for another of its own wave.
        let group = Converged::here();
        let mut units = [0u32; 16];
        if group.leads() {
            units = self.lead(launch, call);
        }
        group.end_with_leader();
        for unit in &mut units[..2 + R::DWORDS] {
            *unit = machine().broadcast(group.0.mask, *unit, group.0.leader);
        }
        unshare(&units)
    }

    /// The result of `launch`, by a call or by waiting for the lane that makes it.
    fn lead(&self, launch: u32, call: impl FnOnce() -> Result<R, CallError>) -> [u32; 16] {
        let mut attempt = 0u32;
        loop {
            // Acquire pairs with the release of `DONE` below: the units that were stored before are seen.
            let seen = State(self.state.load(Ordering::Acquire));
            let ours = seen.launch() == launch;
            if ours && seen.phase() == Phase::DONE {
                // Relaxed: ordered by the load above and the fence below.
                let units = core::array::from_fn(|i| self.units[i].load(Ordering::Relaxed));
                // Another launch may have taken the static meanwhile, and be storing its own. The fence pairs with the
                // acquire of who took it.
                fence(Ordering::Acquire);
                if State(self.state.load(Ordering::Relaxed)) == seen {
                    return units;
                }
                continue;
            }
            // What another launch was calling is its own affair: usually that one ended before its call did.
            if seen.phase() == Phase::WRITING || ours && seen.phase() == Phase::CALLING {
                attempt += 1;
                if attempt >= 64 && attempt.is_power_of_two() {
                    // The lane that calls may have been ended together with the kernel. Any call tells, and ends this
                    // lane as well.
                    let _ = crate::time::SystemTime::now();
                }
                machine().pause_for_waves(attempt);
                continue;
            }
            let taken = seen.taken(launch);
            if !self.advance(seen, taken) {
                continue;
            }
            let mut units = [0u32; 16];
            share::<R>(&mut units, Some(call()));
            // Unless another launch has taken the static: then the result is the calling wave's alone.
            if self.advance(taken, taken.at(Phase::WRITING)) {
                for (to, unit) in self.units.iter().zip(units) {
                    to.store(unit, Ordering::Relaxed);
                }
                self.state.store(taken.at(Phase::DONE).0, Ordering::Release);
            }
            return units;
        }
    }

    /// Moves the state on, unless somebody else did. Acquire: what follows is not done before.
    fn advance(&self, from: State, to: State) -> bool {
        self.state.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_tells_launches_takings_and_phases_apart() {
        let first = State(0).taken(7);
        assert_eq!((first.launch(), first.phase()), (7, Phase::CALLING));
        let done = first.at(Phase::WRITING).at(Phase::DONE);
        assert_eq!((done.launch(), done.phase()), (7, Phase::DONE));
        let again = done.taken(7);
        assert_eq!((again.launch(), again.phase()), (7, Phase::CALLING));
        assert!(again != first, "the same launch, but not the same taking");
        let last = State(u64::from(u32::MAX)).taken(u32::MAX);
        assert_eq!((last.launch(), last.phase()), (u32::MAX, Phase::CALLING), "the count of takings stays in its bits");
    }
}
