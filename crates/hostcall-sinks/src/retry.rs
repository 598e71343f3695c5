//! How often something is offered to who does not take it.

use std::time::{Duration, Instant};

use crate::intake::Account;

/// The first pause; each is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Offers of one thing.
#[derive(Debug)]
pub(crate) struct Offers {
    began: Instant,
    pause: Duration,
    limit: Duration,
}

impl Offers {
    /// For so long.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { began: Instant::now(), pause: FIRST_PAUSE, limit }
    }

    /// How long to wait before the next offer; `None`: it has been enough, or the sink has failed elsewhere.
    pub(crate) fn pause(&mut self, account: &Account) -> Option<Duration> {
        let pause = self.pause;
        if account.has_failed() || self.began.elapsed() + pause > self.limit {
            return None;
        }
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        Some(pause)
    }

    /// How long it has been tried, for messages.
    pub(crate) fn tried(&self) -> String {
        format!("tried for {:.1?}", self.began.elapsed())
    }
}
