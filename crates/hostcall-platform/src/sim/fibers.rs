//! A wave whose lanes are fibers of one thread.

use std::cell::RefMut;
use std::sync::Arc;

use hostcall_abi::sim::LaneInfo;

use super::grid::{Place, Run};
use super::group::{Blocked, Group};
use super::lane::{Fiber, Meeting, OneThread, Step, WaveState};
use super::rendezvous::{Rendezvous, bits};
use super::stack::Slab;
use super::wait::{Running, backoff};

/// The lanes of one wave and where they are.
pub(super) struct Wave<'s> {
    /// Before `_stacks`: fibers must not outlive their stacks.
    fibers: Vec<Fiber>,
    pub(super) state: Arc<WaveState>,
    _stacks: &'s Slab,
}

impl<'s> Wave<'s> {
    /// `stacks` are those of this wave alone, for as long as it lives.
    pub(super) fn new(run: &Arc<Run>, group: &Arc<Group>, index: usize, place: Place, stacks: &'s mut Slab) -> Self {
        let lanes = run.lanes_of(index);
        let live = if lanes == 64 { !0 } else { (1 << lanes) - 1 };
        let meeting = Meeting::Fibers(OneThread::new(Rendezvous::new(live)));
        let state = Arc::new(WaveState { run: run.clone(), group: group.clone(), index, meeting });
        let stacks = &*stacks;
        let fiber = |lane| {
            let info: LaneInfo = run.lane_info(group, index, lane, place);
            // SAFETY: each lane has its own stack of the slab, which this wave borrows exclusively.
            unsafe { Fiber::new(info, &state, stacks.stack(lane)) }
        };
        Self { fibers: (0..lanes).map(fiber).collect(), state, _stacks: stacks }
    }

    pub(super) fn meet(&self) -> RefMut<'_, Rendezvous> {
        let Meeting::Fibers(meeting) = &self.state.meeting else { unreachable!("a wave of fibers meets as fibers") };
        meeting.borrow()
    }

    /// Runs a ready lane until it waits or ends.
    pub(super) fn step(&mut self, lane: u32) {
        if self.fibers[lane as usize].resume() == Step::Ended {
            self.meet().end(lane);
            self.state.group.leave();
        }
    }

    /// The workgroup barrier may have been passed.
    pub(super) fn poll_group(&self) -> bool {
        super::ops::poll_group(&self.state, &mut self.meet())
    }

    /// Runs all lanes until the last has ended, or the kernel was.
    pub(super) fn run(mut self) {
        let _running = Running::new();
        let mut sites_released = 0;
        while !self.state.run.aborted() {
            self.poll_group();
            let ready = self.meet().ready;
            if ready != 0 {
                for lane in bits(ready) {
                    self.step(lane);
                }
                continue;
            }
            let mut r = self.meet();
            if r.live == 0 {
                break;
            }
            // Lanes that meet go before those that wait for somebody else, but do not keep them from looking for ever.
            if (r.paused == 0 || sites_released < 8) && r.release_site(None) {
                sites_released += 1;
                continue;
            }
            sites_released = 0;
            if r.paused != 0 {
                let attempt = r.least_attempt();
                r.unpause(!0);
                drop(r);
                if !self.state.run.help(attempt) {
                    backoff(attempt);
                }
                continue;
            }
            let blocked = self.state.check_stuck(&r);
            let generation = r.generation;
            drop(r);
            if blocked == Blocked::Waits {
                self.state.group.sleep(generation);
            }
        }
    }
}
