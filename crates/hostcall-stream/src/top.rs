//! What streams show of themselves to `cargo hostcall top`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use hostcall_top::view::{self, View};
use hostcall_top::{Shown, Source};
use offload::overdue;

use crate::consumer::Shared;
use crate::counts::StreamCounts;

/// Shows the streams from now on, if their process was asked to show itself.
pub(crate) fn show(shared: &Arc<Shared>, threads: usize) -> Option<Shown> {
    let shared = Arc::downgrade(shared);
    hostcall_top::show(|| Arc::new(Looked { shared, threads }), |error| overdue::tell(&error))
}

/// Streams, as others see them.
struct Looked {
    shared: Weak<Shared>,
    threads: usize,
}

impl Source for Looked {
    fn add_to(&self, view: &mut View, number: u64) {
        let Some(shared) = self.shared.upgrade() else { return };
        let (counts, _) = shared.counts();
        let of = |counts: StreamCounts| view::Stream {
            name: counts.name.to_string(),
            messages: counts.messages,
            values: counts.values,
            unhandled: counts.unhandled,
            dropped: counts.dropped,
            waited: counts.waited,
        };
        view.streams.push(view::Streams {
            number,
            threads: self.threads as u64,
            streams: counts.into_iter().map(of).collect(),
            // Relaxed: numbers to be shown.
            torn: shared.torn.load(Ordering::Relaxed),
            malformed: shared.malformed.load(Ordering::Relaxed),
            handler_panics: shared.handler_panics.load(Ordering::Relaxed),
        });
    }
}
