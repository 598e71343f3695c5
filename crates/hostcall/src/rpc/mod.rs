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
//! [`sessions`].
//!
//! The device is not trusted. What it writes is read once and decided on a copy; how much a session may keep is a
//! [`Quota`]; a session is polled only when its packets are the host's, and ends its turn after
//! [`session::EXCHANGES`]. A client that breaks the protocol gets answers that make no sense, on the ports on which it
//! does so.
//!
//! What a session gives back to its client, the thread that polls it tells the client behind that, of several ports at
//! once: the mailboxes may lie in a window, whose fences wait for what is on its way ([`Telling`]).

mod exchange;
mod inbox;
mod mailboxes;
mod memory;
mod port;
mod put_back;
mod recorded;
mod scan;
mod session;
mod sessions;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

pub(crate) use exchange::{Callback, Session, lanes};
use memory::Home;
pub(crate) use memory::{Extent, Memory, Packet, Shape};
pub(crate) use port::{Bytes, Port, Quota, on_the_pool};
pub(crate) use session::Serves;
pub(crate) use sessions::{Asked, Refused, Sessions};

use mailboxes::Mailboxes;
use put_back::{Marks, Step};
use scan::LOT;
use session::{Turned, run, turn};

use crate::record::stats::Padded;

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
    shares: Box<[Padded<Share>]>,
}

/// A share of the ports: every so many'th lot of them. A client takes the first port that is free, so the ports that
/// are used are among the first, and each share has some of these.
struct Share {
    /// Held by who looks at them, and taken by `try_lock` only.
    looks: Mutex<Marks>,
    /// The turn of the last drain in which all of them were looked at.
    drained: AtomicU64,
    /// For the ports of sessions that begin.
    home: Arc<Padded<Home>>,
}

/// Ports whose packets were given to the client, which is to be told.
struct Telling<'a> {
    memory: &'a Memory,
    ports: [(u32, u32); LOT as usize],
    count: usize,
}

impl<'a> Telling<'a> {
    fn new(memory: &'a Memory) -> Self {
        Self { memory, ports: [(0, 0); LOT as usize], count: 0 }
    }

    /// A port was served, whose mailbox held `before`: if it is another one now, the client is told, now or later.
    fn push(&mut self, port: u32, before: u32) {
        let now = self.memory.told(port);
        if now == before || !self.memory.has_window() {
            return;
        }
        self.ports[self.count] = (port, now);
        self.count += 1;
        if self.count == self.ports.len() {
            self.tell();
        }
    }

    /// Tells the client.
    fn tell(&mut self) {
        self.memory.tell(&self.ports[..self.count]);
        self.count = 0;
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        self.tell();
    }
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
        let mut telling = Telling::new(&rpc.memory);
        let before = rpc.memory.told(port);
        let turned = run(session, true);
        telling.push(port, before);
        drop(telling);
        rpc.put_back(port, turned);
    }
}

impl Rpc {
    /// A client, and who serves it.
    pub(crate) fn new(memory: Memory, serves: impl Serves + 'static) -> Arc<Self> {
        let slots = (0..memory.shape().ports).map(|_| Mutex::new(Slot::Free)).collect();
        let memory = Arc::new(memory);
        let shares = memory.shape().shares as usize;
        let home = |share| Arc::new(Padded(Home { memory: memory.clone(), share }));
        let share = |share| Padded(Share { looks: Mutex::new(Marks::of(share)), drained: AtomicU64::new(0), home: home(share) });
        let shares = (0..shares).map(share).collect();
        Arc::new(Self { memory, serves: Box::new(serves), slots, shares })
    }

    /// Held for an exchange of what is in it.
    fn slot(&self, port: u32) -> MutexGuard<'_, Slot> {
        self.slots[port as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks once at each port of a share, in a turn of drains. What is to go on on a thread that may block is handed
    /// to `leave`. Ports that were served; `None`: somebody else looks at them.
    pub(crate) fn sweep(self: &Arc<Self>, turn: u64, share: usize, mut leave: impl FnMut(Away)) -> Option<u32> {
        let (apart, Padded(Share { looks, drained, home })) = (self.shares.len() as u32, &self.shares[share]);
        let mut marks = match looks.try_lock() {
            Ok(marks) => marks,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.memory.pass_on();
        // Relaxed: written under the lock.
        let asked = drained.load(Ordering::Relaxed) != turn;
        match marks.step(&self.memory, asked) {
            Step::Look => {}
            // Nothing is drained.
            Step::Wait => return None,
            Step::Follow => self.follow(share),
        }
        let mut telling = Telling::new(&self.memory);
        let (mut lot, mut taken) = (share as u32, 0);
        while let Some((found, of_hosts)) = self.memory.next_of_hosts(lot, apart) {
            if !marks.may_take(&self.memory, lot == share as u32) {
                return None;
            }
            let ports = || lanes(of_hosts.into()).map(move |port| found * LOT + port);
            ports().for_each(|port| self.memory.expect(port));
            for port in ports() {
                taken += u32::from(self.look(port, home, &mut telling, &mut leave));
            }
            lot = found + apart;
        }
        drop(telling);
        // Pairs with the load in `is_drained`: what was handled in that turn is visible.
        drained.store(turn, Ordering::Release);
        Some(taken)
    }

    /// Goes back to what the ports of a share were when the memory was as it is now: a session of a kernel that was
    /// ended in the middle is over.
    #[cold]
    fn follow(&self, share: usize) {
        let Shape { ports, shares, .. } = self.memory.shape();
        let lots = (share as u32..ports.div_ceil(LOT)).step_by(shares as usize);
        for port in lots.flat_map(|lot| lot * LOT..ports.min((lot + 1) * LOT)) {
            let mut slot = self.slot(port);
            let session = match std::mem::replace(&mut *slot, Slot::Free) {
                Slot::Free => None,
                Slot::Waits(session) => Some(session),
                other => {
                    *slot = other;
                    continue;
                }
            };
            self.memory.follow(port);
            drop(slot);
            // It gives nothing back: it waits for packets that it has not.
            drop(session);
        }
    }

    /// Shares of the ports.
    pub(crate) fn shares(&self) -> usize {
        self.shares.len()
    }

    /// Whether all ports have been looked at since a drain was asked for.
    pub(crate) fn is_drained(&self, turn: u64) -> bool {
        // Pairs with the store in `sweep`.
        self.shares.iter().all(|Padded(share)| share.drained.load(Ordering::Acquire) >= turn)
    }

    /// Whether a port's packets seem to be the host's.
    pub(crate) fn has_news(&self) -> bool {
        self.memory.next_of_hosts(0, 1).is_some_and(|(_, of_hosts)| of_hosts != 0)
    }

    /// Serves a port whose packets are the host's, unless somebody does: whether it was served.
    fn look(self: &Arc<Self>, port: u32, home: &Arc<Padded<Home>>, telling: &mut Telling<'_>, leave: &mut impl FnMut(Away)) -> bool {
        let mut slot = self.slot(port);
        let session = match std::mem::replace(&mut *slot, Slot::Away) {
            Slot::Waits(session) => Some(session),
            // Again: who had the port may have given its packets back since they were looked at.
            Slot::Free if self.memory.is_hosts(port) => None,
            other => {
                *slot = other;
                return false;
            }
        };
        drop(slot);
        let before = self.memory.told(port);
        let turned = match session {
            Some(session) => {
                // What goes on may take its time, and others have their answers.
                telling.tell();
                run(session, false)
            }
            None => {
                self.memory.acquire();
                let (mask, opcode) = self.memory.header(port);
                turn(false, || {
                    let session = self.serves.session(Mailboxes::new(home.clone(), port, mask).into(), opcode);
                    session.inspect(|_| telling.tell())
                })
            }
        };
        telling.push(port, before);
        match turned {
            Turned::WantsToBlock(session) => leave(Away { rpc: self.clone(), port, session }),
            turned => self.put_back(port, turned),
        }
        true
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
