//! The mailboxes that the host writes, in a window into the device's memory.
//!
//! A client that waits on a GPU polls its own memory then, and not the host's over the bus. The host writes a mailbox
//! by one store of an aligned word of 4 bytes, which no processor writes in parts. It never reads one.
//!
//! Stores into a window are weakly ordered, as those of [replies](crate::wire) are. So there are two fences around the
//! mailboxes of a batch: one before, because a client that sees its mailbox flipped reads the packets, which lie in
//! host memory; and one after, because stores to one line gather in the processor until then. Two stores into *one*
//! mailbox need no order of their own: the host gives a port's packets away a second time only after the client has
//! answered the first, and so has seen it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use offload::LineStore;

use crate::wire::RawWindow;

/// Mailboxes in a window, one for each port.
pub(super) struct Inbox {
    words: NonNull<u8>,
    store: LineStore,
    /// What LLVM's own code writes in place of them.
    elsewhere: Box<[AtomicU32]>,
    /// Ports that such code serves, and what their mailboxes hold.
    lent: Mutex<Vec<(u32, u32)>>,
    /// How many those are.
    count: AtomicUsize,
}

// SAFETY: the address is of memory that is only ever written, a whole word at a time, and that lives as long as the
// client's.
unsafe impl Send for Inbox {}
// SAFETY: as above.
unsafe impl Sync for Inbox {}

impl Inbox {
    /// # Safety
    /// The window is aligned and valid for writes of a word of 4 bytes for each port as long as this lives, and nobody
    /// accesses it but by atomics.
    pub(super) unsafe fn new(window: RawWindow, ports: u32) -> Self {
        let elsewhere = (0..ports).map(|_| AtomicU32::new(0)).collect();
        let RawWindow { host, store, .. } = window;
        Self { words: host, store, elsewhere, lent: Mutex::default(), count: AtomicUsize::new(0) }
    }

    /// Writes the mailboxes of these ports. What this thread has written or seen before is visible to who sees them.
    pub(super) fn tell(&self, ports: &[(u32, u32)]) {
        if ports.is_empty() {
            return;
        }
        // Pairs with the client's fence behind its wait, and is the order of the language; the next is the order of
        // write-combining stores behind those to host memory.
        fence(Ordering::Release);
        self.store.order();
        for &(port, value) in ports {
            assert!((port as usize) < self.elsewhere.len(), "there is no port {port}");
            // SAFETY: a word of the window, as the port is one of its; all accesses of this process are atomic.
            let word = unsafe { AtomicU32::from_ptr(self.words.add(4 * port as usize).as_ptr().cast()) };
            word.store(value, Ordering::Relaxed);
        }
        // They leave the processor now.
        self.store.order();
    }

    /// Where LLVM's own code may write mailboxes: an array as the client's is.
    pub(super) fn written_elsewhere(&self) -> u64 {
        self.elsewhere.as_ptr().expose_provenance() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(u32, u32)>> {
        self.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on what is written elsewhere for a port is passed on, until the result is dropped. Its mailbox holds
    /// `told`.
    pub(super) fn lend(&self, port: u32, told: u32) -> Lent<'_> {
        self.elsewhere[port as usize].store(told, Ordering::Relaxed);
        let mut lent = self.lock();
        lent.push((port, told));
        // Pairs with the load in `pass_on`: a hint, and the lock orders the rest.
        self.count.store(lent.len(), Ordering::Relaxed);
        Lent { inbox: self, port }
    }

    /// Passes on what was written elsewhere. It waits for nobody: who has the lock does the same.
    #[inline]
    pub(super) fn pass_on(&self) {
        // As in `lend`.
        if self.count.load(Ordering::Relaxed) != 0 {
            self.pass_on_lent();
        }
    }

    #[cold]
    fn pass_on_lent(&self) {
        let mut lent = match self.lent.try_lock() {
            Ok(lent) => lent,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        for (port, told) in lent.iter_mut() {
            self.pass_on_port(*port, told);
        }
    }

    /// Under the lock: so no older value comes behind a newer one.
    fn pass_on_port(&self, port: u32, told: &mut u32) {
        // Pairs with the release fence in LLVM's code: the packets that it has written come before.
        let now = self.elsewhere[port as usize].load(Ordering::Acquire) & 1;
        if now != *told {
            *told = now;
            self.tell(&[(port, now)]);
        }
    }
}

/// While it lives, what is written elsewhere for a port is passed on.
pub(super) struct Lent<'a> {
    inbox: &'a Inbox,
    port: u32,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut lent = self.inbox.lock();
        if let Some(at) = lent.iter().position(|(port, _)| *port == self.port) {
            let (port, mut told) = lent.swap_remove(at);
            self.inbox.pass_on_port(port, &mut told);
        }
        // As in `lend`.
        self.inbox.count.store(lent.len(), Ordering::Relaxed);
    }
}
