//! What the threads of one server share, and their main loop.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use offload::host::{self, StackSize};
use offload::overdue;

use super::message::Worker;
use super::pool::{Left, Pool};
use super::ports::{Audit, Swept};
use super::served::Served;
use super::wake::{Manners, Pace, Wake, Watch};
use crate::record::Running;
use crate::record::stats::Padded;
use crate::record::trace::Trace;
use crate::rpc::Rpc;
use crate::service::registry::{Registry, Snapshot};

mod heartbeat;
mod retire;

/// What a serving thread shows of itself.
#[derive(Default)]
struct Seat {
    thread: OnceLock<Thread>,
    /// The version of the buffer list that it works on; `u64::MAX` once it has ended.
    seen: AtomicU64,
    running: Running,
    /// Times it has looked at ports, and times it has slept since it began.
    turns: AtomicU64,
    rests: AtomicU64,
}

impl Seat {
    /// One more turn over the ports begins.
    fn turn(&self) {
        // Only this thread writes; pairs with nothing: a number to be shown.
        self.turns.store(self.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The thread is about to sleep.
    fn rest(&self) {
        // As in `turn`.
        self.rests.store(self.rests.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

#[cfg(feature = "test-utils")]
/// What one serving thread has done since its server began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Times it looked at ports.
    pub turns: u64,
    /// Times it slept or parked.
    pub rests: u64,
}

thread_local! {
    /// The server whose ports this thread looks at. Compared while that one lives, and nothing else.
    static SERVES: Cell<*const Core> = const { Cell::new(std::ptr::null()) };
}

/// While it lives, this thread is one that serves.
struct Serves(*const Core);

impl Serves {
    fn new(core: &Core) -> Self {
        Self(SERVES.replace(core))
    }
}

impl Drop for Serves {
    fn drop(&mut self) {
        SERVES.set(self.0);
    }
}

/// A serving thread that ends, by whatever way.
struct Leaving<'a>(&'a Seat);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        // Pairs with the loads in `retire` and `ended`.
        self.0.seen.store(u64::MAX, Ordering::Release);
    }
}

/// What the threads of one server share.
pub(crate) struct Core {
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Pool,
    pub(crate) trace: Option<Arc<Trace>>,
    pub(crate) wake: Wake,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: super::asynchronous::Runtime,
    /// Whether to take the time of each call.
    timed: bool,
    manners: Manners,
    buffers: Mutex<Arc<[Arc<Served>]>>,
    buffers_version: AtomicU64,
    /// One for each serving thread, and behind them those of waves that help.
    seats: Box<[Padded<Seat>]>,
    threads: usize,
    stop: AtomicBool,
    /// What the device last said.
    busy: AtomicBool,
    /// Threads that drop what services owned.
    reapers: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("threads", &self.threads()).field("wake", &self.wake).finish_non_exhaustive()
    }
}

/// What a core is made of.
pub(crate) struct CoreConfig {
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Pool,
    pub(crate) trace: Option<Arc<Trace>>,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: super::asynchronous::Runtime,
    pub(crate) timed: bool,
    /// Whether its threads share processors with the kernels that they serve.
    pub(crate) modest: bool,
    pub(crate) threads: usize,
    /// Waves that may help at once.
    pub(crate) helpers: usize,
}

impl Core {
    pub(crate) fn new(parts: CoreConfig) -> Arc<Self> {
        let seats: Box<[Padded<Seat>]> = (0..parts.threads + parts.helpers).map(|_| Padded::default()).collect();
        // Nobody has taken one of theirs: as if they had ended.
        seats[parts.threads..].iter().for_each(|Padded(seat)| drop(Leaving(seat)));
        Arc::new(Self {
            registry: parts.registry,
            pool: parts.pool,
            trace: parts.trace,
            wake: Wake::default(),
            #[cfg(feature = "tokio")]
            runtime: parts.runtime,
            timed: parts.timed,
            manners: match (parts.helpers, parts.modest) {
                (0, false) => Manners::Eager,
                (0, true) => Manners::Modest,
                _ => Manners::Helped,
            },
            buffers: Mutex::new(Arc::new([])),
            buffers_version: AtomicU64::new(0),
            seats,
            threads: parts.threads,
            stop: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            reapers: Mutex::default(),
        })
    }

    /// Whether the calling thread looks at this server's ports, and so is in an inline handler: it must wait for no
    /// serving thread.
    pub(crate) fn is_served_here(&self) -> bool {
        std::ptr::eq(SERVES.get(), self)
    }

    /// Serving threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Held for changes and copies of the list only.
    fn list(&self) -> MutexGuard<'_, Arc<[Arc<Served>]>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where serving thread `index` says what it runs.
    #[inline(always)]
    pub(super) fn running_of(&self, index: usize) -> &Running {
        &self.seats[index].0.running
    }

    /// What each serving thread is running.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Running> {
        self.seats.iter().map(|Padded(seat)| &seat.running)
    }

    pub(crate) fn buffers(&self) -> Arc<[Arc<Served>]> {
        self.list().clone()
    }

    pub(crate) fn add(self: &Arc<Self>, served: Arc<Served>) {
        served.serve_by(self);
        let mut list = self.list();
        *list = list.iter().cloned().chain([served]).collect();
        // Pairs with `buffers_version`.
        self.buffers_version.fetch_add(1, Ordering::Release);
        drop(list);
        self.wake_all();
    }

    /// How often the list of buffers has changed.
    #[inline(always)]
    pub(crate) fn buffers_version(&self) -> u64 {
        // Pairs with the increments in `add` and `retire`.
        self.buffers_version.load(Ordering::Acquire)
    }

    /// The device says whether kernels are in flight.
    pub(crate) fn set_busy(&self, busy: bool) {
        // Pairs with nothing: the swap only makes sure that each change counts once.
        if self.busy.swap(busy, Ordering::Relaxed) == busy {
            return;
        }
        if busy {
            self.wake.arm();
            self.wake_all();
        } else {
            self.wake.disarm();
        }
    }

    /// A worker needs this table no more. What the handlers own of services that nobody else needs is the user's to
    /// drop, and that may take its time or panic: it happens on a thread of its own.
    pub(crate) fn release(&self, old: Snapshot) {
        let last = old.into_last();
        if last.is_empty() {
            return;
        }
        let drop_them = move || last.into_iter().for_each(drop_guarded);
        let reaper = host::spawn("hostcall-reaper", StackSize::default(), drop_them);
        let mut reapers = self.reapers.lock().unwrap_or_else(PoisonError::into_inner);
        reapers.retain(|reaper| !reaper.is_finished());
        // No thread to be had: they were dropped here.
        reapers.extend(reaper);
    }

    /// Waits until what was given to [`Core::release`] is dropped.
    pub(crate) fn join_reapers(&self) {
        let reapers = std::mem::take(&mut *self.reapers.lock().unwrap_or_else(PoisonError::into_inner));
        let me = std::thread::current().id();
        for reaper in reapers.into_iter().filter(|reaper| reaper.thread().id() != me) {
            // What panicked there was the user's, and the panic hook has said so.
            let _ = overdue::join(reaper, || "a server that ends waits until what its services owned is dropped".to_owned());
        }
    }

    /// Ends the serving threads.
    pub(crate) fn stop(&self) {
        // Pairs with the load in `run`.
        self.stop.store(true, Ordering::Release);
        self.wake_all();
    }

    /// What each serving thread has done so far: its turns over the ports, and the times it slept.
    #[cfg(feature = "test-utils")]
    pub(crate) fn turns_so_far(&self) -> Vec<Turns> {
        // Pair with nothing: numbers to be shown.
        let turns = |seat: &Seat| Turns { turns: seat.turns.load(Ordering::Relaxed), rests: seat.rests.load(Ordering::Relaxed) };
        self.seats[..self.threads].iter().map(|Padded(seat)| turns(seat)).collect()
    }

    fn ended(&self) -> bool {
        // Pairs with the last store in `run`.
        self.seats.iter().all(|Padded(seat)| seat.seen.load(Ordering::Acquire) == u64::MAX)
    }

    /// The serving threads, which never began, are taken to have ended.
    #[cfg(test)]
    pub(super) fn end_unbegun(&self) {
        self.seats[..self.threads].iter().for_each(|Padded(seat)| drop(Leaving(seat)));
    }

    pub(crate) fn wake_all(&self) {
        self.wake.wakes();
        for Padded(seat) in &self.seats {
            if let Some(thread) = seat.thread.get() {
                thread.unpark();
            }
        }
    }

    /// One sweep of all ports by a wave that helps. Whether it found anything.
    pub(super) fn help(&self, worker: &mut Worker) -> bool {
        let Padded(seat) = &self.seats[worker.index];
        // Pairs with the load in `retire`: whoever takes a buffer out of the list after we have read the list waits for
        // us. The list's lock orders the two.
        seat.seen.store(0, Ordering::Release);
        let _leaving = Leaving(seat);
        let _serves = Serves::new(self);
        worker.found = self.timed.then(Instant::now);
        // First: of a list that changes meanwhile, the older version is known.
        worker.version = self.buffers_version();
        let (mut swept, buffers) = (Swept::default(), self.buffers());
        worker.shared = buffers.len() > 1;
        for served in buffers.iter() {
            for share in &served.shares {
                swept += share.sweep(served, worker, Audit::Few);
            }
            swept += self.sweep_rpc(served, None);
        }
        // Nobody says when a wave looks again.
        worker.forget();
        swept.taken > 0
    }

    /// Looks at the ports of the client of LLVM's wire that a program has: those of one share, or all.
    #[inline(always)]
    fn sweep_rpc(&self, served: &Served, share: Option<usize>) -> Swept {
        match served.rpc() {
            None => Swept::default(),
            Some(rpc) => self.sweep_client(served, rpc, share),
        }
    }

    fn sweep_client(&self, served: &Served, rpc: &Arc<Rpc>, share: Option<usize>) -> Swept {
        // Pairs with the increment in `ask_for_drain`: what came before it is seen below.
        let turn = served.drain.load(Ordering::Acquire);
        let mut swept = Swept::default();
        for share in share.map_or(0..rpc.shares(), |share| share..share + 1) {
            let taken = rpc.sweep(turn, share, |away| self.pool.submit(Left { tenant: served.tenant.clone(), away }));
            swept += Swept { taken: taken.unwrap_or(0), left: false, busy: taken.is_none() };
        }
        swept
    }

    /// The life of serving thread `index`.
    pub(crate) fn run(self: Arc<Self>, index: usize) {
        let Padded(seat) = &self.seats[index];
        // However this thread ends, nobody waits for it any more.
        let _leaving = Leaving(seat);
        let _serves = Serves::new(&self);
        // Whoever wakes us from now on finds us; what was done before is seen below.
        let _ = seat.thread.set(std::thread::current());
        super::wake::exact_sleeps();
        let mut worker = Worker::new(self.clone(), index);
        let mut view = View { buffers: Arc::new([]), version: u64::MAX - 1 };
        whatever_panics(|| self.serve(index, &mut worker, &mut view, seat));
        // What it still knew of services may be the last that is known of them.
        worker.forget();
    }

    /// Sweep after sweep, until the threads are stopped.
    fn serve(&self, index: usize, worker: &mut Worker, view: &mut View, seat: &Seat) {
        let mut pace = Pace::new(self.manners);
        // Pairs with the store in `stop`.
        while !self.stop.load(Ordering::Acquire) {
            // Before all that one is woken for.
            let woken = self.wake.woken();
            self.refresh(worker, view, seat);
            seat.turn();
            worker.found = self.timed.then(Instant::now);
            let mut swept = Swept::default();
            for served in view.buffers.iter() {
                swept += served.shares[index].sweep(served, worker, Audit::Few);
                swept += self.sweep_rpc(served, Some(index));
            }
            if !pace.next(swept.taken) {
                continue;
            }
            if swept.left {
                // Posts wait for others to be handled, and nobody rings when they are.
                seat.rest();
                std::thread::sleep(Wake::NAP);
                continue;
            }
            if !self.wake.is_armed() {
                // No kernel runs. One look at everything, so that posts whose doorbells were lost are not left until
                // somebody waits.
                let mut last = Swept::default();
                for served in view.buffers.iter() {
                    last += served.shares[index].sweep(served, worker, Audit::Many(u32::MAX));
                    last += self.sweep_rpc(served, Some(index));
                }
                if last.busy {
                    // Who is at the ports may have come before what this thread was woken for.
                    seat.rest();
                    std::thread::sleep(Wake::NAP);
                }
                if last.taken > 0 || last.left || last.busy {
                    continue;
                }
                let elsewhere = view.is_launched_elsewhere();
                if let Some(watch) = elsewhere.then(|| self.wake.take_watch(index, None)).flatten() {
                    worker.forget();
                    self.beat(woken, &watch, view, seat);
                } else {
                    seat.rest();
                    worker.rest();
                }
            } else if let Some(watch) = self.wake.take_watch(index, None).or_else(|| self.stand_by(index, worker, view, seat)) {
                self.watch(&watch, worker, view, seat);
                drop(watch);
                self.wake_all();
            }
            pace = Pace::new(self.manners);
        }
    }

    /// Brings a thread's list of buffers up to date.
    fn refresh(&self, worker: &mut Worker, view: &mut View, seat: &Seat) {
        let now = self.buffers_version();
        if now != view.version {
            let old = std::mem::replace(view, View { buffers: self.buffers(), version: now });
            (worker.version, worker.shared) = (now, view.buffers.len() > 1);
            // Pairs with the load in `retire`: our last look at a buffer that is gone comes before.
            seat.seen.store(now, Ordering::Release);
            // Last: memory that nobody else keeps is freed, whoever's it is.
            drop(old);
        }
    }

    /// Parks while another thread watches this one's ports too. Ends when this thread is woken, or should look at the
    /// ports; as the watch if the other one stands still, because a handler keeps it.
    fn stand_by(&self, index: usize, worker: &mut Worker, view: &mut View, seat: &Seat) -> Option<Watch<'_>> {
        worker.forget();
        loop {
            let (beats, parked) = (self.wake.beats(), Instant::now());
            seat.rest();
            // (If the watch has just stopped, it has left us a token.)
            std::thread::park_timeout(Wake::HEARTBEAT);
            if parked.elapsed() < Wake::HEARTBEAT {
                return None;
            }
            // If somebody has woken us in the very moment in which the time was over, this is what they may have
            // wanted.
            self.refresh(worker, view, seat);
            // Pairs with the store in `stop`.
            if self.stop.load(Ordering::Acquire) || !self.wake.is_armed() {
                return None;
            }
            let watch = self.wake.take_watch(index, Some(beats));
            if watch.is_some() {
                return watch;
            }
        }
    }

    /// Looks after all ports, sleeping in between, until there is more to do than one thread should.
    fn watch(&self, watch: &Watch<'_>, worker: &mut Worker, view: &mut View, seat: &Seat) {
        let (mut pace, mut quiet) = (Pace::new(self.manners), None);
        // Pairs with the store in `stop`.
        while !self.stop.load(Ordering::Acquire) && self.wake.is_armed() && watch.goes_on() {
            self.refresh(worker, view, seat);
            seat.turn();
            worker.found = self.timed.then(Instant::now);
            let mut swept = Swept::default();
            for served in view.buffers.iter() {
                for share in &served.shares {
                    swept += share.sweep(served, worker, Audit::Many(16));
                }
                swept += self.sweep_rpc(served, None);
            }
            self.linger(swept.taken, view, &mut quiet);
            let is_too_much = swept.taken > Wake::ALONE || pace.is_busy_for(swept.taken, Wake::BUSY);
            if is_too_much && self.manners != Manners::Helped {
                return;
            }
            if pace.next(swept.taken) {
                seat.rest();
                match self.manners {
                    // Whoever wants us sooner wakes us.
                    Manners::Helped => std::thread::park_timeout(Wake::LONG_NAP),
                    _ => std::thread::sleep(Wake::NAP),
                }
            }
        }
    }
}

/// Does something until it returns; it may panic. What panics on a serving thread outside of a sweep is nobody's code
/// but ours, and lanes wait all the same.
fn whatever_panics(mut turns: impl FnMut()) {
    // Unwind safety: a worker's state is whole between sweeps, and a sweep has a guard of its own.
    while catch_unwind(AssertUnwindSafe(&mut turns)).is_err() {}
}

/// Drops what is the user's.
fn drop_guarded<T>(value: T) {
    // The hook has said what panicked. What is left of the value is gone either way; the payload's own `Drop` may panic
    // as well, so it is leaked.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}

/// The buffers as one thread last saw them.
struct View {
    buffers: Arc<[Arc<Served>]>,
    version: u64,
}

/// Waits, on a thread that is not a serving one, for something that serving threads do soon, and gives up at
/// `deadline`. Whether it was done.
pub(crate) fn wait_by(deadline: Option<Instant>, mut done: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !done() {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return false;
        }
        if start.elapsed() < Duration::from_micros(50) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use hostcall_abi::{Flags, Geometry, Tag};

    use super::*;
    use crate::server::BufferHandle;
    use crate::serving::{PostBounds, unbegun};
    use crate::test_utils::{MockDevice, fixed_service};
    use crate::wire::PortBuffer;

    #[test]
    fn a_thread_whose_turns_panic_goes_on_with_the_next() {
        let mut turns = 0;
        whatever_panics(|| {
            turns += 1;
            assert!(turns == 4, "as it should");
        });
        assert_eq!(turns, 4);
    }

    #[test]
    fn a_watch_that_panics_is_no_longer_the_watch() {
        let wake = Wake::default();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _watch = wake.take_watch(0, None).expect("nobody watches yet");
            assert!(wake.take_watch(1, None).is_none());
            panic!("as it should");
        }));
        assert!(panicked.is_err() && wake.take_watch(1, None).is_some());
    }

    #[test]
    fn things_whose_drops_panic_are_dropped_all_the_same() {
        struct Bomb<'a>(&'a AtomicU64);
        impl Drop for Bomb<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
                panic!("as it should");
            }
        }
        let dropped = AtomicU64::new(0);
        (0..3).for_each(|_| drop_guarded(Bomb(&dropped)));
        assert_eq!(dropped.load(Ordering::Relaxed), 3);
    }

    /// A buffer of so many ports.
    fn served(ports: u32) -> Arc<Served> {
        let geometry = Geometry { slots: 0, slot_bytes: 0, ..Geometry::new(ports, 32) };
        Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds::default())
    }

    #[test]
    fn programs_share_a_thread_when_there_are_two() {
        let core = unbegun([], 1, 1);
        let (mut worker, mut helper) = (Worker::new(core.clone(), 0), Worker::keeping(core.clone(), 1));
        let mut view = View { buffers: Arc::new([]), version: u64::MAX - 1 };
        for shared in [false, true] {
            core.add(served(1));
            core.refresh(&mut worker, &mut view, &core.seats[0].0);
            core.help(&mut helper);
            assert_eq!((worker.shared, helper.shared), (shared, shared));
        }
    }

    #[test]
    fn whoever_waits_for_an_inline_handler_is_told_its_name() {
        let (told, core) = (Arc::new(Mutex::new(String::new())), Arc::new(OnceLock::<Arc<Core>>::new()));
        let (tell, of) = (told.clone(), core.clone());
        let service = fixed_service("tells", move |x: u32| {
            *tell.lock().unwrap() = of.get().unwrap().handlers_that_run();
            x
        });
        let own = core.get_or_init(|| unbegun([service], 1, 0));
        let served = served(1);
        let raw = MockDevice::new(BufferHandle(served.clone())).raw();
        raw.send(0, 0, Tag::new(1), 1, Flags::REPLY, 1, &[7]);
        served.shares[0].sweep(&served, &mut Worker::new(own.clone(), 0), Audit::Many(1));
        assert_eq!(*told.lock().unwrap(), "the inline handler of tells");
        assert_eq!(own.handlers_that_run(), "the server's threads");
        own.registry.unregister(&own.registry.named("tells").unwrap());
    }

    #[test]
    fn a_server_that_ends_waits_until_all_that_its_services_owned_is_dropped() {
        struct Slow(Mutex<mpsc::Receiver<()>>, Arc<AtomicBool>);
        impl Drop for Slow {
            fn drop(&mut self) {
                let _ = self.0.lock().unwrap().recv();
                // Pairs with the load below.
                self.1.store(true, Ordering::Release);
            }
        }
        let (dropped, (go, wait)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
        let slow = Slow(Mutex::new(wait), dropped.clone());
        let owner = fixed_service("owner", move |x: u32| {
            let _ = &slow;
            x
        });
        let core = unbegun([owner, fixed_service("other", |x: u32| x)], 1, 0);
        for name in ["owner", "other"] {
            let mut snapshot = Snapshot::default();
            core.registry.refresh(&mut snapshot);
            core.registry.unregister(&core.registry.named(name).unwrap());
            core.release(snapshot);
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Whoever did not wait would be through by then; one that waits does so however long this is.
                std::thread::sleep(Duration::from_millis(20));
                go.send(()).unwrap();
            });
            core.join_reapers();
            assert!(dropped.load(Ordering::Acquire));
        });
    }
}
