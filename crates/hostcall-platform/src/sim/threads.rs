//! A wave whose lanes are threads. Each still runs as a fiber, on its own thread, so that it can end anywhere.

use std::sync::{Arc, Mutex};

use super::grid::{Place, Run};
use super::group::Group;
use super::lane::{Fiber, Meeting, Sleepers, Step, WaveState};
use super::rendezvous::Rendezvous;
use super::stack::Slab;
use super::wait::Running;

/// The waves of a workgroup.
pub(super) fn waves(run: &Arc<Run>, group: &Arc<Group>) -> Vec<Arc<WaveState>> {
    let wave = |index| {
        let lanes = run.lanes_of(index);
        let live = if lanes == 64 { !0 } else { (1 << lanes) - 1 };
        let meeting = Meeting::Threads(Mutex::new(Rendezvous::new(live)), Sleepers::new(lanes));
        Arc::new(WaveState { run: run.clone(), group: group.clone(), index, meeting })
    };
    (0..run.waves()).map(wave).collect()
}

/// Runs one lane on the calling thread until it ends. `stacks` has one stack, for this lane alone.
pub(super) fn run_lane(wave: &Arc<WaveState>, lane: u32, place: Place, stacks: &mut Slab) {
    let _running = Running::new();
    if let Meeting::Threads(_, sleepers) = &wave.meeting {
        sleepers.enter(lane);
    }
    let info = wave.run.lane_info(&wave.group, wave.index, lane, place);
    // SAFETY: the slab is borrowed exclusively for this call, and the fiber ends with it.
    let mut fiber = unsafe { Fiber::new(info, wave, stacks.stack(0)) };
    let step = fiber.resume();
    debug_assert_eq!(step, Step::Ended, "operations of a lane on its own thread sleep instead of suspending");
    if let Meeting::Threads(meeting, sleepers) = &wave.meeting {
        let mut r = meeting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let waited = !r.ready;
        r.end(lane);
        wave.group.leave();
        let woken = r.ready & waited | wave.settle(&mut r);
        drop(r);
        sleepers.wake(woken);
    }
}
