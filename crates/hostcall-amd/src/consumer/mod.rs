//! Consumers: threads that serve the packets of registered buffers.

mod call;
mod gate;
mod memory;
mod served;
mod threads;
mod words;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crate::Error;
use crate::client::Client;
use crate::doorbell::Doorbell;
use crate::layout::Form;
use crate::process;
use crate::services::{Handler, OnError, Services};
use crate::tables;
use threads::Crew;

pub(crate) use call::lanes;
use memory::Memory;
pub(crate) use served::{Served, refusing};
pub(crate) use threads::current;

/// How long destroying a consumer, or deregistering a buffer, waits for handlers that run. `HOSTCALL_AMD_DRAIN_MS` changes it.
fn drain_limit() -> Duration {
    let set = std::env::var("HOSTCALL_AMD_DRAIN_MS").ok().and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(5000))
}

/// Who answers a packet, and who is told of an error.
type Route = (Option<Handler>, Option<OnError>);

/// A consumer.
#[derive(Debug)]
pub(crate) struct Consumer {
    handle: usize,
    /// The process that made it.
    process: u32,
    doorbell: Doorbell,
    buffers: Mutex<Vec<Arc<Served>>>,
    /// Counts changes of `buffers`.
    changes: AtomicU64,
    /// A consumer of v0 has services of its own, which are asked first.
    own: RwLock<Services>,
    /// Whether it has any. Written before, and read without, the lock.
    has_own: AtomicBool,
    crew: Arc<Crew>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The consumer of a handle, if it is this process's.
pub(crate) fn find(handle: usize) -> Result<Arc<Consumer>, Error> {
    if handle == 0 {
        return Err(Error::Nullptr);
    }
    let consumer = tables::consumers().all.get(&handle).cloned().ok_or(Error::InvalidRequest)?;
    // What a parent's threads held when this process was forked is nobody's now.
    if process::forked_since(consumer.process) { Err(Error::ConsumerInactive) } else { Ok(consumer) }
}

/// A new consumer's handle.
pub(crate) fn create() -> Result<usize, Error> {
    process::prepare_for_fork();
    let doorbell = Doorbell::take()?;
    Ok(tables::consumers().add(|handle| Consumer {
        handle,
        process: std::process::id(),
        doorbell,
        buffers: Mutex::default(),
        changes: AtomicU64::new(1),
        own: RwLock::default(),
        has_own: AtomicBool::new(false),
        crew: Arc::default(),
    }))
}

/// Serves what is ready, ends the threads and forgets the consumer and its buffers.
pub(crate) fn destroy(handle: usize) -> Result<(), Error> {
    let consumer = match find(handle) {
        Err(Error::ConsumerInactive) => {
            // A forked child's copy: there is nothing to end.
            let mut consumers = tables::consumers();
            consumers.all.remove(&handle);
            consumers.remove_buffers(|_, owner| owner == handle);
            return Ok(());
        }
        found => found?,
    };
    if threads::current() == Some(handle) {
        return Err(Error::ConsumerActive);
    }
    {
        let mut consumers = tables::consumers();
        // Of two that destroy it at once, one does.
        consumers.all.remove(&handle).ok_or(Error::InvalidRequest)?;
    }
    let ended = consumer.crew.end(consumer.doorbell, drain_limit());
    // What is registered twice is a client's mistake; so the address is free again only when nobody looks there.
    for buffer in lock(&consumer.buffers).drain(..) {
        buffer.shut();
    }
    consumer.changes.fetch_add(1, Ordering::Release);
    tables::consumers().remove_buffers(|_, owner| owner == handle);
    if ended {
        consumer.doorbell.leave();
        Ok(())
    } else {
        // A handler goes on, with whatever state it was given.
        Err(Error::Internal)
    }
}

impl Consumer {
    /// Starts to serve.
    pub(crate) fn launch(self: &Arc<Self>) -> Result<(), Error> {
        threads::launch(self)
    }

    /// Serves a buffer as well.
    ///
    /// # Safety
    /// As for [`Memory::find`], until the buffer is deregistered or the consumer destroyed.
    pub(crate) unsafe fn register(&self, buffer: *mut u8, form: Form) -> Result<(), Error> {
        let laid_out = {
            let consumers = tables::consumers();
            match consumers.buffers.get(&buffer.addr()) {
                Some(client) if client.owner == self.handle => return Ok(()),
                Some(_) => return Err(Error::InvalidRequest),
                None => consumers.laid_out.get(&buffer.addr()).copied(),
            }
        };
        // SAFETY: the caller's.
        let memory = unsafe { Memory::find(buffer, form, laid_out) }?;
        let mut consumers = tables::consumers();
        // It may have been destroyed, or another may have registered the buffer, since the first look.
        if !consumers.all.contains_key(&self.handle) || consumers.buffers.contains_key(&buffer.addr()) {
            return Err(Error::InvalidRequest);
        }
        let served = Arc::new(Served::new(memory));
        consumers.add_buffer(Client { owner: self.handle, served: served.clone(), doorbell: self.doorbell });
        served.set_doorbell(self.doorbell.handle());
        lock(&self.buffers).push(served);
        // Release: pairs with the acquire of the serving thread, which then looks at the list.
        self.changes.fetch_add(1, Ordering::Release);
        drop(consumers);
        // A wave of another runtime may have pushed before the doorbell was known.
        self.doorbell.ring();
        Ok(())
    }

    /// Serves a buffer no longer. What is ready is answered first, within a limit, and refused after it.
    pub(crate) fn deregister(&self, buffer: usize) -> Result<(), Error> {
        let served = {
            let buffers = lock(&self.buffers);
            buffers.iter().find(|served| served.address() == buffer).cloned().ok_or(Error::InvalidRequest)?
        };
        // A handler that waited here would wait for itself.
        if threads::current() != Some(self.handle) && self.crew.serves() {
            self.doorbell.ring();
            served.drain(drain_limit());
        }
        {
            let mut buffers = lock(&self.buffers);
            let at = buffers.iter().position(|other| Arc::ptr_eq(other, &served)).ok_or(Error::InvalidRequest)?;
            buffers.remove(at);
        }
        self.changes.fetch_add(1, Ordering::Release);
        served.shut();
        tables::consumers().remove_buffers(|address, _| address == buffer);
        Ok(())
    }

    /// A handler of this consumer's own, as in v0: it replaces the last one.
    pub(crate) fn register_service(&self, service: u32, handler: Handler) {
        self.own.write().unwrap_or_else(PoisonError::into_inner).handlers.insert(service, handler);
        // Release: pairs with the acquire in `route`.
        self.has_own.store(true, Ordering::Release);
    }

    /// An error handler of this consumer's own, as in v0: before it serves.
    pub(crate) fn on_error(&self, handler: OnError) -> Result<(), Error> {
        if self.crew.serves() {
            return Err(Error::ConsumerActive);
        }
        self.own.write().unwrap_or_else(PoisonError::into_inner).on_error = Some(handler);
        self.has_own.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether it has services or an error handler of its own.
    fn has_own(&self) -> bool {
        // Acquire: pairs with the releases above.
        self.has_own.load(Ordering::Acquire)
    }

    /// Who answers a service, and who is told if nobody does.
    fn route(&self, service: u32, known: &Services) -> Route {
        // Consumers of v1 have none, and need no lock.
        if !self.has_own() {
            return (known.find(service), known.on_error);
        }
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        (own.find(service).or_else(|| known.find(service)), own.on_error.or(known.on_error))
    }
}
