//! The operations that device code calls: [`SimOps`], for the lane that the calling thread is running.

use std::sync::OnceLock;
use std::time::Instant;

use hostcall_abi::sim::{FOR_WAVES, GroupMemory, LaneInfo, SimOps};
use hostcall_abi::stream::Space;

use super::group::LOOK_AGAIN;
use super::lane::{self, Lane, Meeting};
use super::rendezvous::Op;
use super::seeded;
use super::wait::{self, backoff};
use crate::error::FaultKind;

/// The table that images are given.
pub(super) static OPS: SimOps = SimOps {
    lane_info,
    active_mask,
    ballot,
    shuffle,
    sync_wave,
    sync_group,
    pause,
    clock_ns,
    group_scratch,
    exit_lane,
    trap,
    lane_word,
    wake_patient,
    group_memory,
    space,
};

/// The calling lane. Its stack is checked, and whether its kernel was ended.
#[inline]
fn enter() -> &'static Lane {
    let lane = lane::current();
    // Operations are for lanes; device code that is called elsewhere cannot be told so in any other way.
    assert!(!lane.is_null(), "a simulator operation was called outside of a kernel");
    // SAFETY: the lane is alive while it runs, and this is it, running. The reference does not outlive the operation.
    let lane: &'static Lane = unsafe { &*lane };
    let here = 0u8;
    if !lane.has_stack(&raw const here as usize) {
        lane.fail(FaultKind::StackOverflow { stack_bytes: lane.wave.run.stack_bytes() });
    }
    lane.wave.run.count_operation();
    if lane.wave.run.aborted() {
        lane.end();
    }
    lane
}

unsafe extern "C" fn lane_info() -> *const LaneInfo {
    let lane = lane::current();
    assert!(!lane.is_null(), "a simulator operation was called outside of a kernel");
    // SAFETY: as in `enter`.
    unsafe { &raw const (*lane).info }
}

fn collective(lane: &Lane, op: Op, mask: u64, value: u64, from: u32) -> u64 {
    lane.waiting.set(None);
    let me = lane.info.lane;
    if mask & 1 << me == 0 {
        lane.fail(FaultKind::Misuse(format!("lane {me} called a collective of mask {mask:#x}, to which it does not belong")));
    }
    match &lane.wave.meeting {
        Meeting::Fibers(meeting) => {
            let complete = meeting.borrow().arrive(me, op, value, from);
            if !complete {
                lane.suspend();
            }
            meeting.borrow().result(me)
        }
        Meeting::Threads(meeting, sleepers) => {
            let mut r = lane.lock(meeting);
            let waited = !(r.ready | 1 << me);
            if r.arrive(me, op, value, from) {
                let (woken, result) = (r.ready & waited, r.result(me));
                drop(r);
                sleepers.wake(woken);
                return result;
            }
            wait_ready(lane, r)
        }
    }
}

/// With a thread per lane: the lane has come to wait. Sleeps until it is ready.
fn wait_ready<'r>(lane: &'r Lane, mut r: std::sync::MutexGuard<'r, super::rendezvous::Rendezvous>) -> u64 {
    let me = lane.info.lane;
    let Meeting::Threads(meeting, sleepers) = &lane.wave.meeting else { unreachable!("only threads sleep in operations") };
    let mut woken = lane.wave.settle(&mut r);
    while r.ready & 1 << me == 0 {
        drop(r);
        sleepers.wake(std::mem::take(&mut woken));
        if lane.wave.run.aborted() {
            lane.end();
        }
        // A wake-up that came before it sleeps is kept.
        std::thread::park_timeout(LOOK_AGAIN);
        r = lane.lock(meeting);
    }
    let result = r.result(me);
    drop(r);
    sleepers.wake(woken & !(1 << me));
    result
}

unsafe extern "C" fn active_mask(site: usize) -> u64 {
    let lane = enter();
    lane.waiting.set(None);
    let me = lane.info.lane;
    match &lane.wave.meeting {
        Meeting::Fibers(meeting) => {
            let mut r = meeting.borrow();
            if r.live == 1 << me {
                return 1 << me;
            }
            r.arrive_active(me, site);
            drop(r);
            lane.suspend();
            meeting.borrow().result(me)
        }
        Meeting::Threads(meeting, _) => {
            let mut r = lane.lock(meeting);
            r.arrive_active(me, site);
            wait_ready(lane, r)
        }
    }
}

unsafe extern "C" fn ballot(mask: u64, predicate: u32) -> u64 {
    collective(enter(), Op::Ballot(mask), mask, predicate.into(), 0)
}

unsafe extern "C" fn shuffle(mask: u64, value: u64, from: u32) -> u64 {
    collective(enter(), Op::Shuffle(mask), mask, value, from)
}

unsafe extern "C" fn sync_wave(mask: u64) {
    collective(enter(), Op::Sync(mask), mask, 0, 0);
}

unsafe extern "C" fn sync_group() {
    let lane = enter();
    lane.waiting.set(None);
    let (me, wave) = (lane.info.lane, &lane.wave);
    match &wave.meeting {
        Meeting::Fibers(meeting) => {
            let Some(generation) = wave.group.arrive() else {
                // Before this lane can come to the next barrier.
                return meeting.borrow().pass_group(!0);
            };
            meeting.borrow().arrive_group(me, generation);
            lane.suspend();
        }
        Meeting::Threads(meeting, sleepers) => {
            let mut r = lane.lock(meeting);
            // Before the barrier that others passed, and sleep at yet, is forgotten for this one.
            poll_group(wave, &mut r);
            let Some(generation) = wave.group.arrive() else { return };
            r.arrive_group(me, generation);
            let woken = wave.settle(&mut r);
            drop(r);
            sleepers.wake(woken);
            while !wave.group.passed(generation) {
                if wave.run.aborted() {
                    lane.end();
                }
                wave.group.sleep(generation);
                // Other waves may have come to the barrier meanwhile: is anybody left to come?
                let woken = wave.settle(&mut lane.lock(meeting));
                sleepers.wake(woken);
            }
            let mut r = lane.lock(meeting);
            r.pass_group(1 << me);
            wave.group.unblock(wave.index);
        }
    }
}

unsafe extern "C" fn pause(attempt: u32) {
    let lane = enter();
    let (me, wave) = (lane.info.lane, &lane.wave);
    // (From 2³¹ on it is no number of attempts.)
    let for_waves = attempt >> 30 == 1;
    let attempt = if for_waves { attempt & !FOR_WAVES } else { attempt };
    match &wave.meeting {
        Meeting::Fibers(meeting) => {
            if wave.run.seeded() {
                // Nobody whom it could wait for runs meanwhile but the host.
                if !for_waves && seeded::wait_in_place(lane, attempt) {
                    return;
                }
            } else if (for_waves || !wave.run.helps(attempt)) && meeting.borrow().alone(me) {
                return backoff(attempt);
            }
            meeting.borrow().pause(me, attempt);
            lane.suspend();
        }
        Meeting::Threads(meeting, sleepers) => {
            let mut r = lane.lock(meeting);
            r.pause(me, attempt);
            let woken = wave.settle(&mut r);
            drop(r);
            sleepers.wake(woken);
            backoff(attempt);
            lane.lock(meeting).unpause(1 << me);
        }
    }
}

unsafe extern "C" fn wake_patient(what: u32) {
    wait::wake_patient(what);
}

unsafe extern "C" fn clock_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // From 1, so that 0 can mean "no time".
    1 + START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

unsafe extern "C" fn group_scratch() -> *mut u8 {
    enter().wave.group.scratch()
}

unsafe extern "C" fn group_memory() -> *const GroupMemory {
    enter().wave.group.memory()
}

unsafe extern "C" fn space(address: usize) -> u32 {
    let lane = lane::current();
    assert!(!lane.is_null(), "a simulator operation was called outside of a kernel");
    // SAFETY: as in `enter`.
    let lane = unsafe { &*lane };
    let GroupMemory { declared, end, .. } = *lane.wave.group.memory();
    let space = if lane.is_on_stack(address) {
        Space::Private
    } else if (declared..end).contains(&address) {
        Space::Shared
    } else {
        Space::Global
    };
    space as u32
}

unsafe extern "C" fn exit_lane() -> ! {
    enter().end()
}

unsafe extern "C" fn trap() -> ! {
    enter().fail(FaultKind::Trap)
}

unsafe extern "C" fn lane_word() -> *mut u64 {
    let lane = lane::current();
    assert!(!lane.is_null(), "a simulator operation was called outside of a kernel");
    // SAFETY: as in `enter`.
    unsafe { (*lane).word.as_ptr() }
}

/// A wave's lanes wait at the workgroup barrier: whether it was passed. Then they can run; those that are threads may
/// sleep yet.
pub(super) fn poll_group(wave: &super::lane::WaveState, r: &mut super::rendezvous::Rendezvous) -> bool {
    if r.grouped == 0 || !wave.group.passed(r.generation) {
        return false;
    }
    r.pass_group(!0);
    wave.group.unblock(wave.index);
    true
}
