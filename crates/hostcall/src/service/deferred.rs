//! All calls of one message, owned: answered later, from any thread.

use std::sync::Arc;

use hostcall_abi::Status;

use super::answer::{Answer, Timing};
use super::batch::Batch;
use super::call::Scratch;
use super::completion::{Completion, Owed};
use super::failure::Failure;
use super::lanes::{Answers, Progress, bits_of};

/// The calls of one message, owned: a handler made by [`Service::batch_deferred`](crate::Service::batch_deferred) keeps it and answers later, from any
/// thread: all lanes at once through [`batch`](DeferredBatch::batch), or each by a [`Completion`] of its own ([`split`](DeferredBatch::split)).
///
/// The answers leave when it is dropped; [`finish`](DeferredBatch::finish) says so. Lanes without an answer then fail as those of a dropped
/// [`Completion`] do: `HandlerPanicked` if the thread panics, else `HandlerFailed`. Posts need no answer.
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
    streams: Vec<u32>,
    stride: usize,
    scratch: Scratch,
}

impl DeferredBatch {
    /// All `lanes` lanes of a message. Those that the service does not take are answered at once; `None` if those are all.
    pub(crate) fn new(message: Arc<dyn Answer>, lanes: u32, timing: Option<Timing>) -> Option<Self> {
        let facts = message.facts();
        let stride = message.stride();
        let mut streams = vec![0; lanes as usize * stride];
        let mut progress = Progress::default();
        let mut answers = Answers { facts, progress: &mut progress, streams: &mut streams, stride, may_block: false };
        answers.begin(0, lanes);
        let len = answers.progress.left.count_ones();
        if let Some(error) = answers.facts.malformed() {
            answers.fail_left(&Failure::Decode(error));
        }
        let handled = progress.left == 0;
        let owed = Owed::new(message, bits_of(0, lanes), timing);
        let mut batch = Self { owed, len, progress, streams, stride, scratch: Scratch::default() };
        batch.send();
        (!handled).then_some(batch)
    }

    /// Whoever was given it begins now.
    pub(crate) fn start(&mut self) {
        self.owed.start();
    }

    /// The calls, to be answered. What has been answered before stays so.
    pub fn batch(&mut self) -> Batch<'_> {
        let Self { owed, len, progress, streams, stride, scratch } = self;
        let answers = Answers { facts: owed.message.facts(), progress, streams, stride: *stride, may_block: false };
        Batch::new(0, *len, answers, scratch)
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

    /// One [`Completion`] for each lane that has no answer yet, in the order of the batch; the other lanes' answers are given.
    pub fn split(mut self) -> Vec<Completion> {
        let left = self.progress.left;
        self.send();
        (0..self.len).filter(|rank| left >> rank & 1 == 1).map(|rank| self.owed.part(rank)).collect()
    }

    /// Gives the answers that are there.
    fn send(&mut self) {
        let given = self.owed.ranks() & !self.progress.left;
        self.owed.send_streams(given, &self.streams, self.stride);
    }
}

impl Drop for DeferredBatch {
    fn drop(&mut self) {
        if self.is_post() && !std::thread::panicking() {
            for rank in 0..self.len {
                if self.progress.left >> rank & 1 == 1 {
                    super::call::put_head(&mut self.streams[rank as usize * self.stride..], Status::OK, 0);
                }
            }
            self.progress.left = 0;
        }
        // Those that have no answer are failed by `Owed`.
        self.send();
    }
}
