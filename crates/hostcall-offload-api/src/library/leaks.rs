//! What was not destroyed, and where it was made (`OFFLOAD_CHECK=leaks`).

use super::Core;
use crate::runtime::{current_place, remembers_places};

/// Where an object was made, if that is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin(Option<Box<str>>);

impl Origin {
    /// This call.
    pub(super) fn here() -> Origin {
        Origin(remembers_places().then(|| current_place().into_boxed_str()))
    }

    fn text(&self) -> &str {
        self.0.as_deref().unwrap_or("an unknown place")
    }
}

/// Writes what is there to standard error, in one piece.
pub(super) fn report(library: &Core) {
    if !remembers_places() {
        return;
    }
    let mut lines = Vec::new();
    #[cfg(llvm24)]
    for (handle, context) in library.contexts.live_objects() {
        lines.push(format!("context {handle:p}, made by {}", context.origin.text()));
    }
    for (handle, queue) in library.queues.live_objects() {
        lines.push(format!("queue {handle:p}, made by {}", queue.origin.text()));
    }
    for (handle, event) in library.events.live_objects() {
        lines.push(format!("event {handle:p}, made by {}", event.origin.text()));
    }
    for (handle, program) in library.programs.live_objects() {
        lines.push(format!("program {handle:p}, made by {}", program.origin.text()));
    }
    lines.extend(library.memory.describe(Origin::text));
    let mut text = format!("offload: {} not destroyed at the last olShutDown\n", lines.len());
    for line in lines {
        text += &format!("offload: leak: {line}\n");
    }
    eprint!("{text}");
}
