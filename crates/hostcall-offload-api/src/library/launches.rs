//! The queues and symbols of the last launches.
//!
//! A launch finds its queue and its symbol by their handles, and holds both until it returns: a handle that another
//! thread destroys meanwhile does no harm. The next launch of a queue is mostly of the same kernel. So both are kept
//! together, in a place that the queue's handle names, and the launch holds the place: that takes two locked
//! instructions instead of six, and touches nothing that launches in other queues touch.
//!
//! A place that another launch holds is not waited for: a launch may wait for a kernel that runs. What was destroyed is
//! given back at once, or by the launch that holds its place.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use super::Core;
use super::calls::gone;
use super::error::Launched;
use super::program::Symbol;
use super::queue::Queue;
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_queue_handle_t, ol_symbol_handle_t};

/// How many places there are. More queues than these share some.
const PLACES: usize = 256;

/// See the module's documentation.
pub(super) struct Launches {
    places: [Place; PLACES],
    /// Places from this one on were never used.
    unused: AtomicUsize,
}

/// Two cache lines, which processors fetch together.
#[repr(align(128))]
struct Place {
    last: Mutex<Option<Last>>,
    /// Whether something was destroyed while the lock was taken.
    is_stale: AtomicBool,
}

/// A queue and a symbol, each behind its handle.
struct Last {
    queue: (usize, Arc<Queue>),
    symbol: (usize, Arc<Symbol>),
}

impl Last {
    #[inline]
    fn is_live(&self, library: &Core) -> bool {
        library.queues.is_live(std::ptr::without_provenance(self.queue.0))
            && library.symbols.is_live(std::ptr::without_provenance(self.symbol.0))
    }
}

/// The place of a queue's handle, in which the number of its slot begins there.
#[inline]
fn number(queue: usize) -> usize {
    queue >> 8 & (PLACES - 1)
}

impl Launches {
    pub(super) const fn new() -> Launches {
        let places = [const { Place { last: Mutex::new(None), is_stale: AtomicBool::new(false) } }; PLACES];
        Launches { places, unused: AtomicUsize::new(0) }
    }

    #[inline]
    fn place(&self, queue: usize) -> &Place {
        &self.places[number(queue)]
    }

    /// What belongs to two handles, for the place of the queue.
    #[cold]
    fn find(&self, library: &Core, queue: ol_queue_handle_t, symbol: ol_symbol_handle_t) -> Result<Last, Box<Error>> {
        // Before both are looked up. Pairs with the change in `forget_destroyed`: either that one sees the place, or
        // what it is for is not found any more.
        self.unused.fetch_max(number(queue.addr()) + 1, Ordering::SeqCst);
        let found = library.queues.get(queue.cast()).ok_or_else(|| gone(ol_errc_t::OL_ERRC_INVALID_QUEUE, "queue"))?;
        Ok(Last { queue: (queue.addr(), found), symbol: (symbol.addr(), library.symbol_of(symbol)?) })
    }

    /// Calls `use_them` with the queue and the symbol of two handles. In one place, so that it is inlined.
    #[inline(always)]
    pub(super) fn with(
        &self,
        library: &Core,
        queue: ol_queue_handle_t,
        symbol: ol_symbol_handle_t,
        use_them: impl FnOnce(&Queue, &Symbol) -> Launched,
    ) -> Launched {
        let place = self.place(queue.addr());
        // Dropped at the end, when the place is free again; not moved, which takes time even where there is nothing.
        let _before;
        let own;
        let mut locked = place.lock();
        let last = match locked.as_deref_mut() {
            Some(Some(last)) if last.queue.0 == queue.addr() && last.symbol.0 == symbol.addr() && last.is_live(library) => &*last,
            Some(other) => {
                _before = other.take();
                &*other.insert(self.find(library, queue, symbol)?)
            }
            None => {
                own = self.find(library, queue, symbol)?;
                &own
            }
        };
        let result = use_them(&last.queue.1, &last.symbol.1);
        drop(locked);
        // Sequentially consistent with the change in `forget`: either that one took the lock, or it is seen here.
        if place.is_stale.load(Ordering::SeqCst) {
            place.forget(library);
        }
        result
    }

    /// A queue was destroyed.
    pub(super) fn forget_queue(&self, library: &Core, queue: usize) {
        self.place(queue).forget(library);
    }

    /// Symbols or queues were destroyed. Until they are given back here their images stay loaded.
    pub(super) fn forget_destroyed(&self, library: &Core) {
        // Changes nothing. See `find`.
        let unused = self.unused.fetch_max(0, Ordering::SeqCst);
        self.places[..unused].iter().for_each(|place| place.forget(library));
    }
}

impl Place {
    #[inline]
    fn lock(&self) -> Option<MutexGuard<'_, Option<Last>>> {
        match self.last.try_lock() {
            Ok(last) => Some(last),
            // What is there is whole: it is put there at once.
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Gives back what was destroyed, or leaves that to whoever holds the lock.
    fn forget(&self, library: &Core) {
        // Pairs with the load in `with`, and that below.
        self.is_stale.store(true, Ordering::SeqCst);
        while self.is_stale.load(Ordering::SeqCst) {
            let Some(mut last) = self.lock() else { return };
            // Reads as well: whoever set it has destroyed something before, which is seen now.
            self.is_stale.swap(false, Ordering::SeqCst);
            let gone = last.take_if(|last| !last.is_live(library));
            drop(last);
            drop(gone);
        }
    }
}

impl fmt::Debug for Launches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launches").finish_non_exhaustive()
    }
}
