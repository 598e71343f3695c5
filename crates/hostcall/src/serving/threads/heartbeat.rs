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
