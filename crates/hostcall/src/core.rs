//! What the threads of one server share, and their main loop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use hostcall_abi::Status;

use crate::blocking::Pool;
use crate::live::Live;
use crate::registry::Registry;
use crate::serve::Worker;
use crate::stats::Padded;
use crate::sweep::Audit;
use crate::trace::Trace;
use crate::wake::{Pace, Wake};

/// What a serving thread shows of itself.
#[derive(Default)]
struct Seat {
    thread: OnceLock<Thread>,
    /// The version of the buffer list that it works on; `u64::MAX` once it has ended.
    seen: AtomicU64,
}

/// What the threads of one server share.
pub(crate) struct Core {
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Pool,
    pub(crate) trace: Option<Arc<Trace>>,
    pub(crate) wake: Wake,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: crate::asynchronous::Runtime,
    /// Whether to take the time of each call.
    timed: bool,
    buffers: Mutex<Arc<[Arc<Live>]>>,
    buffers_version: AtomicU64,
    seats: Box<[Padded<Seat>]>,
    stop: AtomicBool,
    /// What the device last said.
    busy: AtomicBool,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("threads", &self.threads()).field("wake", &self.wake).finish_non_exhaustive()
    }
}

/// What a core is made of.
pub(crate) struct Parts {
    pub(crate) registry: Arc<Registry>,
    pub(crate) pool: Pool,
    pub(crate) trace: Option<Arc<Trace>>,
    #[cfg(feature = "tokio")]
    pub(crate) runtime: crate::asynchronous::Runtime,
    pub(crate) timed: bool,
    pub(crate) threads: usize,
}

impl Core {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            registry: parts.registry,
            pool: parts.pool,
            trace: parts.trace,
            wake: Wake::default(),
            #[cfg(feature = "tokio")]
            runtime: parts.runtime,
            timed: parts.timed,
            buffers: Mutex::new(Arc::new([])),
            buffers_version: AtomicU64::new(0),
            seats: (0..parts.threads).map(|_| Padded::default()).collect(),
            stop: AtomicBool::new(false),
            busy: AtomicBool::new(false),
        })
    }

    pub(crate) fn threads(&self) -> usize {
        self.seats.len()
    }

    /// Held for changes and copies of the list only.
    fn list(&self) -> MutexGuard<'_, Arc<[Arc<Live>]>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn buffers(&self) -> Arc<[Arc<Live>]> {
        self.list().clone()
    }

    pub(crate) fn add(&self, live: Arc<Live>) {
        let mut list = self.list();
        *list = list.iter().cloned().chain([live]).collect();
        // Pairs with the load in `run`.
        self.buffers_version.fetch_add(1, Ordering::Release);
        drop(list);
        self.wake_all();
    }

    /// Takes a buffer out of service: calls that wait or still come end with `status`, posts are handled. When this returns
    /// no serving thread looks at the buffer any more.
    pub(crate) fn retire(&self, live: &Arc<Live>, status: Status) {
        live.condemn(status);
        // What is there is answered, and only then the word is written that lets lanes give up; a last look finds what came in between.
        // Whoever sends after that finds the word.
        self.drain(live);
        live.memory.close(status);
        self.drain(live);
        let mut list = self.list();
        *list = list.iter().filter(|other| !Arc::ptr_eq(other, live)).cloned().collect();
        // Pairs with the load in `run`.
        let version = self.buffers_version.fetch_add(1, Ordering::Release) + 1;
        drop(list);
        self.wake_all();
        // Pairs with the store in `run`.
        wait_until(|| self.seats.iter().all(|Padded(seat)| seat.seen.load(Ordering::Acquire) >= version));
    }

    /// Waits until the serving threads have looked at every port of the buffer once more.
    pub(crate) fn drain(&self, live: &Live) {
        // Pairs with the acquire in `Partition::sweep`: what came before this call is seen in that turn.
        let turn = live.drain.fetch_add(1, Ordering::Release) + 1;
        self.wake_all();
        wait_until(|| self.ended() || live.partitions.iter().all(|partition| partition.drained() >= turn));
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

    /// Ends the serving threads.
    pub(crate) fn stop(&self) {
        // Pairs with the load in `run`.
        self.stop.store(true, Ordering::Release);
        self.wake_all();
    }

    fn ended(&self) -> bool {
        // Pairs with the last store in `run`.
        self.seats.iter().all(|Padded(seat)| seat.seen.load(Ordering::Acquire) == u64::MAX)
    }

    pub(crate) fn wake_all(&self) {
        for Padded(seat) in &self.seats {
            if let Some(thread) = seat.thread.get() {
                thread.unpark();
            }
        }
    }

    /// The life of serving thread `index`.
    pub(crate) fn run(self: Arc<Self>, index: usize) {
        let Padded(seat) = &self.seats[index];
        // Whoever wakes us from now on finds us; what was done before is seen below.
        let _ = seat.thread.set(std::thread::current());
        crate::wake::exact_sleeps();
        let mut worker = Worker::new(self.clone(), index);
        let mut pace = Pace::default();
        let mut view = View { buffers: Arc::new([]), version: u64::MAX - 1 };
        // Pairs with the store in `stop`.
        while !self.stop.load(Ordering::Acquire) {
            self.refresh(&mut view, seat);
            worker.found = self.timed.then(Instant::now);
            let mut served = 0;
            for live in view.buffers.iter() {
                served += live.partitions[index].sweep(live, &mut worker, Audit::Few);
            }
            if !pace.next(served) {
                continue;
            }
            if !self.wake.is_armed() {
                // No kernel runs. One look at everything, so that posts whose doorbells were lost are not left until somebody waits.
                if view.buffers.iter().map(|live| live.partitions[index].sweep(live, &mut worker, Audit::Many(u32::MAX))).sum::<u32>() > 0 {
                    continue;
                }
                worker.rest();
            } else if self.wake.take_watch() {
                self.watch(&mut worker, &mut view, seat);
                self.wake.leave_watch();
                self.wake_all();
            } else {
                // Another thread watches our ports too, and wakes us. (If it has just stopped, it has left us a token.)
                worker.rest();
            }
            pace = Pace::default();
        }
        // Pairs with the loads in `retire` and `ended`.
        seat.seen.store(u64::MAX, Ordering::Release);
    }

    /// Brings a thread's list of buffers up to date.
    fn refresh(&self, view: &mut View, seat: &Seat) {
        // Pairs with the increments in `add` and `retire`.
        let now = self.buffers_version.load(Ordering::Acquire);
        if now != view.version {
            *view = View { buffers: self.buffers(), version: now };
            // Pairs with the load in `retire`: our last look at a buffer that is gone comes before.
            seat.seen.store(now, Ordering::Release);
        }
    }

    /// Looks after all ports, sleeping in between, until there is more to do than one thread should.
    fn watch(&self, worker: &mut Worker, view: &mut View, seat: &Seat) {
        let mut pace = Pace::default();
        // Pairs with the store in `stop`.
        while !self.stop.load(Ordering::Acquire) && self.wake.is_armed() {
            self.refresh(view, seat);
            worker.found = self.timed.then(Instant::now);
            let mut served = 0;
            for live in view.buffers.iter() {
                for partition in &live.partitions {
                    served += partition.sweep(live, worker, Audit::Many(16));
                }
            }
            if served > Wake::ALONE || pace.is_busy_for(served, Wake::BUSY) {
                return;
            }
            if pace.next(served) {
                std::thread::sleep(Wake::NAP);
            }
        }
    }
}

/// The buffers as one thread last saw them.
struct View {
    buffers: Arc<[Arc<Live>]>,
    version: u64,
}

/// Waits, on a thread that is not a serving one, for something that serving threads do soon.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        if start.elapsed() < Duration::from_micros(50) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
