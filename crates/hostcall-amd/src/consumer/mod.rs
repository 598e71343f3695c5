//! Consumers: threads that serve the packets of registered buffers.

mod call;
mod gate;
pub(crate) mod mail;
mod memory;
mod pace;
mod served;
mod threads;
mod words;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use hostcall_error::Origin;

use crate::Error;
use crate::client::Client;
use crate::doorbell::Doorbell;
use crate::layout::{BufferWords, Form};
use crate::process;
use crate::services::{Handler, OnError, Services};
use crate::tables;
use threads::Crew;

pub(crate) use call::lanes;
use memory::Memory;
pub(crate) use served::{Served, refusing};
pub(crate) use threads::{about_to_wait, current};

/// How long destroying a consumer, or deregistering a buffer, waits for handlers that run. `HOSTCALL_AMD_DRAIN_MS`
/// changes it.
fn drain_limit() -> Duration {
    let set = std::env::var("HOSTCALL_AMD_DRAIN_MS").ok().and_then(|text| text.parse().ok());
    Duration::from_millis(set.unwrap_or(5000))
}

/// Whether a buffer may be registered before it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// It may not.
    Refused,
    /// If it is full of zeros, which no buffer is.
    Blank,
    /// Whatever is there: it is served once this library has laid it out.
    Any,
}

/// Who answers a packet, and who is told of an error.
type Route = (Option<Handler>, Option<OnError>);

/// A consumer.
#[derive(Debug)]
pub(crate) struct Consumer {
    handle: usize,
    /// The process that made it.
    origin: Origin,
    doorbell: Doorbell,
    buffers: Mutex<Vec<Arc<Served>>>,
    /// Counts changes of `buffers`.
    changes: AtomicU64,
    /// Whether a buffer was registered before it was laid out, and somebody may lay it out by himself: the leader
    /// looks.
    awaits: AtomicBool,
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
    if consumer.origin.is_here() { Ok(consumer) } else { Err(Error::ConsumerInactive) }
}

/// A new consumer's handle.
pub(crate) fn create() -> Result<usize, Error> {
    process::prepare_for_fork();
    let doorbell = Doorbell::take()?;
    Ok(tables::consumers().add(|handle| Consumer {
        handle,
        origin: Origin::here(),
        doorbell,
        buffers: Mutex::default(),
        changes: AtomicU64::new(1),
        awaits: AtomicBool::new(false),
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
    // A handler of another consumer ends this one: that may take as long as this one's handlers do.
    about_to_wait();
    {
        let mut consumers = tables::consumers();
        // Of two that destroy it at once, one does.
        consumers.all.remove(&handle).ok_or(Error::InvalidRequest)?;
    }
    let ended = consumer.crew.end(consumer.doorbell, drain_limit());
    // What is registered twice is a client's mistake; so the address is free again only when nobody looks there.
    for buffer in lock(&consumer.buffers).drain(..) {
        consumer.give_up(&buffer);
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

    /// Serves a buffer as well, in a form, or in that in which it was laid out.
    ///
    /// # Safety
    /// As for [`Memory::find`], until the buffer is deregistered or the consumer destroyed.
    pub(crate) unsafe fn register(&self, buffer: *mut u8, form: Option<Form>, early: Early) -> Result<(), Error> {
        let laid_out = {
            let consumers = tables::consumers();
            let owners = consumers.buffers.get(&buffer.addr()).map(|client| client.owner);
            match owners {
                Some(owner) if owner == self.handle => return Ok(()),
                Some(_) => return Err(Error::InvalidRequest),
                None => consumers.laid_out.get(&buffer.addr()).copied(),
            }
        };
        // SAFETY: the caller's: 48 bytes, neither null nor misaligned.
        let (packets, known) = laid_out.map_or((None, None), |laid_out| unsafe { laid_out.left_at(buffer) });
        if known.is_some_and(|known| form.is_some_and(|form| form != known)) {
            return Err(Error::InvalidRequest);
        }
        // SAFETY: the caller's.
        let found = unsafe { Memory::find(buffer, known.or(form).unwrap_or(Form::Stacks), packets) };
        match found {
            Ok(memory) => self.serve(memory, false),
            // SAFETY: as above; and it stays until it is deregistered.
            Err(Error::InvalidRequest) if early != Early::Refused => unsafe { self.wait_for(buffer, form, early) },
            Err(error) => Err(error),
        }
    }

    /// Serves a buffer from now on. One that was `adopted` must still be awaited: it may have been deregistered, and
    /// freed.
    fn serve(&self, memory: Memory, adopted: bool) -> Result<(), Error> {
        let address = memory.address();
        let mut consumers = tables::consumers();
        let refused = match consumers.awaited.get(&address) {
            Some(awaited) => awaited.owner != self.handle,
            None => adopted,
        };
        // It may have been destroyed, or another may have registered the buffer, since it was found.
        if refused || !consumers.all.contains_key(&self.handle) || consumers.buffers.contains_key(&address) {
            return Err(Error::InvalidRequest);
        }
        consumers.awaited.remove(&address);
        let served = Arc::new(Served::new(memory));
        consumers.add_buffer(Client { owner: self.handle, served: served.clone(), doorbell: self.doorbell });
        served.set_doorbell(self.doorbell.handle());
        if served.in_mailboxes() {
            mail::add(self.doorbell);
        }
        lock(&self.buffers).push(served);
        // Release: pairs with the acquire of the serving thread, which then looks at the list.
        self.changes.fetch_add(1, Ordering::Release);
        drop(consumers);
        // A wave of another runtime may have pushed before the doorbell was known.
        self.doorbell.ring();
        Ok(())
    }

    /// Notes a place that is to be laid out.
    ///
    /// # Safety
    /// As for [`crate::memory::is_blank`], until the buffer is deregistered or the consumer destroyed.
    unsafe fn wait_for(&self, buffer: *mut u8, form: Option<Form>, early: Early) -> Result<(), Error> {
        let mut consumers = tables::consumers();
        match consumers.awaited.get(&buffer.addr()) {
            Some(awaited) if awaited.owner == self.handle => return Ok(()),
            Some(_) => return Err(Error::InvalidRequest),
            None => {}
        }
        // SAFETY: the caller's.
        let blank = unsafe { crate::memory::is_blank(buffer) };
        if !(blank || early == Early::Any) || !consumers.all.contains_key(&self.handle) {
            return Err(Error::InvalidRequest);
        }
        consumers.awaited.insert(buffer.addr(), tables::Awaited { owner: self.handle, form, blank });
        if blank && form != Some(Form::Mailboxes) {
            // SAFETY: the caller's. Whoever lays it out by himself leaves this word alone, as AMD's library does, so
            // waves ring it.
            unsafe { &*buffer.cast::<BufferWords>() }.doorbell.store(self.doorbell.handle(), Ordering::Release);
            // Release: pairs with the acquire in `adopt`.
            self.awaits.store(true, Ordering::Release);
            drop(consumers);
            self.doorbell.ring();
        }
        Ok(())
    }

    /// Serves what somebody has laid out by himself since it was registered.
    fn adopt(&self) {
        // Acquire: pairs with the release in `wait_for`.
        if !self.awaits.load(Ordering::Acquire) {
            return;
        }
        let mut found = Vec::new();
        // If not now, then at the next look.
        let Some(consumers) = tables::consumers_at_once() else { return };
        let mine = consumers.awaited.iter().filter(|(_, awaited)| awaited.owner == self.handle && awaited.blank);
        let mut left = false;
        for (address, awaited) in mine {
            left = true;
            let buffer = std::ptr::with_exposed_provenance_mut::<u8>(*address);
            // SAFETY: it stays until it is deregistered, which takes the entry away with the lock held.
            let words = unsafe { &*buffer.cast::<BufferWords>() };
            // Acquire: AMD's library, and others, write this word when the others are there.
            if words.free_stack.load(Ordering::Acquire) | words.ready_stack.load(Ordering::Acquire) != 0 {
                // SAFETY: as above: it was laid out, or is refused for what it holds.
                found.extend(unsafe { Memory::find(buffer, awaited.form.unwrap_or(Form::Stacks), None) });
            }
        }
        // Relaxed: with the lock held, as in `wait_for`.
        self.awaits.store(left, Ordering::Relaxed);
        drop(consumers);
        // One that this library has laid out meanwhile is served already, which is refused.
        found.into_iter().for_each(|memory| _ = self.serve(memory, true));
    }

    /// Serves a buffer no longer. What is ready is answered first, within a limit, and refused after it.
    pub(crate) fn deregister(&self, buffer: usize) -> Result<(), Error> {
        let served = lock(&self.buffers).iter().find(|served| served.address() == buffer).cloned();
        let Some(served) = served else {
            // One that was never laid out.
            let mut consumers = tables::consumers();
            let awaited = consumers.awaited.get(&buffer).is_some_and(|awaited| awaited.owner == self.handle);
            return awaited.then(|| _ = consumers.awaited.remove(&buffer)).ok_or(Error::InvalidRequest);
        };
        // A handler that waited here would wait for itself.
        if threads::current() != Some(self.handle) && self.crew.serves() {
            about_to_wait();
            self.doorbell.ring();
            served.drain(drain_limit());
        }
        {
            let mut buffers = lock(&self.buffers);
            let at = buffers.iter().position(|other| Arc::ptr_eq(other, &served)).ok_or(Error::InvalidRequest)?;
            buffers.remove(at);
        }
        self.changes.fetch_add(1, Ordering::Release);
        self.give_up(&served);
        tables::consumers().remove_buffers(|address, _| address == buffer);
        Ok(())
    }

    /// Closes a buffer that is in the list no more.
    fn give_up(&self, served: &Served) {
        if served.in_mailboxes() {
            mail::remove(self.doorbell);
        }
        served.shut();
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
