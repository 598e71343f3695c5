//! Clients of LLVM's `rpc.h`: programs that are linked with LLVM's libc for GPUs.
//!
//! ```text
//! threads (turn) -> Rpc::sweep (mailboxes) -> session (a future of whoever serves it) -> Port (packets) -> the client
//! ```
//!
//! Such a client shares a piece of memory with its host ([`hostcall_abi::llvm_rpc`] says how it lies). The server's
//! threads look at its mailboxes in the same turns in which they look at the ports of our own wire, as long as kernels
//! run; what may block goes on in the same pool. The client belongs to the port buffer of its program: the same report,
//! budgets, open files and end. What the opcodes mean is the affair of who [serves](Serves) them.
//!
//! Clients that were recompiled over our own wire have the same sessions, which come as calls of a service:
//! [`recorded`].
//!
//! The device is not trusted. What it writes is read once and decided on a copy; how much a session may keep is a
//! [`Quota`]; a session is polled only when its packets are the host's, and ends its turn after
//! [`session::EXCHANGES`]. A client that breaks the protocol gets answers that make no sense, on the ports on which it
//! does so.

mod mailboxes;
mod memory;
mod port;
mod recorded;
mod session;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

pub(crate) use memory::{Memory, Packet, Shape};
pub(crate) use port::{Bytes, Callback, Port, Quota, lanes, on_the_pool};
pub(crate) use recorded::{Asked, Refused, Sessions};
pub(crate) use session::{Serves, Session};

use mailboxes::Mailboxes;
use session::{Turned, run};

/// What serves a port.
enum Slot {
    /// Nothing: what comes next begins a session.
    Free,
    /// A session that waits for the client.
    Waits(Session),
    /// A session that a thread has, or the pool.
    Away,
    /// Nothing any more.
    Closed,
}

/// A client of LLVM's wire, while it is served.
pub(crate) struct Rpc {
    memory: Arc<Memory>,
    serves: Box<dyn Serves>,
    slots: Box<[Mutex<Slot>]>,
    shares: Box<[Share]>,
}

/// A share of the ports.
#[derive(Default)]
struct Share {
    /// Held by who looks at them, and taken by `try_lock` only.
    looks: Mutex<()>,
    /// The turn of the last drain in which all of them were looked at.
    drained: AtomicU64,
}

impl fmt::Debug for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rpc").field("shape", &self.memory.shape()).finish_non_exhaustive()
    }
}

/// A session that goes on on a thread of the pool.
pub(crate) struct Away {
    rpc: Arc<Rpc>,
    port: u32,
    session: Session,
}

impl Away {
    /// Goes on with it, on a thread that may block, until it waits for the client.
    pub(crate) fn run(self) {
        let Self { rpc, port, session } = self;
        rpc.put_back(port, run(session, true));
    }
}

impl Rpc {
    /// A client whose ports are looked at in so many shares.
    pub(crate) fn new(memory: Memory, serves: impl Serves + 'static, shares: usize) -> Arc<Self> {
        let slots = (0..memory.shape().ports).map(|_| Mutex::new(Slot::Free)).collect();
        let shares = (0..shares).map(|_| Share::default()).collect();
        Arc::new(Self { memory: Arc::new(memory), serves: Box::new(serves), slots, shares })
    }

    /// Held for an exchange of what is in it.
    fn slot(&self, port: u32) -> MutexGuard<'_, Slot> {
        self.slots[port as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ports of a share.
    fn ports_of(&self, share: usize) -> std::ops::Range<u32> {
        let (ports, shares) = (u64::from(self.memory.shape().ports), self.shares.len() as u64);
        let at = |share: u64| (ports * share / shares) as u32;
        at(share as u64)..at(share as u64 + 1)
    }

    /// Looks once at each port of a share, in a turn of drains. What is to go on on a thread that may block is handed
    /// to `leave`. Ports that were served; `None`: somebody else looks at them.
    pub(crate) fn sweep(self: &Arc<Self>, turn: u64, share: usize, mut leave: impl FnMut(Away)) -> Option<u32> {
        let Share { looks, drained } = &self.shares[share];
        let _looks = match looks.try_lock() {
            Ok(looks) => looks,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let mut ports = self.ports_of(share);
        let mut taken = 0;
        while let Some(port) = self.memory.first_of_hosts(ports.start, ports.end) {
            taken += u32::from(self.look(port, &mut leave));
            ports.start = port + 1;
        }
        // Pairs with the load in `is_drained`: what was handled in that turn is visible.
        drained.store(turn, Ordering::Release);
        Some(taken)
    }

    /// Shares of the ports.
    pub(crate) fn shares(&self) -> usize {
        self.shares.len()
    }

    /// Whether all ports have been looked at since a drain was asked for.
    pub(crate) fn is_drained(&self, turn: u64) -> bool {
        // Pairs with the store in `sweep`.
        self.shares.iter().all(|share| share.drained.load(Ordering::Acquire) >= turn)
    }

    /// Whether a port's packets seem to be the host's.
    pub(crate) fn has_news(&self) -> bool {
        self.memory.first_of_hosts(0, self.memory.shape().ports).is_some()
    }

    /// Serves a port whose packets are the host's, unless somebody does: whether it was served.
    fn look(self: &Arc<Self>, port: u32, leave: &mut impl FnMut(Away)) -> bool {
        let mut slot = self.slot(port);
        let session = match std::mem::replace(&mut *slot, Slot::Away) {
            Slot::Waits(session) => session,
            // Again: who had the port may have given its packets back since they were looked at.
            Slot::Free if self.memory.is_hosts(port) => self.begin(port),
            other => {
                *slot = other;
                return false;
            }
        };
        drop(slot);
        match run(session, false) {
            Turned::WantsToBlock(session) => leave(Away { rpc: self.clone(), port, session }),
            turned => self.put_back(port, turned),
        }
        true
    }

    /// A session for what a client has opened a port for.
    fn begin(&self, port: u32) -> Session {
        self.memory.acquire();
        let (mask, opcode) = self.memory.header(port);
        self.serves.session(Port::new(Mailboxes::new(self.memory.clone(), port, mask)), opcode)
    }

    fn put_back(&self, port: u32, turned: Turned) {
        let next = match turned {
            Turned::Over => Slot::Free,
            // (One that wants to block comes from a thread on which it may.)
            Turned::Waits(session) | Turned::WantsToBlock(session) => Slot::Waits(session),
        };
        let mut slot = self.slot(port);
        if !matches!(*slot, Slot::Closed) {
            *slot = next;
            return;
        }
        // What it owns is dropped without the lock.
        drop(slot);
        drop(next);
    }

    /// Nobody looks at the ports any more: what was not finished is dropped, and its clients go on.
    pub(crate) fn close(&self) {
        for port in 0..self.memory.shape().ports {
            let old = std::mem::replace(&mut *self.slot(port), Slot::Closed);
            drop(old);
        }
        self.serves.end();
    }
}
