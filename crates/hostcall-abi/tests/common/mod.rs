//! What the models of ports and of streams share: chance, and waves whose lanes are fibers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// SplitMix64.
pub struct Random(pub Cell<u64>);

impl Random {
    pub fn below(&self, bound: u32) -> u32 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let z = self.0.get();
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }
}

/// What the lanes of a mask said at one collective operation after another.
#[derive(Clone, Default)]
struct Meeting {
    arrived: u64,
    values: HashMap<u32, u64>,
    /// What everybody said last time.
    last: HashMap<u32, u64>,
    round: u64,
}

/// The collectives of every wave.
#[derive(Default)]
pub struct Meetings(RefCell<HashMap<(u32, u64), Meeting>>);

impl Meetings {
    /// Lane `lane` of wave `wave` says `value` to the lanes of `mask`, lets others run by `step` until all of them
    /// have, and hears what each said.
    pub fn meet(&self, wave: u32, mask: u64, lane: u32, value: u64, step: impl Fn()) -> HashMap<u32, u64> {
        assert!(mask >> lane & 1 == 1, "a lane in a collective that is not its own");
        let key = (wave, mask);
        let round = {
            let mut meetings = self.0.borrow_mut();
            let meeting = meetings.entry(key).or_default();
            assert!(meeting.arrived >> lane & 1 == 0);
            meeting.arrived |= 1 << lane;
            meeting.values.insert(lane, value);
            let round = meeting.round;
            if meeting.arrived == mask {
                meeting.last = std::mem::take(&mut meeting.values);
                meeting.arrived = 0;
                meeting.round += 1;
            }
            round
        };
        loop {
            let meetings = self.0.borrow();
            let meeting = &meetings[&key];
            if meeting.round != round {
                return meeting.last.clone();
            }
            drop(meetings);
            step();
        }
    }
}

/// Implements `Lanes` for a lane that meets the others of its wave: by its methods `meet(mask, value)` and `step()`,
/// its field `lane`, and a clock.
macro_rules! lanes_that_meet {
    ($lane:ty, |$this:ident| $now:expr) => {
        impl hostcall_abi::lanes::Lanes for $lane {
            fn lane(self) -> u32 {
                self.lane
            }
            fn ballot(self, mask: u64, predicate: bool) -> u64 {
                self.meet(mask, u64::from(predicate)).iter().map(|(lane, said)| said << lane).sum()
            }
            fn broadcast(self, mask: u64, value: u32, from: u32) -> u32 {
                self.meet(mask, u64::from(value))[&from] as u32
            }
            fn sync(self, mask: u64) {
                self.meet(mask, 0);
            }
            fn pause(self, _: u32) {
                self.step();
            }
            fn now_ns(self) -> u64 {
                let $this = self;
                $now
            }
        }
    };
}
pub(crate) use lanes_that_meet;
