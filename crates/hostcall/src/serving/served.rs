//! A port buffer while it is served: its memory, and what the server remembers of each port.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use hostcall_abi::Status;
use hostcall_abi::port::largest_reply_dwords;
use hostcall_error::Origin;
use offload::LaunchedElsewhere;

use super::open::Open;
use super::ports::Share;
use super::threads::Core;
use crate::record::Report;
use crate::rpc::Rpc;
use crate::service::closing::Closing;
use crate::tenant::{Tenant, Thing};
use crate::wire::PortBuffer;

/// The most deferred posts of one buffer that are not handled yet. Those that come then stay where they are, and the
/// kernel waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostBounds {
    /// Messages.
    pub(crate) messages: u64,
    /// The bytes that they keep.
    pub(crate) bytes: u64,
}

impl Default for PostBounds {
    fn default() -> Self {
        Self { messages: 4096, bytes: 64 << 20 }
    }
}

/// Parts of the list of open messages, so that threads seldom meet at one.
const OPENED: usize = 16;

/// A served port buffer. Open messages keep it alive, so a late answer always has memory to go to.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) memory: PortBuffer,
    /// The program that owns it.
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) report: Report,
    /// Contiguous shares of the ports, each swept by one thread at a time.
    pub(crate) shares: Box<[Share]>,
    /// For each port, whether its message is open: still has to be answered by another thread. Such a port is not
    /// looked at.
    open: Box<[AtomicBool]>,
    /// How many ports are.
    open_calls: AtomicU32,
    /// Deferred posts that are not handled, and the bytes that they keep.
    open_posts: AtomicU64,
    open_post_bytes: AtomicU64,
    post_bounds: PostBounds,
    /// Messages that other threads answer, by their numbers: told to whoever waits too long.
    opened: [Mutex<HashMap<u64, Weak<Open>>>; OPENED],
    /// The number of the next one.
    next_open: AtomicU64,
    /// Whether the buffer is being taken out of service.
    pub(crate) closing: Closing,
    /// Turn of the last drain asked for; see [`Share`].
    pub(crate) drain: AtomicU64,
    /// Whether posts for which there is no room are given up: the buffer is being taken out of service, and its
    /// handlers had their time.
    gives_up: AtomicBool,
    /// Whether it has been taken out of the list: no thread looks at it any more, and no drain of it comes to an end.
    pub(crate) retired: AtomicBool,
    /// Units that each lane of a full wave has for its reply, the head included.
    pub(crate) full_room: usize,
    /// Whether its program may be launched by others, of which nobody tells the server.
    elsewhere: AtomicBool,
    /// The client of LLVM's wire that its program has, if it has one.
    rpc: OnceLock<Arc<Rpc>>,
    /// Whose threads serve it.
    core: OnceLock<Weak<Core>>,
    origin: Origin,
}

impl LaunchedElsewhere for Served {
    fn launched_elsewhere(&self) {
        // Pairs with `is_launched_elsewhere`; before the threads are woken.
        if !self.elsewhere.swap(true, Ordering::Release)
            && let Some(core) = self.core.get().and_then(Weak::upgrade)
        {
            core.wake_all();
        }
    }
}

impl Served {
    pub(crate) fn new(memory: PortBuffer, shares: usize, post_bounds: PostBounds) -> Arc<Self> {
        let ports = memory.geometry().ports;
        Arc::new(Self {
            shares: Share::split(ports, shares, memory.first_tag()),
            open: (0..ports).map(|_| AtomicBool::new(false)).collect(),
            open_calls: AtomicU32::new(0),
            open_posts: AtomicU64::new(0),
            open_post_bytes: AtomicU64::new(0),
            post_bounds,
            opened: Default::default(),
            next_open: AtomicU64::new(0),
            closing: Closing::default(),
            drain: AtomicU64::new(0),
            gives_up: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            tenant: Tenant::new(),
            report: Report::default(),
            full_room: 1 + largest_reply_dwords(memory.geometry(), memory.geometry().lanes),
            memory,
            elsewhere: AtomicBool::new(false),
            rpc: OnceLock::new(),
            core: OnceLock::new(),
            origin: Origin::here(),
        })
    }

    /// Threads of this core look at it from now on.
    pub(crate) fn serve_by(&self, core: &Arc<Core>) {
        // Once: a buffer is added to one server.
        let _ = self.core.set(Arc::downgrade(core));
    }

    /// The client of LLVM's wire that its program has.
    #[inline(always)]
    pub(crate) fn rpc(&self) -> Option<&Arc<Rpc>> {
        self.rpc.get()
    }

    /// Serves such a client as well, from now on; false, if it does so already.
    pub(crate) fn serve_rpc(&self, rpc: Arc<Rpc>) -> bool {
        self.rpc.set(rpc).is_ok()
    }

    /// Whether this is the process whose kernels call through it: a forked child answers none of them.
    pub(crate) fn is_here(&self) -> bool {
        self.origin.is_here()
    }

    /// Whether its program may be launched by others, of which nobody tells the server.
    pub(crate) fn is_launched_elsewhere(&self) -> bool {
        // Pairs with `launched_elsewhere`.
        self.elsewhere.load(Ordering::Acquire)
    }

    /// Whether a port seems to hold a message. Nothing is taken.
    pub(crate) fn has_news(&self) -> bool {
        self.shares.iter().any(|share| share.has_news(self)) || self.rpc().is_some_and(|rpc| rpc.has_news())
    }

    /// Frees the ports and staging slots that lanes held when they ended, if no kernel runs on the buffer's device.
    /// Everything that arrived has been consumed.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn free_ports(&self) -> Result<(), offload::Error> {
        let tags: Vec<_> = self.shares.iter().flat_map(|share| share.tags()).collect();
        self.memory.free_ports(&tags)
    }

    /// A message of this port will be answered by another thread: the port is not looked at until then.
    pub(crate) fn open_call(&self, port: u32) {
        // Both pair with `close_call`. Relaxed: the message is handed to other threads later, which orders this.
        self.open_calls.fetch_add(1, Ordering::Relaxed);
        self.open[port as usize].store(true, Ordering::Relaxed);
    }

    /// The replies to a port's open message have been written.
    pub(crate) fn close_call(&self, port: u32) {
        self.memory.words().before_handing_over();
        // Both pair with the acquires in `has_open_calls` and `is_open`: whoever sees them sees the reply words written
        // before, so that the replies of the port's next message come after them.
        self.open[port as usize].store(false, Ordering::Release);
        self.open_calls.fetch_sub(1, Ordering::Release);
    }

    /// Whether any port's message is open.
    #[inline(always)]
    pub(crate) fn has_open_calls(&self) -> bool {
        // Pairs with the release in `close_call`.
        self.open_calls.load(Ordering::Acquire) != 0
    }

    /// What waits here to be answered or handled, for whoever looks.
    pub(crate) fn fill(&self) -> hostcall_top::view::Program {
        hostcall_top::view::Program {
            number: self.tenant.number().to_bits(),
            names: self.report.programs(),
            ports: self.memory.geometry().ports.into(),
            // Pair with `open_call`, `open_post` and their ends. Relaxed: numbers to be shown.
            open: self.open_calls.load(Ordering::Relaxed).into(),
            posts: self.open_posts.load(Ordering::Relaxed),
            post_bytes: self.open_post_bytes.load(Ordering::Relaxed),
            most_posts: self.post_bounds.messages,
            descriptors: self.tenant.has(Thing::Descriptor),
            waits: self.tenant.has(Thing::Wait),
            printed: self.tenant.has(Thing::Printed),
        }
    }

    /// Whether the port's message is open.
    #[inline(always)]
    pub(crate) fn is_open(&self, port: u32) -> bool {
        // Pairs with the release in `close_call`.
        self.open[port as usize].load(Ordering::Acquire)
    }

    /// A post that keeps `bytes` will be handled by another thread.
    pub(crate) fn open_post(&self, bytes: usize) {
        // Both pair with `close_post`. Relaxed, as in `open_call`.
        self.open_post_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.open_posts.fetch_add(1, Ordering::Relaxed);
    }

    /// A deferred post has been handled.
    pub(crate) fn close_post(&self, bytes: usize) {
        // Pairs with the acquire in `open_posts`.
        self.open_post_bytes.fetch_sub(bytes as u64, Ordering::Relaxed);
        self.open_posts.fetch_sub(1, Ordering::Release);
    }

    /// Deferred posts that are not handled.
    pub(crate) fn open_posts(&self) -> u64 {
        // Pairs with the release in `close_post`: what a handler did is visible to whoever waited for it.
        self.open_posts.load(Ordering::Acquire)
    }

    /// Whether one more deferred post may be taken. Several threads may ask at once, so there may be a few more than
    /// the most.
    pub(crate) fn has_room_for_posts(&self) -> bool {
        // Pairs with `open_post` and `close_post`. Relaxed: a bound, not an order.
        let PostBounds { messages, bytes } = self.post_bounds;
        self.open_posts.load(Ordering::Relaxed) < messages && self.open_post_bytes.load(Ordering::Relaxed) < bytes
    }

    /// From now on posts for which there is no room are taken and not handled.
    pub(crate) fn give_posts_up(&self) {
        // Pairs with the load in `gives_posts_up`. Relaxed: a thread that sees it late leaves the posts where they are
        // once more.
        self.gives_up.store(true, Ordering::Relaxed);
    }

    /// Whether posts for which there is no room are taken and not handled.
    pub(crate) fn gives_posts_up(&self) -> bool {
        // Pairs with the store in `give_posts_up`.
        self.gives_up.load(Ordering::Relaxed)
    }

    /// The deferred posts that are not handled now.
    pub(crate) fn posts_open_now(&self) -> Vec<Weak<Open>> {
        // (Most buffers have none.)
        if self.open_posts() == 0 {
            Vec::new()
        } else {
            self.all_opened().iter().filter(|open| open.is_post()).map(Arc::downgrade).collect()
        }
    }

    /// [`Status::OK`] while calls are handled, else the status with which they end: the kernel is being ended, or the
    /// buffer taken out of service.
    #[inline(always)]
    pub(crate) fn ending(&self) -> Status {
        match self.closing.get() {
            Some(status) => status,
            None if self.report.is_ended() => Status::KERNEL_ENDED,
            None => Status::OK,
        }
    }

    /// The number of a message that will be open: no other of this buffer has it.
    pub(super) fn number_open(&self) -> u64 {
        // Pairs with nothing: a counter orders only itself.
        self.next_open.fetch_add(1, Ordering::Relaxed)
    }

    /// A message is open: other threads answer it.
    pub(super) fn note_opened(&self, number: u64, open: &Arc<Open>) {
        self.opened(number).insert(number, Arc::downgrade(open));
    }

    /// The message is open no more.
    pub(super) fn note_answered(&self, number: u64) {
        self.opened(number).remove(&number);
    }

    /// The messages that are open now.
    pub(crate) fn all_opened(&self) -> Vec<Arc<Open>> {
        // Alive until they are noted as answered.
        (0..OPENED as u64).flat_map(|part| self.opened(part).values().filter_map(Weak::upgrade).collect::<Vec<_>>()).collect()
    }

    /// The part that has messages of such numbers. Held for a look or a change.
    fn opened(&self, number: u64) -> MutexGuard<'_, HashMap<u64, Weak<Open>>> {
        self.opened[number as usize % OPENED].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use hostcall_abi::Geometry;

    use super::*;

    #[test]
    fn posts_are_bounded_by_their_number_and_by_the_bytes_that_they_keep() {
        let bounded = |messages, bytes| {
            let geometry = Geometry { slots: 1, slot_bytes: 4096, ..Geometry::new(1, 32) };
            Served::new(PortBuffer::in_process(geometry).unwrap(), 1, PostBounds { messages, bytes })
        };
        for served in [bounded(2, u64::MAX), bounded(u64::MAX, 10)] {
            assert!(served.has_room_for_posts());
            served.open_post(5);
            assert!(served.has_room_for_posts());
            served.open_post(5);
            assert!(!served.has_room_for_posts());
            served.close_post(5);
            assert!(served.has_room_for_posts());
        }
    }
}
