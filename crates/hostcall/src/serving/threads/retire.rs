//! How a port buffer leaves the threads that look at it: drained, closed, drained once more, and forgotten.
//!
//! A drain waits for the threads, and they wait for nobody: it ends at what the ports held. Only handlers can make it
//! last, and not for ever. Posts for which they make no room are given up, and an inline handler that does not return
//! is named.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hostcall_abi::Status;
use offload::overdue;

use super::{Core, wait_by};
use crate::record::stats::Padded;
use crate::serving::Served;

impl Core {
    /// How long posts for which there is no room wait for some when their buffer is taken out of service.
    pub(crate) const PATIENCE: Duration = Duration::from_millis(400);

    /// Takes a buffer out of service: calls that wait or still come end with `status`, posts that have arrived are
    /// taken. Those for which handlers make no room until `deadline` are given up, which the report says. When this
    /// returns no serving thread looks at the buffer any more.
    pub(crate) fn retire(&self, served: &Arc<Served>, status: Status, deadline: Instant) {
        served.closing.set(status);
        // What is there is answered, and only then the word is written that lets lanes give up; a last look finds what
        // came in between. Whoever sends after that finds the word.
        self.drain_or_give_up(served, deadline);
        served.memory.close(status);
        self.drain_or_give_up(served, deadline);
        let mut list = self.list();
        *list = list.iter().filter(|other| !Arc::ptr_eq(other, served)).cloned().collect();
        // Pairs with the load in `drain_by`. After the drains above: whoever waits for one of his own has nothing more
        // to wait for.
        served.retired.store(true, Ordering::Release);
        // Pairs with the load in `run`.
        let version = self.buffers_version.fetch_add(1, Ordering::Release) + 1;
        drop(list);
        self.wake_all();
        // Pairs with the store in `run`.
        let done = || self.seats.iter().all(|Padded(seat)| seat.seen.load(Ordering::Acquire) >= version);
        self.wait_for_threads("taking a port buffer out of service", done);
        if let Some(rpc) = served.rpc() {
            rpc.close();
        }
    }

    /// Waits for the serving threads, on a thread that is none of them: they are done soon, unless a handler keeps one.
    fn wait_for_threads(&self, doing: &str, done: impl FnMut() -> bool) {
        overdue::wait(|| format!("{doing} waits for {}", self.handlers_that_run()), done);
    }

    /// The inline handlers in which threads are, for people.
    pub(crate) fn handlers_that_run(&self) -> String {
        let table = self.registry.table();
        let mut names: Vec<String> =
            self.running().filter_map(|running| running.now()).map(|(turn, _)| table.name(turn.service())).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { "the server's threads".to_owned() } else { format!("the inline handler of {}", names.join(" and of ")) }
    }

    /// Waits until the serving threads have taken what every port of the buffer holds now, or at `deadline`. Whether
    /// they have.
    pub(crate) fn drain_by(&self, served: &Served, deadline: Option<Instant>) -> bool {
        let turn = self.ask_for_drain(served);
        wait_by(deadline, || self.is_drained(served, turn))
    }

    /// Waits until the serving threads have taken what every port of the buffer holds now; from `deadline` on they give
    /// up what they have no room for.
    fn drain_or_give_up(&self, served: &Served, deadline: Instant) {
        let turn = self.ask_for_drain(served);
        if !wait_by(Some(deadline), || self.is_drained(served, turn)) {
            served.give_posts_up();
            self.wait_for_threads("draining a port buffer", || self.is_drained(served, turn));
        }
    }

    fn ask_for_drain(&self, served: &Served) -> u64 {
        // Pairs with the acquire in `Share::sweep`: what came before this call is seen in that turn.
        let turn = served.drain.fetch_add(1, Ordering::Release) + 1;
        self.wake_all();
        turn
    }

    fn is_drained(&self, served: &Served, turn: u64) -> bool {
        // Somebody else may take the buffer out of service meanwhile, and has drained it then. Pairs with the store in
        // `retire`.
        let retired = || served.retired.load(Ordering::Acquire);
        let rpc = || served.rpc().is_none_or(|rpc| rpc.is_drained(turn));
        self.ended() || retired() || served.shares.iter().all(|share| share.drained() >= turn) && rpc()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use hostcall_abi::Geometry;

    use super::*;
    use crate::serving::{PostBounds, unbegun};
    use crate::wire::PortBuffer;

    #[test]
    fn who_takes_a_buffer_out_of_service_waits_until_each_thread_has_seen_the_list_without_it() {
        let core = unbegun([], 2, 0);
        let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(16, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), 2, PostBounds::default());
        core.add(served.clone());
        // What the threads would do.
        let see = |version| core.seats.iter().for_each(|Padded(seat)| seat.seen.store(version, Ordering::Release));
        let known = core.buffers_version();
        see(known);
        // Nobody is there to drain it.
        served.retired.store(true, Ordering::Release);
        let seen = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while core.buffers_version() == known {
                    std::thread::yield_now();
                }
                // Whoever did not wait would be through by then; one that waits does so however long this is.
                std::thread::sleep(Duration::from_millis(20));
                // Pairs with the load below.
                seen.store(true, Ordering::Release);
                see(known + 1);
            });
            core.retire(&served, Status::DETACHED, Instant::now() + Core::PATIENCE);
            assert!(seen.load(Ordering::Acquire) && core.buffers().is_empty());
        });
    }
}
