//! The seeded scheduler: one thread runs all waves of a kernel, and a seed decides at every suspension point which lane
//! goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::fibers::Wave;
use super::grid::{Place, Run};
use super::lane::Lane;
use super::pool::Worker;
use super::rendezvous::{Rendezvous, bits};
use super::stack::Slab;
use super::wait::{Running, backoff};

/// How long a lane that waits is left to wait, in its place, before others may run meanwhile.
const PATIENCE: Duration = Duration::from_millis(50);

/// A lane waits, mostly for the host. As long as that takes no longer than [`PATIENCE`] nothing is scheduled meanwhile,
/// so the order does not depend on how fast the host is. False: it took longer, and the lane must let others run.
pub(super) fn wait_in_place(lane: &Lane, attempt: u32) -> bool {
    let since = match lane.waiting.get() {
        // An attempt lower than the last is another wait.
        Some((last, since)) if attempt >= last => since,
        _ => Instant::now(),
    };
    lane.waiting.set(Some((attempt, since)));
    let patient = since.elapsed() < PATIENCE;
    if patient {
        // Longer sleeps than this would let the patience end while the answer is there.
        backoff(attempt.min(1700));
    }
    patient
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// What the scheduler can do next.
#[derive(Clone, Copy)]
enum Choice {
    /// Run a ready lane.
    Lane(usize, u32),
    /// Let the lanes at a site of `active_mask` go on.
    Site(usize, usize),
    /// Let a paused lane look again.
    Look(usize, u32),
}

struct Resident {
    wave: Wave<'static>,
    place: Place,
    /// Keeps `wave`'s stacks; dropped after it.
    stacks: *mut Slab,
}

impl Resident {
    fn new(run: &Arc<Run>, group: &Arc<super::group::Group>, index: usize, place: Place, stacks: Slab) -> Self {
        let stacks = Box::into_raw(Box::new(stacks));
        // SAFETY: just made, exclusively ours, and taken back only in `retire`, after the wave was dropped.
        let wave = Wave::new(run, group, index, place, unsafe { &mut *stacks });
        Self { wave, place, stacks }
    }

    fn retire(self) -> (Place, Slab) {
        drop(self.wave);
        // SAFETY: see `new`.
        (self.place, *unsafe { Box::from_raw(self.stacks) })
    }
}

/// Runs a kernel until it has ended.
pub(super) fn run(run: &Arc<Run>, seed: u64, worker: &mut Worker) {
    let _running = Running::new();
    let config = &run.device.config;
    let (slots, per_group) = (config.waves_per_sm as usize, run.waves());
    // Launch after launch is another order, the same in each process. Relaxed: only the number must be unique.
    let launch = run.device.launches.fetch_add(1, Ordering::Relaxed);
    let mut random = Random(seed ^ launch.wrapping_mul(0xd6e8_feb8_6659_fd93));
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    // SMs are this kernel's alone here: what other queues do must not change where its workgroups go.
    let mut free = vec![if slots == 64 { !0 } else { (1u64 << slots) - 1 }; config.sms as usize];
    let mut residents: Vec<Resident> = Vec::new();
    while !run.aborted() {
        while let Some(sm) = free.iter().position(|f| f.count_ones() as usize >= per_group) {
            let Some(id) = run.next_group() else { break };
            let group = run.group(id);
            for index in 0..per_group {
                let slot = free[sm].trailing_zeros();
                free[sm] &= !(1 << slot);
                let place = Place { sm: sm as u32, wave: sm as u32 * config.waves_per_sm + slot };
                match worker.take_stacks(run.most_lanes(), config.stack_bytes) {
                    Ok(stacks) => residents.push(Resident::new(run, &group, index, place, stacks)),
                    Err(error) => run.fail(error),
                }
            }
        }
        if residents.is_empty() || run.aborted() {
            break;
        }
        let choice = choose(&residents, &mut random);
        let stepped = match choice {
            Some(Choice::Lane(wave, lane)) => Some((wave, lane)),
            Some(Choice::Look(wave, lane)) => {
                residents[wave].wave.meet().unpause(1 << lane);
                Some((wave, lane))
            }
            Some(Choice::Site(wave, site)) => {
                residents[wave].wave.meet().release_site(Some(site));
                None
            }
            // Only a barrier that nobody will pass is left: the wave that is to blame says so.
            None => {
                residents.iter().for_each(settle);
                break;
            }
        };
        let Some((wave, lane)) = stepped else { continue };
        let resident = &mut residents[wave];
        hash = (hash ^ (u64::from(resident.place.wave) << 8 | u64::from(lane))).wrapping_mul(0x0100_0000_01b3);
        resident.wave.step(lane);
        for resident in &residents {
            resident.wave.poll_group();
        }
        settle(&residents[wave]);
        if residents[wave].wave.meet().live == 0 {
            let (place, stacks) = residents.swap_remove(wave).retire();
            worker.keep_stacks(stacks);
            free[place.sm as usize] |= 1 << (place.wave % config.waves_per_sm);
        }
    }
    for resident in residents {
        worker.keep_stacks(resident.retire().1);
    }
    // Relaxed: read by tests after they have synchronised with the queue. Sums do not depend on which of two queues was
    // first.
    run.device.schedule.fetch_add(hash, Ordering::Relaxed);
}

/// If nothing of the wave can run, looks whether anything ever will.
fn settle(resident: &Resident) {
    let r = resident.wave.meet();
    if r.live != 0 && r.ready | r.paused | r.active == 0 {
        resident.wave.state.check_stuck(&r);
    }
}

/// Lanes that can run come first, and waves whose lanes can meet; now and then, or if there is nothing else, a paused
/// lane looks again. This is done at every step of every lane, so choices are counted and never listed.
fn choose(residents: &[Resident], random: &mut Random) -> Option<Choice> {
    let count = |of: fn(&Rendezvous) -> usize| residents.iter().map(|resident| of(&resident.wave.meet())).sum::<usize>();
    let (now, later) = (count(choices_now), count(choices_later));
    if later != 0 && (now == 0 || random.below(8) == 0) {
        if now == 0 {
            // Whoever they wait for is not here.
            std::thread::sleep(Duration::from_micros(50));
        }
        let (wave, n) = nth(residents, choices_later, random.below(later))?;
        let lane = bits(residents[wave].wave.meet().paused).nth(n)?;
        return Some(Choice::Look(wave, lane));
    }
    if now == 0 {
        return None;
    }
    let (wave, n) = nth(residents, choices_now, random.below(now))?;
    let lane = bits(residents[wave].wave.meet().ready).nth(n);
    Some(lane.map_or(Choice::Site(wave, n), |lane| Choice::Lane(wave, lane)))
}

/// How many lanes of a wave can run, or, if none can, at how many sites some can meet.
fn choices_now(r: &Rendezvous) -> usize {
    match (r.ready, r.active) {
        (0, 0) => 0,
        (0, _) => r.sites().len(),
        (ready, _) => ready.count_ones() as usize,
    }
}

fn choices_later(r: &Rendezvous) -> usize {
    r.paused.count_ones() as usize
}

/// The wave that has the `n`-th of all choices, and which of its own that is.
fn nth(residents: &[Resident], of: fn(&Rendezvous) -> usize, mut n: usize) -> Option<(usize, usize)> {
    for (wave, resident) in residents.iter().enumerate() {
        let own = of(&resident.wave.meet());
        if n < own {
            return Some((wave, n));
        }
        n -= own;
    }
    None
}
