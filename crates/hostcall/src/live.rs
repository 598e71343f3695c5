//! A port buffer while it is served: its memory, and what the server remembers of each port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hostcall_abi::port::write_reply;
use hostcall_abi::{Status, Tag};

use crate::buffer::PortBuffer;
use crate::memory::Words;
use crate::report::Report;
use crate::sweep::Partition;

/// A served port buffer. Completions keep it alive, so a late answer always has memory to go to.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) memory: PortBuffer,
    pub(crate) report: Report,
    /// Contiguous shares of the ports, each swept by one thread at a time.
    pub(crate) partitions: Box<[Partition]>,
    /// For each port, lanes of its message that [`Completion`](crate::Completion)s still have to answer. While it is not 0 the port is not looked at.
    unanswered: Box<[AtomicU32]>,
    /// Deferred posts that are not handled.
    outstanding_posts: AtomicU64,
    /// The status with which calls end instead of being handled; 0 while they are.
    verdict: AtomicU32,
    /// Turn of the last drain asked for; see [`Partition`].
    pub(crate) drain: AtomicU64,
}

/// One lane's place in a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) port: u32,
    pub(crate) tag: Tag,
    pub(crate) rank: u32,
    pub(crate) lanes: u32,
    /// Nobody waits for an answer.
    pub(crate) post: bool,
}

impl Live {
    /// Frees the ports and staging slots that lanes held when they ended, if no kernel runs on the buffer's device. Everything that
    /// arrived has been consumed.
    ///
    /// # Errors
    /// The device's.
    pub(crate) fn free_ports(&self) -> Result<(), offload::Error> {
        let tags: Vec<_> = self.partitions.iter().flat_map(|share| share.tags()).collect();
        self.memory.free_ports(&tags)
    }

    pub(crate) fn new(memory: PortBuffer, shares: usize) -> Arc<Self> {
        let ports = memory.geometry().ports;
        Arc::new(Self {
            partitions: Partition::split(ports, shares, memory.first_tag()),
            unanswered: (0..ports).map(|_| AtomicU32::new(0)).collect(),
            outstanding_posts: AtomicU64::new(0),
            verdict: AtomicU32::new(0),
            drain: AtomicU64::new(0),
            report: Report::default(),
            memory,
        })
    }

    /// Writes one lane's reply.
    pub(crate) fn answer(&self, at: Place, status: Status, payload: &[u32]) {
        let geometry = self.memory.geometry();
        match self.memory.words() {
            Words::Single16(m) => write_reply(&m, geometry, at.port, at.rank, at.lanes, at.tag, status, payload),
            Words::Triple8(m) => write_reply(&m, geometry, at.port, at.rank, at.lanes, at.tag, status, payload),
        }
    }

    /// `lanes` of a message will be answered by completions; unless it is a post, its port is not looked at until then.
    pub(crate) fn defer(&self, port: u32, lanes: u32, post: bool) {
        // Both pair with `done`. Relaxed: the completions are handed to other threads later, which orders this.
        if post {
            self.outstanding_posts.fetch_add(u64::from(lanes), Ordering::Relaxed);
        } else {
            self.unanswered[port as usize].store(lanes, Ordering::Relaxed);
        }
    }

    /// A deferred lane was answered, or its post handled.
    pub(crate) fn done(&self, at: Place) {
        if at.post {
            // Pairs with the acquire in `outstanding_posts`.
            self.outstanding_posts.fetch_sub(1, Ordering::Release);
        } else {
            // Pairs with the acquire in `is_serving`: whoever sees 0 sees the reply words written before, so that the replies of
            // the port's next message come after them.
            self.unanswered[at.port as usize].fetch_sub(1, Ordering::Release);
        }
    }

    /// Whether completions still owe answers to the port's message.
    #[inline(always)]
    pub(crate) fn is_serving(&self, port: u32) -> bool {
        // Pairs with the release in `done`.
        self.unanswered[port as usize].load(Ordering::Acquire) != 0
    }

    /// Deferred posts that are not handled.
    pub(crate) fn outstanding_posts(&self) -> u64 {
        // Pairs with the release in `done`: what a handler did is visible to whoever waited for it.
        self.outstanding_posts.load(Ordering::Acquire)
    }

    /// [`Status::OK`] while calls are handled, else the status with which they end.
    #[inline(always)]
    pub(crate) fn verdict(&self) -> Status {
        // Pairs with `condemn`. Relaxed: a call that slips through is merely handled.
        match self.verdict.load(Ordering::Relaxed) {
            0 if self.report.is_ended() => Status::KERNEL_ENDED,
            verdict => Status(verdict as u16),
        }
    }

    /// The status of [`Live::condemn`], if the buffer is being taken out of service.
    pub(crate) fn condemned(&self) -> Option<Status> {
        // Pairs with `condemn`.
        Some(Status(self.verdict.load(Ordering::Relaxed) as u16)).filter(|&status| status != Status::OK)
    }

    /// From now on calls end with this status.
    pub(crate) fn condemn(&self, status: Status) {
        // Pairs with the loads in `verdict` and `condemned`.
        self.verdict.store(u32::from(status.0), Ordering::Relaxed);
    }
}
