//! Who may look into a buffer's memory, and until when.
//!
//! The memory belongs to the client, who may free it as soon as the buffer is deregistered. So every look into it
//! happens between `enter` and its guard's end, and closing a gate waits for those who are inside. The thread that
//! leads enters for each packet, so it has a word of its own: it writes it twice, and only the first time by an
//! operation that other processors wait for. Others are counted.

use std::sync::atomic::{AtomicU32, Ordering};

/// Set in the count when the gate is closed.
const CLOSED: u32 = 1 << 31;

/// A word on lines of its own.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Apart(AtomicU32);

/// A gate. The leader writes one word for each packet, and clients read the other for each: so they are apart.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// 1 while the leader is inside. Sequentially consistent with `others`: the leader says that it is inside, then
    /// looks whether the gate is closed; who closes it says so, then looks whether the leader is inside. One of the two
    /// sees the other.
    leader: Apart,
    /// How many others are inside, and whether it is closed.
    others: Apart,
}

/// The right to look into the memory.
#[derive(Debug)]
pub(super) enum Inside<'a> {
    Leader(&'a Gate),
    Other(&'a Gate),
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Release, both: pair with the acquires in `wait` and `led`: what was done inside is done before the memory is
        // given up.
        match self {
            Inside::Leader(gate) => gate.leader.0.store(0, Ordering::Release),
            Inside::Other(gate) => _ = gate.others.0.fetch_sub(1, Ordering::Release),
        }
    }
}

impl Gate {
    /// Enters as one of several, unless the gate is closed.
    pub(super) fn enter(&self) -> Option<Inside<'_>> {
        // Acquire: pairs with `close`. Either this count is seen there, or the closing here.
        let before = self.others.0.fetch_add(1, Ordering::AcqRel);
        let inside = Inside::Other(self);
        (before & CLOSED == 0).then_some(inside)
    }

    /// Enters as the one thread that leads. Two that lead at once would not be seen by `wait`.
    pub(super) fn enter_leading(&self) -> Option<Inside<'_>> {
        self.leader.0.swap(1, Ordering::SeqCst);
        let inside = Inside::Leader(self);
        (self.others.0.load(Ordering::SeqCst) & CLOSED == 0).then_some(inside)
    }

    /// Lets nobody in any more; `false` if somebody else closed it.
    pub(super) fn close(&self) -> bool {
        let first = self.others.0.fetch_or(CLOSED, Ordering::SeqCst) & CLOSED == 0;
        // Whoever found the gate open in `closed` has written before this. So what follows, relaxed loads too, sees
        // that.
        std::sync::atomic::fence(Ordering::SeqCst);
        first
    }

    /// Whether it is closed, for who has written something that whoever closes looks at, by a sequentially consistent
    /// operation.
    pub(super) fn closed(&self) -> bool {
        // Sequentially consistent: either this load comes after the change in `close`, or what was written before it
        // comes before that change, and so before the fence there. What is looked at behind the fence is then seen.
        self.others.0.load(Ordering::SeqCst) & CLOSED != 0
    }

    /// Waits until nobody is inside. The gate is closed.
    pub(super) fn wait(&self) {
        // Acquire: pairs with the releases when a guard ends. The leader's: sequentially consistent, as its declaration
        // says.
        while self.others.0.load(Ordering::Acquire) != CLOSED || self.leader.0.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }

    /// Whether the leader is inside.
    pub(super) fn led(&self) -> bool {
        // Acquire: pairs with the release of the leader's guard.
        self.leader.0.load(Ordering::Acquire) != 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn nobody_enters_a_closed_gate_and_who_closed_it_second_is_told() {
        let gate = Gate::default();
        assert!(gate.enter().is_some() && gate.enter_leading().is_some());
        assert!(gate.close() && !gate.close());
        assert!(gate.enter().is_none() && gate.enter_leading().is_none());
        gate.wait();
    }

    #[test]
    fn closing_waits_for_the_leader_and_for_others() {
        for leads in [true, false] {
            let (gate, left, entered) = (Gate::default(), AtomicBool::new(false), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let inside = if leads { gate.enter_leading() } else { gate.enter() }.expect("it is open");
                    entered.store(true, Ordering::SeqCst);
                    // As long as the other thread needs to find it inside.
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    left.store(true, Ordering::SeqCst);
                    drop(inside);
                });
                while !entered.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                assert!(gate.close());
                gate.wait();
                assert!(left.load(Ordering::SeqCst), "nobody is inside when waiting ends");
            });
        }
    }
}
