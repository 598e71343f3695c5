//! What all threads of the process share: services, consumers, and which buffer belongs to which.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockWriteGuard, TryLockError};

use crate::Error;
use crate::client::Client;
use crate::consumer::Consumer;
use crate::doorbell::Doorbell;
use crate::layout::Form;
use crate::memory::LaidOut;
use crate::services::{FUNCTION_CALL, Handler, Services};

fn services() -> &'static RwLock<Arc<Services>> {
    static SERVICES: OnceLock<RwLock<Arc<Services>>> = OnceLock::new();
    SERVICES.get_or_init(|| {
        let handlers = HashMap::from_iter([(FUNCTION_CALL, Handler::FunctionCall)]);
        RwLock::new(Arc::new(Services { handlers, ..Services::default() }))
    })
}

/// Counts changes of the services.
static CHANGES: AtomicU64 = AtomicU64::new(1);

/// What a thread knows of the services. Asking costs a load as long as nothing changes.
#[derive(Debug, Default)]
pub(crate) struct Known {
    changes: u64,
    services: Arc<Services>,
}

impl Known {
    /// The services, and a number that is another when they have changed.
    pub(crate) fn now(&mut self) -> (&Services, u64) {
        // Acquire: pairs with the release in `change`. A registration that came before the packet is seen, because the
        // packet's push comes after it.
        let changes = CHANGES.load(Ordering::Acquire);
        if self.changes != changes {
            self.services = services().read().unwrap_or_else(PoisonError::into_inner).clone();
            self.changes = changes;
        }
        (&self.services, self.changes)
    }
}

/// Changes the services, unless `change` refuses.
pub(crate) fn change(change: impl FnOnce(&mut Services) -> Result<(), Error>) -> Result<(), Error> {
    let mut shared = services().write().unwrap_or_else(PoisonError::into_inner);
    change(Arc::make_mut(&mut shared))?;
    CHANGES.fetch_add(1, Ordering::Release);
    Ok(())
}

/// Registers a handler for a service that has none.
pub(crate) fn add_service(service: u32, handler: Handler) -> Result<(), Error> {
    change(|services| match services.handlers.entry(service) {
        Entry::Occupied(_) => Err(Error::InvalidRequest),
        Entry::Vacant(place) => {
            place.insert(handler);
            Ok(())
        }
    })
}

/// A place that is to be a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    /// The consumer that it was registered with.
    pub(crate) owner: usize,
    /// The form that its owner has asked for; without one any.
    pub(crate) form: Option<Form>,
    /// Whether it was full of zeros, so that whatever is there later is a buffer that somebody has laid out by himself.
    pub(crate) blank: bool,
}

/// Consumers by their handles, and the consumer of each registered buffer.
#[derive(Debug, Default)]
pub(crate) struct Consumers {
    pub(crate) all: HashMap<usize, Arc<Consumer>>,
    pub(crate) buffers: HashMap<usize, Client>,
    /// What this library laid out, by address. Nobody says when a buffer is freed, so an entry stays until another one
    /// is laid out there.
    pub(crate) laid_out: HashMap<usize, LaidOut>,
    /// Buffers that were registered before they were laid out, by address.
    pub(crate) awaited: HashMap<usize, Awaited>,
    made: usize,
}

impl Consumers {
    /// Adds a consumer and returns its handle: a number that was never used before, so that a stale one is recognised.
    pub(crate) fn add(&mut self, make: impl FnOnce(usize) -> Consumer) -> usize {
        self.made += 1;
        let handle = 16 * self.made;
        self.all.insert(handle, Arc::new(make(handle)));
        handle
    }

    /// Notes whose a buffer is.
    pub(crate) fn add_buffer(&mut self, client: Client) {
        self.buffers.insert(client.served.address(), client);
        REGISTRATIONS.fetch_add(1, Ordering::Release);
    }

    /// Forgets buffers, by address and consumer.
    pub(crate) fn remove_buffers(&mut self, mut which: impl FnMut(usize, usize) -> bool) {
        self.buffers.retain(|address, client| !which(*address, client.owner));
        self.awaited.retain(|address, awaited| !which(*address, awaited.owner));
        REGISTRATIONS.fetch_add(1, Ordering::Release);
    }
}

/// Counts registrations of buffers and their ends.
static REGISTRATIONS: AtomicU64 = AtomicU64::new(1);

/// The number of registrations so far, and of their ends.
pub(crate) fn registrations() -> u64 {
    // Acquire: pairs with the releases above.
    REGISTRATIONS.load(Ordering::Acquire)
}

fn shared_consumers() -> &'static Mutex<Consumers> {
    static CONSUMERS: OnceLock<Mutex<Consumers>> = OnceLock::new();
    CONSUMERS.get_or_init(Mutex::default)
}

/// The consumers.
pub(crate) fn consumers() -> MutexGuard<'static, Consumers> {
    shared_consumers().lock().unwrap_or_else(PoisonError::into_inner)
}

/// The consumers, unless somebody has them: for threads that serve, which wait for nobody.
pub(crate) fn consumers_at_once() -> Option<MutexGuard<'static, Consumers>> {
    match shared_consumers().try_lock() {
        Ok(consumers) => Some(consumers),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// All locks of the process, held.
pub(crate) struct Frozen {
    consumers: MutexGuard<'static, Consumers>,
    _services: RwLockWriteGuard<'static, Arc<Services>>,
    _doorbells: MutexGuard<'static, Vec<Doorbell>>,
    mail: MutexGuard<'static, Vec<Doorbell>>,
    _refusing: MutexGuard<'static, ()>,
}

impl Frozen {
    /// In a forked child: no buffer is registered, whatever was in the parent.
    pub(crate) fn forget_buffers(mut self) {
        self.consumers.remove_buffers(|_, _| true);
        self.mail.clear();
    }
}

/// Takes every lock, in the order in which others take them.
pub(crate) fn freeze() -> Frozen {
    Frozen {
        consumers: consumers(),
        _services: services().write().unwrap_or_else(PoisonError::into_inner),
        _doorbells: crate::doorbell::freeze(),
        mail: crate::consumer::mail::freeze(),
        _refusing: crate::consumer::refusing(),
    }
}
