//! Functions of a queue that may call its driver: done by a thread of ours.
//!
//! A driver calls the functions that are put into its queues on a thread of its own, and its calls are forbidden there.
//! So a function is handed to a thread here instead. The queue and the thread tell each other how far they are: the
//! thread waits until the queue has *come* to the function, calls it, and says that it has *returned*, for which the
//! queue's later work waits. What does that is the driver's ([`Stop`]), and no call of the driver: others may be in the
//! driver, and have its lock until the queue goes on.
//!
//! A queue's thread starts with its first function, and ends when the queue is gone and its functions have returned.
//! Functions of one queue are called in their order; those of several do not wait for each other.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;
use crate::host::{self, StackSize};
use crate::waits;

/// A place in a queue's work at which a function is called. Nothing of it, its drop included, calls a driver.
pub(crate) trait Stop: Send {
    /// Waits until the work before is done. `false`: it never will be, for the device is lost; the function is dropped.
    fn come(&self) -> bool;

    /// Lets the work after it begin. Called once, whatever `come` said.
    fn returned(&self);
}

/// How often who waits for threads looks whether the device is lost.
const LOOKS: Duration = Duration::from_millis(20);

/// Threads that call functions, of all queues of a device.
#[derive(Default)]
pub(crate) struct Threads {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Threads {
    /// Waits until there are none: queues that are gone have done their work. Meanwhile `look` is called now and then,
    /// to see whether the device is lost.
    pub(crate) fn wait(&self, mut look: impl FnMut()) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            let (changed, timeout) = self.changed.wait_timeout(count, LOOKS).unwrap_or_else(PoisonError::into_inner);
            count = changed;
            if timeout.timed_out() {
                drop(count);
                look();
                count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn change(&self, by: isize) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add_signed(by);
        self.changed.notify_all();
    }
}

/// A stop, and what is done there.
type Job = (Box<dyn Stop>, Box<dyn FnOnce() + Send>);

/// The functions of one queue.
pub(crate) struct Calls {
    threads: Arc<Threads>,
    sender: Mutex<Option<Sender<Job>>>,
}

impl Calls {
    pub(crate) fn new(threads: &Arc<Threads>) -> Calls {
        Calls { threads: threads.clone(), sender: Mutex::default() }
    }

    /// Puts a function into the queue: `stop` puts the stop there. Functions are called in the order in which their
    /// stops are made.
    ///
    /// # Errors
    /// What `stop` says, or that there is no thread; nothing is put into the queue then.
    pub(crate) fn add(&self, stop: impl FnOnce() -> Result<Box<dyn Stop>, Error>, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        // Held while the stop is made, so that both orders are the same.
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let known = match &mut *sender {
            Some(sender) => sender,
            none => none.insert(self.start()?),
        };
        let stop = stop()?;
        // The thread takes jobs for as long as there is this sender.
        if let Err(unsent) = known.send((stop, function)) {
            unsent.0.0.returned();
        }
        Ok(())
    }

    fn start(&self) -> Result<Sender<Job>, Error> {
        let (sender, jobs) = channel();
        let threads = self.threads.clone();
        threads.change(1);
        let started = host::spawn("offload-calls", StackSize::default(), move || {
            waits::letting_a_device_go_on(|| serve(&jobs));
            drop(jobs);
            threads.change(-1);
        });
        match started {
            Ok(_) => Ok(sender),
            Err(error) => {
                self.threads.change(-1);
                let code = error.raw_os_error().unwrap_or(0).into();
                Err(Error::Backend { call: "starting a thread", code, text: error.to_string() })
            }
        }
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Calls")
    }
}

/// Calls functions until the queue is gone.
fn serve(jobs: &Receiver<Job>) {
    while let Ok((stop, function)) = jobs.recv() {
        let come = stop.come();
        // A function that panics, or whose captures do when they are dropped, must not keep the queue waiting.
        let done = catch_unwind(AssertUnwindSafe(|| if come { function() } else { drop(function) }));
        stop.returned();
        if done.is_err() {
            tracing::error!("a function of a queue panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Event, Queue, SimConfig};
    use std::sync::mpsc;

    /// Whether a function has returned.
    type Flag = Arc<(Mutex<bool>, Condvar)>;

    /// A stop in a queue of the simulator, made as one of CUDA is: an event, and later work that waits for a word of
    /// the host's.
    struct SimStop(Event, Flag);

    impl Stop for SimStop {
        fn come(&self) -> bool {
            self.0.synchronize().is_ok()
        }
        fn returned(&self) {
            *self.1.0.lock().unwrap() = true;
            self.1.1.notify_all();
        }
    }

    fn stop(queue: &Queue) -> Result<Box<dyn Stop>, Error> {
        let event = queue.device().event()?;
        queue.record(&event)?;
        let flag = Flag::default();
        let awaited = flag.clone();
        queue.on_complete(Box::new(move || {
            let returned = awaited.0.lock().unwrap();
            drop(awaited.1.wait_while(returned, |returned| !*returned).unwrap());
        }))?;
        Ok(Box::new(SimStop(event, flag)))
    }

    #[test]
    fn a_function_is_called_between_the_work_before_it_and_the_work_after_it() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let (queue, calls) = (device.queue().unwrap(), Calls::new(&Arc::default()));
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |what: u32| {
            let order = order.clone();
            Box::new(move || order.lock().unwrap().push(what))
        };
        for round in 0..50 {
            queue.on_complete(note(3 * round)).unwrap();
            calls.add(|| stop(&queue), note(3 * round + 1)).unwrap();
            queue.on_complete(note(3 * round + 2)).unwrap();
        }
        queue.synchronize().unwrap();
        assert_eq!(*order.lock().unwrap(), (0..150).collect::<Vec<_>>());
    }

    #[test]
    fn a_function_may_use_the_device_and_put_work_into_other_queues() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let (queue, other, calls) = (device.queue().unwrap(), device.queue().unwrap(), Calls::new(&Arc::default()));
        let (sender, receiver) = mpsc::channel();
        let inner = device.clone();
        let function = move || {
            let memory = inner.alloc::<u32>(4).unwrap();
            other.copy_to(&memory, 0, &[1, 2, 3, 4]).unwrap();
            let mut back = [0; 4];
            other.copy_from(&mut back, &memory, 0).unwrap();
            sender.send(back).unwrap();
        };
        calls.add(|| stop(&queue), Box::new(function)).unwrap();
        queue.synchronize().unwrap();
        assert_eq!(receiver.try_recv(), Ok([1, 2, 3, 4]));
    }

    #[test]
    fn a_function_that_panics_lets_the_queue_go_on() {
        let device = Device::sim(SimConfig::default()).unwrap();
        let (queue, calls) = (device.queue().unwrap(), Calls::new(&Arc::default()));
        calls.add(|| stop(&queue), Box::new(|| panic!("from a function of a queue"))).unwrap();
        let (sender, receiver) = mpsc::channel();
        queue.on_complete(Box::new(move || sender.send(()).unwrap())).unwrap();
        queue.synchronize().unwrap();
        assert_eq!(receiver.try_recv(), Ok(()));
    }

    #[test]
    fn a_function_is_dropped_if_the_device_is_lost_and_the_queue_is_told() {
        struct Lost(mpsc::Sender<&'static str>);
        impl Stop for Lost {
            fn come(&self) -> bool {
                false
            }
            fn returned(&self) {
                self.0.send("returned").unwrap();
            }
        }
        let threads = Arc::<Threads>::default();
        let calls = Calls::new(&threads);
        let (sender, receiver) = mpsc::channel();
        let called = sender.clone();
        calls.add(|| Ok(Box::new(Lost(sender))), Box::new(move || called.send("called").unwrap())).unwrap();
        // Functions that are there when their queue goes are called all the same, and the threads end then.
        drop(calls);
        threads.wait(|| ());
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["returned"]);
    }

    #[test]
    fn a_stop_that_cannot_be_made_is_an_error_and_leaves_nothing() {
        let threads = Arc::<Threads>::default();
        let calls = Calls::new(&threads);
        let failed = calls.add(|| Err(Error::WrongDevice { what: "the stop" }), Box::new(|| panic!("it is not called")));
        assert!(matches!(failed, Err(Error::WrongDevice { .. })));
        drop(calls);
        threads.wait(|| ());
    }
}
