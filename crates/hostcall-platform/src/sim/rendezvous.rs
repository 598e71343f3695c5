//! Where lanes of a wave meet: who can run, who waits for what, and what collectives result in.
//!
//! This is one plain structure without any waiting in it, so that it can be tested by itself. The code that runs the
//! lanes (fibers on one thread, the seeded scheduler, a thread per lane) tells it what lanes do, and asks it who can
//! go on.

use std::collections::BTreeMap;

/// What lanes meet at. A collective completes when all lanes of its mask that have not ended wait in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    Ballot(u64),
    Shuffle(u64),
    Sync(u64),
    /// `active_mask` at a site.
    Active(usize),
}

#[derive(Clone, Copy)]
struct Lane {
    op: Op,
    value: u64,
    from: u32,
    result: u64,
    attempt: u32,
    /// How often another site was preferred to this lane's.
    passed_over: u32,
}

/// A site that was passed over so often goes first, so that none starves.
const PATIENCE: u32 = 1000;

/// The lanes of one wave. Each live lane is in exactly one of the sets.
pub(super) struct Rendezvous {
    /// Lanes that have not ended.
    pub(super) live: u64,
    /// Lanes that can run, or do.
    pub(super) ready: u64,
    /// Lanes that wait for somebody outside of the wave's sight.
    pub(super) paused: u64,
    /// Lanes in `active_mask`.
    pub(super) active: u64,
    /// Lanes in `sync_group`.
    pub(super) grouped: u64,
    /// Lanes in a collective.
    pub(super) collective: u64,
    /// The workgroup barrier's generation that the grouped lanes wait in.
    pub(super) generation: u64,
    lanes: [Lane; 64],
}

pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(lane)
    })
}

impl Rendezvous {
    pub(super) fn new(live: u64) -> Self {
        let lane = Lane { op: Op::Active(0), value: 0, from: 0, result: 0, attempt: 0, passed_over: 0 };
        Self { live, ready: live, paused: 0, active: 0, grouped: 0, collective: 0, generation: 0, lanes: [lane; 64] }
    }

    /// What the lane's last collective or `active_mask` resulted in.
    pub(super) fn result(&self, lane: u32) -> u64 {
        self.lanes[lane as usize].result
    }

    /// Whether the lane is the only one of its wave that anything can happen to: lanes in collectives can only be
    /// helped by it.
    pub(super) fn alone(&self, lane: u32) -> bool {
        (self.ready | self.paused | self.active | self.grouped) == 1 << lane
    }

    /// A lane arrives at a collective. True: it is complete, and all its lanes are ready; false: the lane waits.
    pub(super) fn arrive(&mut self, lane: u32, op: Op, value: u64, from: u32) -> bool {
        let state = &mut self.lanes[lane as usize];
        (state.op, state.value, state.from) = (op, value, from);
        self.ready &= !(1 << lane);
        self.collective |= 1 << lane;
        self.complete(lane)
    }

    /// A lane arrives at `active_mask` and waits.
    pub(super) fn arrive_active(&mut self, lane: u32, site: usize) {
        let state = &mut self.lanes[lane as usize];
        (state.op, state.passed_over) = (Op::Active(site), 0);
        self.ready &= !(1 << lane);
        self.active |= 1 << lane;
    }

    /// A lane waits at the workgroup barrier.
    pub(super) fn arrive_group(&mut self, lane: u32, generation: u64) {
        self.ready &= !(1 << lane);
        self.grouped |= 1 << lane;
        self.generation = generation;
    }

    /// The workgroup barrier was passed.
    pub(super) fn pass_group(&mut self, lanes: u64) {
        let lanes = self.grouped & lanes;
        self.grouped &= !lanes;
        self.ready |= lanes;
    }

    /// A lane pauses.
    pub(super) fn pause(&mut self, lane: u32, attempt: u32) {
        self.lanes[lane as usize].attempt = attempt;
        self.ready &= !(1 << lane);
        self.paused |= 1 << lane;
    }

    /// Paused lanes go on.
    pub(super) fn unpause(&mut self, lanes: u64) {
        let lanes = self.paused & lanes;
        self.paused &= !lanes;
        self.ready |= lanes;
    }

    /// The smallest attempt of all paused lanes.
    pub(super) fn least_attempt(&self) -> u32 {
        bits(self.paused).map(|lane| self.lanes[lane as usize].attempt).min().unwrap_or(0)
    }

    /// A lane ends. Collectives that waited for it only are complete.
    pub(super) fn end(&mut self, lane: u32) {
        let keep = !(1 << lane);
        for set in [&mut self.live, &mut self.ready, &mut self.paused, &mut self.active, &mut self.grouped, &mut self.collective] {
            *set &= keep;
        }
        for waiting in bits(self.collective) {
            // A former round may have completed it already.
            if self.collective & 1 << waiting != 0 {
                self.complete(waiting);
            }
        }
    }

    /// Completes the collective that a lane waits in, if all are there.
    fn complete(&mut self, lane: u32) -> bool {
        let op = self.lanes[lane as usize].op;
        let (Op::Ballot(mask) | Op::Shuffle(mask) | Op::Sync(mask)) = op else { return false };
        let lanes = mask & self.live;
        if lanes & !self.collective != 0 || bits(lanes).any(|other| self.lanes[other as usize].op != op) {
            return false;
        }
        match op {
            Op::Ballot(_) => {
                let votes = bits(lanes).filter(|&l| self.lanes[l as usize].value != 0).fold(0, |votes, l| votes | 1 << l);
                bits(lanes).for_each(|l| self.lanes[l as usize].result = votes);
            }
            Op::Shuffle(_) => {
                for l in bits(lanes) {
                    let Lane { value, from, .. } = self.lanes[l as usize];
                    let there = from < 64 && lanes & 1 << from != 0;
                    self.lanes[l as usize].result = if there { self.lanes[from as usize].value } else { value };
                }
            }
            Op::Sync(_) | Op::Active(_) => {}
        }
        self.collective &= !lanes;
        self.ready |= lanes;
        true
    }

    /// Sites at which lanes wait in `active_mask`, the lowest address first.
    pub(super) fn sites(&self) -> BTreeMap<usize, u64> {
        let mut sites = BTreeMap::new();
        for lane in bits(self.active) {
            if let Op::Active(site) = self.lanes[lane as usize].op {
                *sites.entry(site).or_default() |= 1 << lane;
            }
        }
        sites
    }

    /// Lets the lanes at one site go on together. Without a choice it is the one with the lowest address: code further
    /// down is mostly where lanes meet again, so those there wait for the others (but not for ever).
    pub(super) fn release_site(&mut self, chosen: Option<usize>) -> bool {
        let Some(first) = (self.active != 0).then(|| self.active.trailing_zeros()) else { return false };
        let Op::Active(site) = self.lanes[first as usize].op else { return false };
        // Mostly all are at one site.
        let mut lanes = bits(self.active).filter(|&l| self.lanes[l as usize].op == Op::Active(site)).fold(0, |m, l| m | 1 << l);
        if lanes != self.active {
            let sites = self.sites();
            let overdue = |lanes: &u64| bits(*lanes).any(|l| self.lanes[l as usize].passed_over >= PATIENCE);
            let pick = chosen.and_then(|n| sites.values().nth(n)).or_else(|| sites.values().find(|l| overdue(l)));
            lanes = pick.or_else(|| sites.values().next()).copied().unwrap_or(lanes);
        }
        for lane in bits(self.active & !lanes) {
            self.lanes[lane as usize].passed_over += 1;
        }
        bits(lanes).for_each(|l| self.lanes[l as usize].result = lanes);
        self.active &= !lanes;
        self.ready |= lanes;
        true
    }

    /// Which lanes wait in which collective, as a text.
    pub(super) fn describe(&self) -> String {
        let mut ops = BTreeMap::<Op, u64>::new();
        for lane in bits(self.collective) {
            *ops.entry(self.lanes[lane as usize].op).or_default() |= 1 << lane;
        }
        let mut parts: Vec<String> = ops
            .into_iter()
            .map(|(op, lanes)| {
                let (name, mask) = match op {
                    Op::Ballot(mask) => ("ballot", mask),
                    Op::Shuffle(mask) => ("shuffle", mask),
                    Op::Sync(mask) => ("sync_wave", mask),
                    Op::Active(_) => ("active_mask", self.live),
                };
                format!("lanes {lanes:#x} wait in {name}({mask:#x})")
            })
            .collect();
        if self.grouped != 0 {
            parts.push(format!("lanes {:#x} wait in sync_group", self.grouped));
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ballot_completes_with_its_last_lane() {
        let mut r = Rendezvous::new(0b1111);
        assert!(!r.arrive(0, Op::Ballot(0b101), 1, 0));
        assert_eq!(r.ready, 0b1110);
        assert!(r.arrive(2, Op::Ballot(0b101), 0, 0));
        assert_eq!((r.ready, r.result(0), r.result(2)), (0b1111, 1, 1));
    }

    #[test]
    fn lanes_at_different_operations_do_not_meet() {
        let mut r = Rendezvous::new(0b11);
        assert!(!r.arrive(0, Op::Ballot(0b11), 1, 0));
        assert!(!r.arrive(1, Op::Sync(0b11), 0, 0));
        assert_eq!(r.ready, 0);
        assert_eq!(r.describe(), "lanes 0x1 wait in ballot(0x3), lanes 0x2 wait in sync_wave(0x3)");
    }

    #[test]
    fn a_lane_that_ends_is_not_waited_for() {
        let mut r = Rendezvous::new(0b111);
        assert!(!r.arrive(0, Op::Ballot(0b111), 1, 0));
        assert!(!r.arrive(1, Op::Ballot(0b111), 1, 0));
        r.end(2);
        assert_eq!((r.ready, r.result(0)), (0b11, 0b11));
    }

    #[test]
    fn a_shuffle_from_a_lane_that_is_not_there_gives_the_own_value() {
        let mut r = Rendezvous::new(0b11);
        assert!(!r.arrive(0, Op::Shuffle(0b11), 10, 1));
        assert!(r.arrive(1, Op::Shuffle(0b11), 11, 99));
        assert_eq!((r.result(0), r.result(1)), (11, 11));
    }

    #[test]
    fn the_lower_site_goes_first_but_the_higher_does_not_starve() {
        let mut r = Rendezvous::new(0b111);
        r.arrive_active(0, 0x200);
        for _ in 0..PATIENCE {
            r.arrive_active(1, 0x100);
            r.arrive_active(2, 0x100);
            assert!(r.release_site(None));
            assert_eq!((r.ready, r.result(1)), (0b110, 0b110));
        }
        r.arrive_active(1, 0x100);
        r.arrive_active(2, 0x100);
        assert!(r.release_site(None));
        assert_eq!((r.ready, r.result(0)), (0b001, 0b001));
    }
}
