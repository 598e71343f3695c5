//! Texts that wait to be written, and what became of those that could not be.

use std::io;
use std::sync::Arc;

use super::super::errno;
use super::pieces::{AllPieces, Stream};
use super::texts::Texts;
use crate::service::RawSlice;
use crate::tenant::{Number, Tenant};

/// The streams, by their numbers.
pub(super) const NAMES: [&str; 2] = ["standard output", "standard error"];

/// Something printed could not be written.
#[derive(Clone, thiserror::Error)]
#[error("{bytes} bytes that kernels printed to {stream} could not be written: {source}")]
pub struct ConsoleError {
    /// `standard output` or `standard error`.
    pub stream: &'static str,
    /// Bytes lost.
    pub bytes: u64,
    /// Why the first of them could not be written.
    pub source: Arc<io::Error>,
}

hostcall_error::readable!(ConsoleError);

/// What could not be written of one stream.
#[derive(Debug, Default)]
struct Failed {
    /// Since it was last reported, or a program was told of it.
    lost: Option<ConsoleError>,
    /// The number of an error that no program has been told of.
    untold: Option<u32>,
    /// Nobody reads at the other end, and nobody ever will.
    closed: bool,
    /// A program knows that it is closed: what it had sent before it knew is no news to it.
    known: bool,
    /// What comes is dropped: until a program is told of the error, or for ever.
    dropping: Option<Arc<io::Error>>,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) texts: Texts,
    pub(super) pieces: AllPieces,
    /// The thread waits for work, and nobody has woken it: to wake one that is awake is a system call as well, of which
    /// a million texts would make a million.
    pub(super) asleep: bool,
    /// So many wait until everything is written.
    pub(super) flushing: usize,
    pub(super) started: bool,
    pub(super) closing: bool,
    failed: [Failed; 2],
}

impl Queue {
    /// Queues a text of a program.
    pub(super) fn push(&mut self, tenant: &Arc<Tenant>, stream: Stream, text: Vec<u8>) {
        match self.failed[stream].dropping.clone() {
            Some(error) => self.lose(stream, text.len(), &error),
            None => self.texts.push(tenant, stream, text),
        }
    }

    /// Queues texts whose last piece has not come: their kernels are over.
    pub(super) fn release_pieces(&mut self) {
        for (tenant, texts) in self.pieces.take_all() {
            texts.into_iter().for_each(|(stream, text)| self.push(&tenant, stream, text));
        }
    }

    /// Whether everything that came is written, as far as it could be.
    pub(super) fn is_done(&self) -> bool {
        self.closing || self.is_idle()
    }

    /// Whether nothing is written, and nothing waits to be.
    pub(super) fn is_idle(&self) -> bool {
        !self.texts.is_writing() && self.texts.is_empty()
    }

    /// The same of what came before the text of number `end`, of one program or of all.
    pub(super) fn is_done_before(&self, end: u64, of: Option<Number>) -> bool {
        self.closing || self.texts.are_written(of, end)
    }

    /// A text could not be written. What follows is dropped with it if nobody reads the stream, and if a program writes
    /// there that will be `told`: up to that moment it cannot know which of its texts were written.
    pub(super) fn fail(&mut self, stream: Stream, bytes: usize, error: io::Error, told: bool) {
        let error = Arc::new(error);
        self.lose(stream, bytes, &error);
        let failed = &mut self.failed[stream];
        failed.untold = told.then(|| errno::of(&error));
        failed.closed = error.kind() == io::ErrorKind::BrokenPipe;
        if told || failed.closed {
            failed.dropping = Some(error.clone());
            self.drop_texts(&error, |of| of == stream);
        }
    }

    /// Nobody will ever write anything.
    pub(super) fn fail_all(&mut self, error: io::Error) {
        self.closing = true;
        let error = Arc::new(error);
        self.failed.iter_mut().for_each(|failed| failed.dropping = Some(error.clone()));
        self.drop_texts(&error, |_| true);
    }

    fn drop_texts(&mut self, error: &Arc<io::Error>, of: impl Fn(Stream) -> bool) {
        for (stream, bytes) in self.texts.drop_of(of).into_iter().enumerate().filter(|(_, bytes)| *bytes > 0) {
            self.lose(stream, bytes, error);
        }
    }

    fn lose(&mut self, stream: Stream, bytes: usize, error: &Arc<io::Error>) {
        let Failed { lost, known, .. } = &mut self.failed[stream];
        if !*known {
            let lost = lost.get_or_insert_with(|| ConsoleError { stream: NAMES[stream], bytes: 0, source: error.clone() });
            lost.bytes += bytes as u64;
        }
    }

    /// The number of the error that the program is to be told of now: of a text that could not be written, once; that
    /// nobody reads, each time. What it is told is its own affair, and reported to nobody else.
    pub(super) fn tell(&mut self, stream: Stream) -> Option<u32> {
        let failed = &mut self.failed[stream];
        let told = failed.untold.take().or(failed.closed.then_some(errno::EPIPE))?;
        failed.lost = None;
        failed.known = failed.closed;
        if !failed.closed {
            failed.dropping = None;
        }
        Some(told)
    }

    /// Whether [`Queue::tell`] has something to say.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.iter().any(|failed| failed.untold.is_some() || failed.closed)
    }

    /// What was lost, of one stream, since this was last asked.
    pub(super) fn take_lost(&mut self) -> Option<ConsoleError> {
        self.failed.iter_mut().find_map(|failed| failed.lost.take())
    }
}

/// What somebody prints, wherever it is.
pub(super) trait Text {
    fn len(&self) -> usize;
    fn append_to(&self, to: &mut Vec<u8>);
}

impl Text for [u8] {
    fn len(&self) -> usize {
        self.len()
    }
    fn append_to(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl Text for RawSlice<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Copied(bytes) => bytes.len(),
            Self::Staged(region) => region.len(),
        }
    }
    fn append_to(&self, to: &mut Vec<u8>) {
        match self {
            Self::Copied(bytes) => to.extend_from_slice(bytes),
            Self::Staged(region) => region.append_to(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io::ErrorKind;

    /// A queue with a text of either stream, of which one to standard output could not be written.
    fn failed(kind: ErrorKind, told: bool) -> (Queue, Arc<Tenant>) {
        let (mut queue, tenant) = (Queue::default(), Tenant::new());
        queue.push(&tenant, 0, b"behind".to_vec());
        queue.push(&tenant, 1, b"other".to_vec());
        queue.fail(0, 4, kind.into(), told);
        (queue, tenant)
    }

    /// What is left of it, after one more text to standard output.
    fn left((mut queue, tenant): (Queue, Arc<Tenant>)) -> (Vec<Vec<u8>>, u64) {
        queue.push(&tenant, 0, b"late".to_vec());
        let texts = std::iter::from_fn(|| queue.texts.begin().inspect(|_| queue.texts.written(None)));
        (texts.map(|text| text.bytes).collect(), queue.take_lost().map_or(0, |lost| lost.bytes))
    }

    #[test]
    fn everything_is_done_when_nothing_is_left_or_nobody_will_ever_write() {
        let (mut queue, tenant) = (Queue::default(), Tenant::new());
        assert!(queue.is_done() && queue.is_idle() && !queue.has_failed());
        queue.push(&tenant, 0, b"text".to_vec());
        assert!(!queue.is_done() && !queue.is_idle());
        queue.texts.begin().unwrap();
        assert!(!queue.is_done() && !queue.is_idle(), "it is being written");
        queue.closing = true;
        assert!(queue.is_done() && !queue.is_idle());
    }

    #[test]
    fn what_follows_a_text_that_failed_is_lost_where_somebody_is_told_or_nobody_reads() {
        let [dropped, kept] =
            [vec!["other"], vec!["behind", "other", "late"]].map(|texts| texts.into_iter().map(Vec::from).collect::<Vec<_>>());
        assert_eq!(left(failed(ErrorKind::StorageFull, true)), (dropped.clone(), 14));
        assert_eq!(left(failed(ErrorKind::BrokenPipe, false)), (dropped, 14));
        assert_eq!(left(failed(ErrorKind::StorageFull, false)), (kept, 4));
    }

    #[test]
    fn whoever_is_told_once_has_his_next_texts_written() {
        let mut failed = failed(ErrorKind::StorageFull, true);
        assert_eq!([failed.0.has_failed(), failed.0.tell(1).is_some()], [true, false]);
        assert_eq!([failed.0.tell(0), failed.0.tell(0)], [Some(errno::ENOSPC), None]);
        assert!(!failed.0.has_failed());
        assert_eq!(left(failed), (vec![b"other".to_vec(), b"late".to_vec()], 0));
    }

    #[test]
    fn where_nobody_will_ever_write_everything_is_lost_and_nobody_waits() {
        let (mut queue, tenant) = (Queue::default(), Tenant::new());
        queue.push(&tenant, 0, b"before".to_vec());
        queue.push(&tenant, 1, b"other".to_vec());
        queue.fail_all(ErrorKind::OutOfMemory.into());
        queue.push(&tenant, 0, b"late".to_vec());
        assert!(queue.is_done() && queue.is_idle());
        assert_eq!(
            [(); 3].map(|()| queue.take_lost().map(|lost| (lost.stream, lost.bytes))),
            [Some((NAMES[0], 10)), Some((NAMES[1], 5)), None]
        );
    }
}
