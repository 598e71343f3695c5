//! One lane that runs: a fiber, and the state that its operations read and write.

use std::cell::{Cell, RefCell, RefMut};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use hostcall_abi::sim::LaneInfo;

use super::call::Arguments;
use super::fault::{LaneEnd, RawKind};
use super::grid::Run;
use super::group::{Blocked, Group};
use super::image::Entry;
use super::rendezvous::{Rendezvous, bits};
use super::stack::LaneStack;
use crate::error::FaultKind;

thread_local! {
    /// The lane that the thread is running. Read by the signal handler too: without lazy initialisation and without a
    /// destructor.
    static CURRENT: Cell<*const Lane> = const { Cell::new(ptr::null()) };
}

/// The lane that the calling thread is running, or null.
pub(super) fn current() -> *const Lane {
    CURRENT.get()
}

/// The rendezvous of lanes that all run on one thread.
pub(super) struct OneThread(RefCell<Rendezvous>);

// SAFETY: it is reached through `fibers::Wave`, which holds fibers and therefore stays on the thread that made it, and
// by the wave's own lanes, which run inside `Fiber::resume` on that thread. Other threads only ever see waves of
// `Meeting::Threads`.
unsafe impl Sync for OneThread {}
// SAFETY: as above; the contents are plain numbers.
unsafe impl Send for OneThread {}

impl OneThread {
    pub(super) fn new(rendezvous: Rendezvous) -> Self {
        Self(RefCell::new(rendezvous))
    }

    pub(super) fn borrow(&self) -> RefMut<'_, Rendezvous> {
        self.0.borrow_mut()
    }
}

/// How the lanes of a wave reach their rendezvous.
pub(super) enum Meeting {
    /// All on one thread.
    Fibers(OneThread),
    /// Each on its own.
    Threads(Mutex<Rendezvous>, Sleepers),
}

/// The threads of a wave's lanes. One that waits parks until its lane is ready: to wake all of them for the few that
/// are would have them wait for one another's lock.
pub(super) struct Sleepers(Box<[OnceLock<Thread>]>);

impl Sleepers {
    pub(super) fn new(lanes: u32) -> Self {
        Self((0..lanes).map(|_| OnceLock::new()).collect())
    }

    /// The calling thread is the lane's, from before its first operation on.
    pub(super) fn enter(&self, lane: u32) {
        let entered = self.0[lane as usize].set(std::thread::current());
        debug_assert!(entered.is_ok(), "a lane has one thread");
    }

    /// Wakes the threads of lanes that have become ready, after the rendezvous was unlocked.
    pub(super) fn wake(&self, lanes: u64) {
        bits(lanes).filter_map(|lane| self.0[lane as usize].get()).for_each(Thread::unpark);
    }
}

/// A wave of a workgroup that runs.
pub(super) struct WaveState {
    pub(super) run: Arc<Run>,
    pub(super) group: Arc<Group>,
    /// Its number in the workgroup.
    pub(super) index: usize,
    pub(super) meeting: Meeting,
}

impl WaveState {
    /// A fault of the wave's first lane of `lanes`.
    fn fail(&self, lanes: u64, kind: FaultKind) {
        self.run.fault(self.group.id, self.run.local(self.index, lanes.trailing_zeros()), kind);
    }

    /// Nothing of the wave can run. Looks whether anything ever will, and ends the kernel if not.
    pub(super) fn check_stuck(&self, r: &Rendezvous) -> Blocked {
        debug_assert!(r.ready | r.paused | r.active == 0);
        let blocked = match (r.grouped, r.collective) {
            (0, _) => Blocked::Deadlock,
            (_, stuck) => self.group.block(self.index, stuck.count_ones(), r.generation),
        };
        // The wave that is to blame says so: the others only wait for it.
        if blocked != Blocked::Deadlock || r.collective == 0 {
            return if blocked == Blocked::Passed { blocked } else { Blocked::Waits };
        }
        let text = format!("no lane of wave {} can ever go on: {}", self.index, r.describe());
        self.fail(r.collective, FaultKind::Deadlock(text));
        blocked
    }

    /// With a thread per lane: a lane has come to wait or has ended; lets lanes go on if that is now possible, and says
    /// which are to be [woken](Sleepers::wake).
    pub(super) fn settle(&self, r: &mut Rendezvous) -> u64 {
        // Who sleeps at a barrier that was passed is about to run: others wait for it.
        super::ops::poll_group(self, r);
        if r.live == 0 || r.ready != 0 {
            return 0;
        }
        if r.release_site(None) {
            return r.ready;
        }
        if r.paused == 0 && r.collective != 0 {
            self.check_stuck(r);
        }
        0
    }
}

/// A lane: what operations find under [`current`].
pub(super) struct Lane {
    pub(super) info: LaneInfo,
    pub(super) wave: Arc<WaveState>,
    /// The device library's, for whatever is the lane's own.
    pub(super) word: Cell<u64>,
    /// Of a kernel in C.
    arguments: Arguments,
    stack: LaneStack,
    yielder: Cell<*const Yielder<(), ()>>,
    trap: Cell<Option<CoroutineTrapHandler<LaneEnd>>>,
    ended: Cell<bool>,
    /// For the seeded scheduler: the last attempt to wait and when the first was, if the last operation was a pause.
    pub(super) waiting: Cell<Option<(u32, Instant)>>,
}

/// Operations run on the lane's own stack. They need this much of it, or the lane's stack counts as overflown before
/// they start: an overflow in the middle of one would leave its locks held.
const OPERATION_STACK: usize = 12 << 10;

impl Lane {
    fn new(info: LaneInfo, wave: Arc<WaveState>, arguments: Arguments, stack: LaneStack) -> Self {
        let (yielder, trap) = (Cell::new(ptr::null()), Cell::new(None));
        Self { info, wave, word: Cell::new(0), arguments, stack, yielder, trap, ended: Cell::new(false), waiting: Cell::new(None) }
    }

    /// Whether an operation has room on the stack whose top is about `here`.
    pub(super) fn has_stack(&self, here: usize) -> bool {
        here >= self.stack.limit + super::arena::PAGE + OPERATION_STACK
    }

    /// Whether an address is in its stack.
    pub(super) fn is_on_stack(&self, address: usize) -> bool {
        self.stack.contains(address)
    }

    /// What the signal handler needs: the way out of the fiber, and the lane's stack.
    pub(super) fn trap(&self) -> Option<(CoroutineTrapHandler<LaneEnd>, LaneStack)> {
        Some((self.trap.get()?, self.stack))
    }

    /// Lets whoever runs the lane go on; returns when it resumes the lane.
    pub(super) fn suspend(&self) {
        // SAFETY: set by the fiber's first instruction to the yielder on its own stack, which lives as long as the
        // fiber; operations are called on the fiber.
        unsafe { (*self.yielder.get()).suspend(()) };
    }

    /// Ends the lane. What is on its stack is forgotten.
    pub(super) fn end(&self) -> ! {
        self.ended.set(true);
        self.suspend();
        unreachable!("an ended lane was resumed")
    }

    /// Ends the kernel as a fault of this lane.
    pub(super) fn fail(&self, kind: FaultKind) -> ! {
        self.wave.run.fault(self.info.group, self.info.local, kind);
        self.end()
    }

    /// With a thread per lane: its wave's rendezvous.
    pub(super) fn lock<'a>(&self, meeting: &'a Mutex<Rendezvous>) -> MutexGuard<'a, Rendezvous> {
        meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lane's fiber.
pub(super) struct Fiber {
    lane: Box<Lane>,
    coroutine: Coroutine<(), (), LaneEnd, LaneStack>,
}

/// What a fiber did when it was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It waits.
    Suspended,
    /// It has ended.
    Ended,
}

impl Fiber {
    /// A fiber that will run the kernel.
    ///
    /// # Safety
    /// The stack is used by nobody else and lives longer than the fiber.
    pub(super) unsafe fn new(info: LaneInfo, wave: &Arc<WaveState>, stack: LaneStack) -> Self {
        let (entry, params) = (wave.run.entry(), wave.run.params());
        let arguments = if let Entry::C(_) = entry { Arguments::new(params) } else { Arguments::default() };
        let params = params.bytes().as_ptr();
        let lane = Box::new(Lane::new(info, wave.clone(), arguments, stack));
        let body = move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the fiber runs only inside `resume`, which has put its lane there.
            let lane = unsafe { &*current() };
            lane.yielder.set(yielder);
            match entry {
                // SAFETY: whoever launched the kernel answers for its parameters; they live as long as the run.
                Entry::LaidOut(entry) => unsafe { entry(params) },
                // SAFETY: as above; these are the lane's own.
                Entry::C(function) => unsafe { function.call(&lane.arguments) },
            }
            LaneEnd::Returned
        };
        // SAFETY: `body` borrows nothing; the stack is the caller's promise.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        lane.trap.set(Some(coroutine.trap_handler()));
        Self { lane, coroutine }
    }

    /// Runs the lane until it waits or ends. A fault that ends it has been reported to its run.
    pub(super) fn resume(&mut self) -> Step {
        let former = CURRENT.replace(&raw const *self.lane);
        let result = self.coroutine.resume(());
        CURRENT.set(former);
        match result {
            CoroutineResult::Yield(()) if !self.lane.ended.get() => return Step::Suspended,
            CoroutineResult::Yield(()) => self.kill(),
            CoroutineResult::Return(LaneEnd::Returned) => {}
            CoroutineResult::Return(LaneEnd::Fault(raw)) => {
                let run = &self.lane.wave.run;
                let kind = match raw.kind {
                    RawKind::Memory(address) => FaultKind::Memory { address, near: run.describe(address) },
                    RawKind::Wild => FaultKind::Wild,
                    RawKind::Stack => FaultKind::StackOverflow { stack_bytes: run.stack_bytes() },
                    RawKind::Illegal => FaultKind::IllegalInstruction { address: raw.at },
                    RawKind::Arithmetic => FaultKind::Arithmetic { address: raw.at },
                };
                run.fault_at(raw.at, self.lane.info.group, self.lane.info.local, kind);
            }
        }
        Step::Ended
    }

    /// Ends the lane wherever it is.
    pub(super) fn kill(&mut self) {
        // SAFETY: what is on the lane's stack is device code's, whose lanes end without unwinding on every device, and
        // frames of operations, which hold nothing when they suspend.
        unsafe { self.coroutine.force_reset() };
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        self.kill();
    }
}
