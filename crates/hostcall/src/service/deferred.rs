//! All calls of one message, owned: answered later, from any thread.

use std::sync::Arc;

use hostcall_abi::port::LaneReplies;

use super::answer::{AllAlike, Answer, Timing};
use super::batch::{Batch, Requests};
use super::call::{Scratch, Thread};
use super::completion::{Completion, Owed};
use super::failure::Failure;
use super::lanes::{Answers, Progress, bits_of};

/// The calls of one message, owned: a handler made by [`Service::batch_deferred`](crate::Service::batch_deferred) keeps
/// it and answers later, from any thread: all lanes at once through [`batch`](DeferredBatch::batch), or each by a
/// [`Completion`] of its own ([`split`](DeferredBatch::split)).
///
/// The answers leave when it is dropped; [`finish`](DeferredBatch::finish) says so. Lanes without an answer then fail
/// as those of a dropped [`Completion`] do: `HandlerPanicked` if the thread panics, else `HandlerFailed`. Posts need no
/// answer.
///
/// ```
/// use std::sync::mpsc;
///
/// use hostcall::{Definition, Service};
///
/// # fn main() -> Result<(), hostcall::DefinitionError> {
/// let (queue, messages) = mpsc::channel();
/// let definition = Definition::builder("Host__twice").argument("u32").result("u32").build()?;
/// // The handler runs on a serving thread and only hands the message on.
/// let service = Service::batch_deferred(definition, move |message| _ = queue.send(message));
/// std::thread::spawn(move || {
///     for mut message in messages {
///         let mut batch = message.batch();
///         let x = batch.rows().column::<u32>(0).expect("one u32");
///         batch.reply_all(|mut results| {
///             for (i, x) in x.iter().enumerate() {
///                 results.row_mut(i)[0] = 2 * x;
///             }
///         });
///         message.finish();
///     }
/// });
/// # let _ = service;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping it fails the calls"]
pub struct DeferredBatch {
    owed: Owed,
    len: u32,
    progress: Progress,
    /// Made by who first wants to answer: seldom the thread that the message came on.
    streams: Vec<u32>,
    stride: usize,
    scratch: Scratch,
}

impl DeferredBatch {
    /// All `lanes` lanes of a message. Those that the service does not take are answered at once; `None` if those are
    /// all.
    pub(crate) fn new(message: Arc<dyn Answer>, lanes: u32, timing: Option<Timing>) -> Option<Self> {
        let facts = message.facts();
        let usual = facts.service.admits_all() && facts.malformed().is_none();
        let stride = message.stride();
        let owed = Owed::new(message, bits_of(0, lanes), timing);
        let (progress, scratch) = (Progress::of(bits_of(0, lanes)), Scratch::default());
        let mut batch = Self { owed, len: lanes, progress, streams: Vec::new(), stride, scratch };
        (usual || batch.begin(lanes)).then_some(batch)
    }

    /// Answers the lanes that nobody handles. Whether others are left.
    #[cold]
    fn begin(&mut self, lanes: u32) -> bool {
        let mut answers = self.answers().0;
        answers.begin(0, lanes);
        let len = answers.progress.left.count_ones();
        if let Some(error) = answers.facts.malformed() {
            answers.fail_left(&Failure::Decode(error));
        }
        self.len = len;
        self.send();
        self.progress.left != 0
    }

    /// What has been answered, with room for what has not.
    fn answers(&mut self) -> (Answers<'_>, &mut Scratch) {
        let Self { owed, progress, streams, stride, scratch, .. } = self;
        let (facts, stride) = (owed.message.facts(), *stride);
        if streams.is_empty() {
            streams.resize(facts.lanes as usize * stride + LaneReplies::SPARE, 0);
        }
        (Answers { facts, progress, streams, first: 0, stride, thread: Thread::Serving }, scratch)
    }

    /// Whoever was given it begins now.
    pub(crate) fn start(&mut self) {
        self.owed.start();
    }

    /// The calls, to be answered. What has been answered before stays so.
    pub fn batch(&mut self) -> Batch<'_> {
        let len = self.len;
        let (answers, scratch) = self.answers();
        Batch::new(0, len, answers, scratch)
    }

    /// The calls, to be looked at.
    pub fn requests(&self) -> Requests<'_> {
        Requests::new(self.owed.message.facts(), self.len, &self.scratch)
    }

    /// Units of each lane's reply, the head included.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Whether nobody waits for results.
    pub fn is_post(&self) -> bool {
        self.owed.message.facts().post
    }

    /// The answers leave.
    pub fn finish(self) {}

    /// One [`Completion`] for each lane that has no answer yet, in the order of the batch; the other lanes' answers are
    /// given.
    pub fn split(mut self) -> Vec<Completion> {
        let left = self.progress.left;
        self.send();
        (0..self.len).filter(|rank| left >> rank & 1 == 1).map(|rank| self.owed.part(rank)).collect()
    }

    /// Gives the answers that are there.
    fn send(&mut self) {
        let Self { ref mut owed, progress, ref streams, stride, len, .. } = *self;
        if let Some(units) = progress.alike
            && owed.send_all(len, AllAlike { units, streams, stride })
        {
            return;
        }
        owed.send_streams(owed.ranks() & !progress.left, streams, 0, stride);
    }
}

impl Drop for DeferredBatch {
    fn drop(&mut self) {
        if self.is_post() && !std::thread::panicking() {
            if self.streams.is_empty() && self.progress.left == bits_of(0, self.len) {
                self.progress = Progress { alike: Some(0), ..Progress::of(0) };
            } else {
                self.answers().0.acknowledge_left();
            }
        }
        // Those that have no answer are failed by `Owed`.
        self.send();
    }
}
