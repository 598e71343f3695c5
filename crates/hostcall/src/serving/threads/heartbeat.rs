//! The heartbeat: how calls are found of kernels whose launches nobody has counted or announced.
//!
//! While the server knows of no kernel that runs, and serves a program that others may launch, one thread sleeps, and
//! looks for news between two sleeps. News are what it reads of doorbells and of a few ports: it takes no message, so
//! that no handler keeps it. When there are some, the server is armed as for a launch of its own, until there was
//! nothing to do for [`Heartbeat::LINGER`].

use std::time::Instant;

use offload::host::Heartbeat;

use super::{Core, Seat, View};
use crate::record::stats::Padded;
use crate::serving::wake::Watch;

impl View {
    /// Whether any of these programs may be launched by others.
    pub(super) fn is_launched_elsewhere(&self) -> bool {
        self.buffers.iter().any(|served| served.is_launched_elsewhere())
    }

    fn has_news(&self) -> bool {
        self.buffers.iter().any(|served| served.is_launched_elsewhere() && served.has_news())
    }
}

impl Core {
    /// Sleeps until there is something to do for programs that others launch, or somebody has woken the threads since
    /// `woken` was read.
    pub(super) fn beat(&self, woken: u64, watch: &Watch<'_>, view: &View, seat: &Seat) {
        let mut heartbeat = Heartbeat::new(1);
        while self.wake.woken() == woken && watch.goes_on() {
            seat.rest();
            // Whoever wakes this thread is seen by the number. (The token may be of somebody who came before.)
            std::thread::park_timeout(heartbeat.nap());
            seat.turn();
            if view.has_news() {
                self.wake.lend();
                return self.wake_all();
            }
        }
    }

    /// After a sweep of the watch that took so many messages: whether what news have begun goes on. `quiet` is since
    /// when there was nothing to do.
    pub(super) fn linger(&self, taken: u32, view: &View, quiet: &mut Option<Instant>) {
        if !self.wake.is_lent() {
            return;
        }
        // A lane that waits for an answer is of a kernel that runs.
        let is_open = || {
            let elsewhere = view.buffers.iter().filter(|served| served.is_launched_elsewhere());
            elsewhere.into_iter().any(|served| served.has_open_calls() || served.open_posts() > 0)
        };
        let is_handling = || self.seats.iter().any(|Padded(seat)| seat.running.now().is_some());
        if taken > 0 || is_open() || is_handling() {
            *quiet = None;
        } else if quiet.get_or_insert_with(Instant::now).elapsed() > Heartbeat::LINGER {
            *quiet = None;
            self.wake.take_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use hostcall_abi::{Geometry, Tag};
    use offload::LaunchedElsewhere as _;

    use super::*;
    use crate::server::BufferHandle;
    use crate::serving::{PostBounds, Served, unbegun};
    use crate::test_utils::MockDevice;
    use crate::wire::PortBuffer;

    fn view() -> (Arc<Served>, View) {
        let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(4, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds::default());
        (served.clone(), View { buffers: Arc::new([served]), version: 0 })
    }

    #[test]
    fn news_are_what_has_come_of_programs_that_others_may_launch() {
        let (served, view) = view();
        let ring = |seq| MockDevice::new(BufferHandle(served.clone())).raw().ring(2, Tag::new(seq).payload().into());
        ring(1);
        assert!(!view.has_news(), "nobody else launches it");
        served.launched_elsewhere();
        assert!(view.has_news());
        ring(0);
        assert!(!view.has_news());
    }

    #[test]
    fn what_news_have_begun_goes_on_while_there_is_something_to_do_and_a_while_longer() {
        let (core, (served, view)) = (unbegun([], 1, 0), view());
        // Since when there was nothing to do: for so long that it is over, and not at all (however slow this is).
        let [long_ago, just_now] = [Instant::now() - 2 * Heartbeat::LINGER, Instant::now() + Duration::from_secs(3600)];
        let goes_on = |taken, since| {
            core.wake.lend();
            let mut quiet = Some(since);
            core.linger(taken, &view, &mut quiet);
            assert!(core.wake.is_lent() || quiet.is_none());
            core.wake.is_lent()
        };
        served.launched_elsewhere();
        assert!(goes_on(0, just_now) && !goes_on(0, long_ago));
        assert!(goes_on(1, long_ago), "something has come");
        served.open_call(1);
        assert!(goes_on(0, long_ago), "a lane waits");
        served.close_call(1);
        served.open_post(8);
        assert!(goes_on(0, long_ago), "a post is not handled");
        served.close_post(8);
        core.running_of(0).enter(1, 1, 1, 1);
        assert!(goes_on(0, long_ago), "a handler runs");
        core.running_of(0).leave();
        assert!(!goes_on(0, long_ago));
        let mut quiet = None;
        core.linger(0, &view, &mut quiet);
        assert!(quiet.is_none(), "nothing goes on");
    }
}
