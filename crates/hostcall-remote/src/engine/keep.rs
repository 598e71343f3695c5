//! Posts that the broker keeps.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument as _;

use super::{Engine, LONGEST_PAUSE, PAUSE, Waiting};

impl Engine {
    /// Has what waits kept, which counts as under way.
    pub(super) fn start_keeping(self: Arc<Self>) {
        let (gathered, body) = self.gather();
        if gathered.is_empty() {
            return self.done();
        }
        let (runtime, span) = (self.runtime.clone(), self.span(gathered.len(), &body));
        let keep = async move {
            self.keep(gathered, body).await;
            self.done();
        };
        runtime.spawn(keep.instrument(span));
    }

    /// Offers posts to the broker until it keeps them.
    async fn keep(&self, gathered: Vec<Waiting>, body: Bytes) {
        // Relaxed: each number once.
        let id = format!("{}-{}", self.run, self.next.fetch_add(1, Ordering::Relaxed));
        let Some(last) = gathered.iter().map(|waiting| waiting.since + self.options.timeout).min() else { return };
        let mut pause = PAUSE;
        loop {
            let kept = tokio::select! {
                kept = self.link.transport.keep(&self.subject, &id, body.clone()) => kept,
                () = sleep_until(last) => return self.time_out(gathered),
            };
            match kept {
                Ok(()) => {
                    let now = Instant::now();
                    self.counts.answered(gathered.iter().map(|waiting| now - waiting.since));
                    return gathered.into_iter().for_each(|waiting| waiting.batch.finish());
                }
                Err(error) => {
                    tracing::warn!(%error, service = %self.definition.name, "posts are not kept; they are offered again");
                    tokio::select! {
                        () = sleep(pause) => {}
                        () = sleep_until(last) => return self.time_out(gathered),
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}
