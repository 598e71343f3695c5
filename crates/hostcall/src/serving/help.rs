//! Waves that serve ports while they wait.
//!
//! In the simulator a wave is a thread of this machine. One that waits for an answer keeps a processor from whoever is
//! to give it, and to wake a serving thread takes longer than most handlers. So the wave looks at the ports itself: its
//! call is answered without a change of threads. Handlers that may block, and wait for nobody
//! ([`Service::brief`](crate::Service)), it runs as well, when its sweep is over; all other exits are as for serving
//! threads, who go on beside it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use super::message::Worker;
use super::pool::{Job, Memory};
use super::threads::Core;
use crate::service::call::Thread;

/// The waves of one server that may help at once.
pub(crate) struct Helpers {
    core: Arc<Core>,
    /// Waves take these locks by `try_lock` only: who finds all of them taken waits as if nobody helped.
    helpers: Box<[Mutex<Worker>]>,
    /// Of those who run no job: a job may take longer than a sweep, and keeps nobody from helping.
    memories: Mutex<Vec<Memory>>,
    /// Whether the server has ended: lanes that were told to help go on asking.
    ended: Arc<AtomicBool>,
}

impl Helpers {
    /// `core` has places for `count`.
    pub(crate) fn new(core: &Arc<Core>, count: usize) -> Arc<Self> {
        let helper = |n| Mutex::new(Worker::keeping(core.clone(), core.threads() + n));
        Arc::new(Self { core: core.clone(), helpers: (0..count).map(helper).collect(), memories: Mutex::default(), ended: Arc::default() })
    }

    /// What lanes call. It keeps nothing of the server's: a launch has it until it is over, whatever ends before.
    pub(crate) fn asked(self: &Arc<Self>) -> impl Fn() -> bool + Send + Sync + use<> {
        let (ended, helpers) = (self.ended.clone(), Arc::downgrade(self));
        // Acquire pairs with the release in `end`. Who was just before it, `end` waits for.
        move || !ended.load(Ordering::Acquire) && helpers.upgrade().is_some_and(|helpers| helpers.help())
    }

    /// Serves what is there, on a wave that waits. Whether anything was.
    pub(crate) fn help(&self) -> bool {
        let Some(mut worker) = self.helpers.iter().find_map(free) else { return false };
        let found = self.core.help(&mut worker);
        let jobs = worker.take_kept();
        drop(worker);
        if !jobs.is_empty() {
            self.run(jobs);
        }
        found
    }

    fn run(&self, jobs: Vec<Job>) {
        let mut memory = self.memories().pop().unwrap_or_default();
        for job in jobs {
            // What a job owns may be the last of a service, and panic when it is dropped. Unwind safety: the memory is
            // cleared for each call.
            let _ = catch_unwind(AssertUnwindSafe(|| job.run(&mut memory, Thread::Wave, || {})));
        }
        self.memories().push(memory);
    }

    fn memories(&self) -> MutexGuard<'_, Vec<Memory>> {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody helps any more, and none of what the server owns is held on to.
    pub(crate) fn end(self: Arc<Self>) {
        self.ended.store(true, Ordering::Release);
        let mut helpers = self;
        // Who helps now does so for a short time.
        while let Err(still) = Arc::try_unwrap(helpers) {
            std::thread::yield_now();
            helpers = still;
        }
    }
}

impl std::fmt::Debug for Helpers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Helpers").field("helpers", &self.helpers.len()).finish_non_exhaustive()
    }
}

fn free(helper: &Mutex<Worker>) -> Option<MutexGuard<'_, Worker>> {
    match helper.try_lock() {
        Ok(helper) => Some(helper),
        // Handlers are guarded; whatever panicked, a worker's state is whole between sweeps.
        Err(TryLockError::Poisoned(helper)) => Some(helper.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::{ThreadId, current};

    use hostcall_abi::{Flags, Geometry, Status, Tag};

    use super::*;
    use crate::server::BufferHandle;
    use crate::service::Service;
    use crate::serving::{PostBounds, Served, unbegun};
    use crate::test_utils::{MockDevice, RawPorts, fixed_service};
    use crate::wire::PortBuffer;

    /// A server whose serving threads have not begun: what is answered, a wave that helps has answered.
    fn server(services: impl IntoIterator<Item = Service>) -> (Arc<Core>, Arc<Helpers>, Arc<Served>, RawPorts) {
        let core = unbegun(services, 1, 1);
        core.pool.warm_up().unwrap();
        let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(16, 32) };
        let served = Served::new(PortBuffer::in_process(geometry).unwrap(), core.threads(), PostBounds::default());
        core.add(served.clone());
        let helpers = Helpers::new(&core, 1);
        let ports = MockDevice::new(BufferHandle(served.clone())).raw();
        (core, helpers, served, ports)
    }

    /// A service that says on which thread it runs.
    fn telling(name: &'static str) -> (Service, mpsc::Receiver<ThreadId>) {
        let (tell, told) = mpsc::channel();
        (fixed_service(name, move |x: u32| (tell.send(current().id()).unwrap(), 2 * x).1), told)
    }

    fn send(ports: &RawPorts, port: u32, service: u16) {
        ports.send(port, 0, Tag::new(1), service, Flags::REPLY, 1 << 7, &[port]);
        ports.ring(port, u32::from(Tag::new(1).payload()));
    }

    #[test]
    fn a_wave_that_waits_answers_what_there_is_and_runs_what_waits_for_nobody() {
        let ((inline, told), (brief, briefly), (slow, slowly)) = (telling("inline"), telling("brief"), telling("slow"));
        let (core, helpers, _, ports) = server([inline, brief.blocking().brief(), slow.blocking()]);
        assert!(!helpers.help(), "there is nothing to do");
        (0..3).for_each(|port| send(&ports, port, 1 + port as u16));
        assert!(helpers.help());
        assert_eq!((told.recv(), briefly.recv()), (Ok(current().id()), Ok(current().id())));
        assert_ne!(slowly.recv(), Ok(current().id()), "it may wait for somebody, who may wait for this wave");
        (0..2).for_each(|port| assert!(ports.answered(port, Tag::new(1)), "{port}"));
        core.pool.close();
    }

    #[test]
    fn a_buffer_that_is_taken_out_of_service_waits_for_waves_that_help() {
        let (entered, inside) = mpsc::channel();
        let (leave, left) = mpsc::channel::<()>();
        let left = Mutex::new(left);
        let service = fixed_service("gate", move |x: u32| {
            entered.send(()).unwrap();
            left.lock().unwrap().recv().unwrap();
            x
        });
        let (core, helpers, served, ports) = server([service]);
        // The thread that never began is as one that has ended.
        core.end_unbegun();
        send(&ports, 0, 1);
        let retired = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let helps = scope.spawn(|| helpers.help());
            inside.recv().unwrap();
            scope.spawn(|| {
                core.retire(&served, Status::DETACHED, std::time::Instant::now() + Core::PATIENCE);
                // Pairs with the load below.
                retired.store(true, std::sync::atomic::Ordering::Release);
            });
            while served.ending() == Status::OK {
                std::thread::yield_now();
            }
            // Whoever did not wait would be through now; one that waits is seen to wait however long this is.
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert!(!retired.load(std::sync::atomic::Ordering::Acquire));
            leave.send(()).unwrap();
            assert!(helps.join().unwrap());
        });
        assert!(ports.answered(0, Tag::new(1)) && !helpers.help());
        assert!(!core.is_served_here(), "the wave goes on as one that may wait for the server");
    }

    #[test]
    fn waves_that_have_helped_hold_on_to_no_service() {
        let held = Arc::new(());
        let (here, told) = (Arc::downgrade(&held), mpsc::channel());
        let service = fixed_service("held", move |x: u32| {
            let _ = &held;
            told.0.send(()).unwrap();
            x
        });
        let (core, helpers, _, ports) = server([service]);
        send(&ports, 0, 1);
        assert!(helpers.help() && told.1.recv().is_ok());
        assert!(here.upgrade().is_some(), "it is registered");
        core.registry.unregister(&core.registry.named("held").expect("it is registered"));
        core.join_reapers();
        assert!(here.upgrade().is_none());
        core.pool.close();
    }

    #[test]
    fn lanes_that_go_on_asking_when_the_server_has_ended_keep_nothing_of_it() {
        let held = Arc::new(());
        let (here, owned) = (Arc::downgrade(&held), held);
        let (core, helpers, served, ports) = server([fixed_service("held", move |x: u32| (&owned, x).1)]);
        let asked = helpers.asked();
        send(&ports, 0, 1);
        assert!(asked() && !asked(), "there was one call");
        helpers.end();
        send(&ports, 1, 1);
        assert!(!asked(), "nobody helps");
        core.pool.close();
        drop((core, served, ports));
        assert!(here.upgrade().is_none());
        assert!(!asked());
    }

    #[test]
    fn a_device_that_says_twice_that_it_is_busy_is_busy_once() {
        let (core, ..) = server([]);
        for busy in [true, true, false, false, true, false] {
            core.set_busy(busy);
            assert_eq!(core.wake.is_armed(), busy);
        }
        core.pool.close();
    }
}
