//! Memory that was put back.
//!
//! A profiler that replays a kernel puts all memory back, before each pass, that the device can reach: port states,
//! requests, doorbells, replies, windows. What the host remembers of the ports stays, and is ahead of them then. So the
//! server leaves a [mark](ServerPort::mark) of each port behind all that, and one of each share of ports before, which
//! are put back with the rest. Where marks are not what the server remembers, it goes back to them, and serves the next
//! pass as it has served the one before. A mark that went back is left as it is, also by a post that was taken before
//! and whose kernel has ended since: what it says is known nowhere else.
//!
//! The device can write marks, as it can write its requests. So a mark is checked as they are, and a device that writes
//! one disturbs its own ports and nobody else's.

use std::sync::atomic::Ordering;

use hostcall_abi::port::{HostMemory, ServerPort};

use super::served::Served;

/// Leaves the mark of a port that has gone on from the mark `before`, unless that was put back: then it is still
/// another one, for [`is_put_back`].
#[inline(always)]
pub(super) fn go_on(served: &Served, port: u32, before: u32, state: &ServerPort) {
    served.memory.words().leave_mark(port, before, state.mark());
}

/// Writes the mark of a port, whatever is there.
pub(super) fn mark(served: &Served, port: u32, state: &ServerPort) {
    // Pairs with nothing: marks are read by the thread that has the ports' lock, under which they are written.
    served.memory.words().mark(port).store(state.mark(), Ordering::Relaxed);
}

/// Whether a port's mark is not the one that was left.
#[inline(always)]
pub(super) fn is_put_back(served: &Served, port: u32, state: &ServerPort) -> bool {
    // As in `mark`.
    served.memory.words().mark(port).load(Ordering::Relaxed) != state.mark()
}

/// Goes back to a port's mark. Whether that is another one.
pub(super) fn follow(served: &Served, port: u32, state: &mut ServerPort) -> bool {
    let (words, geometry) = (served.memory.words(), served.memory.geometry());
    // As in `mark`. A mark that no server leaves is the device's doing.
    let then = ServerPort::at_mark(words.mark(port).load(Ordering::Relaxed), geometry);
    let Some(then) = then.filter(|then| then.mark() != state.mark()) else { return false };
    *state = then;
    // Posts that were taken and not yet acknowledged at that time are not taken again.
    words.acknowledge(geometry, port, then.tag());
    words.after_replies();
    true
}
