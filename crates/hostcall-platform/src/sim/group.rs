//! A workgroup: its barrier, its 64 bytes, and the memory that its lanes share.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostcall_abi::sim::GroupMemory;

use super::arena::{Mapping, PAGE};
use super::elf::Declared;
use crate::error::Error;

/// How long a sleeper sleeps before it looks whether its kernel was ended.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[repr(C, align(64))]
struct Scratch(UnsafeCell<[u8; 64]>);

/// One workgroup that runs.
pub(super) struct Group {
    pub(super) id: [u32; 3],
    state: Mutex<State>,
    changed: Condvar,
    /// `State::generation`, for a look without the lock.
    generation: AtomicU64,
    scratch: Scratch,
    memory: Memory,
}

/// The memory that kernels in C share in a workgroup: what the image declares, then what the launch adds. It ends where
/// nothing may be touched.
#[derive(Default)]
pub(super) struct Memory {
    at: GroupMemory,
    _mapping: Option<Mapping>,
}

/// The dynamic part begins at a multiple of it, as on GPUs.
const ALIGN: usize = 16;

impl Memory {
    pub(super) fn new(declared: Declared, dynamic: u32) -> Result<Self, Error> {
        let dynamic = (dynamic as usize).next_multiple_of(ALIGN);
        let bytes = declared.bytes.next_multiple_of(ALIGN) + dynamic;
        if bytes == 0 {
            return Ok(Self::default());
        }
        let open = bytes.next_multiple_of(PAGE);
        let mapping = Mapping::reserve(open + PAGE)?;
        mapping.open(mapping.start, open)?;
        let behind = mapping.start + open;
        // As near to the closed page as the alignment lets it be.
        let start = (behind - bytes) & !(declared.align.max(ALIGN) - 1);
        let at = start + declared.bytes.next_multiple_of(ALIGN);
        Ok(Self { at: GroupMemory { declared: start, dynamic: at, end: at + dynamic }, _mapping: Some(mapping) })
    }
}

// SAFETY: `scratch` is only handed out as a raw pointer, to device code, which answers for its races.
unsafe impl Sync for Group {}

struct State {
    /// Lanes that have not ended.
    live: u32,
    /// Lanes that wait at the barrier.
    arrived: u32,
    generation: u64,
    /// For each wave: lanes that wait in collectives for lanes that wait at the barrier.
    stuck: Vec<u32>,
}

/// What became of a wave whose lanes all wait at the barrier or for lanes that do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// The barrier was passed.
    Passed,
    /// Others are still to come.
    Waits,
    /// Nobody is to come: every lane of the group waits for another.
    Deadlock,
}

impl Group {
    pub(super) fn new(id: [u32; 3], lanes: u32, waves: usize, memory: Memory) -> Self {
        Self {
            id,
            state: Mutex::new(State { live: lanes, arrived: 0, generation: 0, stuck: vec![0; waves] }),
            changed: Condvar::new(),
            generation: AtomicU64::new(0),
            scratch: Scratch(UnsafeCell::new([0; 64])),
            memory,
        }
    }

    pub(super) fn scratch(&self) -> *mut u8 {
        self.scratch.0.get().cast()
    }

    pub(super) fn memory(&self) -> &GroupMemory {
        &self.memory.at
    }

    /// A lane arrives at the barrier: `None` if it was the last, else the generation that it waits in.
    pub(super) fn arrive(&self) -> Option<u64> {
        let mut state = self.lock();
        state.arrived += 1;
        if state.arrived == state.live {
            self.pass(&mut state);
            return None;
        }
        Some(state.generation)
    }

    /// A lane ends.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.live -= 1;
        if state.live > 0 && state.arrived == state.live {
            self.pass(&mut state);
        }
    }

    fn pass(&self, state: &mut State) {
        state.arrived = 0;
        state.generation += 1;
        state.stuck.fill(0);
        // Release pairs with the acquire in `passed`: what lanes wrote before the barrier is seen after it.
        self.generation.store(state.generation, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether the barrier was passed since `generation`.
    pub(super) fn passed(&self, generation: u64) -> bool {
        // Acquire pairs with the release in `pass`.
        self.generation.load(Ordering::Acquire) != generation
    }

    /// A wave cannot go on before the barrier: `stuck` of its lanes wait in collectives, the others at the barrier.
    pub(super) fn block(&self, wave: usize, stuck: u32, generation: u64) -> Blocked {
        let mut state = self.lock();
        if state.generation != generation {
            return Blocked::Passed;
        }
        state.stuck[wave] = stuck;
        let all: u32 = state.stuck.iter().sum();
        if all > 0 && state.arrived + all == state.live { Blocked::Deadlock } else { Blocked::Waits }
    }

    /// A wave can go on.
    pub(super) fn unblock(&self, wave: usize) {
        self.lock().stuck[wave] = 0;
    }

    /// Sleeps until the barrier is passed, or for a while.
    pub(super) fn sleep(&self, generation: u64) {
        let state = self.lock();
        if state.generation == generation {
            drop(self.changed.wait_timeout(state, LOOK_AGAIN));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lane_opens_the_barrier_and_an_ended_lane_is_not_waited_for() {
        let group = Group::new([0; 3], 3, 1, Memory::default());
        let generation = group.arrive().unwrap();
        assert_eq!(group.arrive(), Some(generation));
        assert!(!group.passed(generation));
        group.leave();
        assert!(group.passed(generation));
    }

    #[test]
    fn a_group_in_which_every_lane_waits_for_another_is_deadlocked() {
        let group = Group::new([0; 3], 4, 2, Memory::default());
        let generation = group.arrive().unwrap();
        assert_eq!(group.block(0, 1, generation), Blocked::Waits);
        group.arrive();
        assert_eq!(group.block(1, 1, generation), Blocked::Deadlock);
    }
}
