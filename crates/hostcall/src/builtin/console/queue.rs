//! Texts that wait to be written, and what became of those that could not be.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::super::errno;
use super::pieces::{AllPieces, Stream};
use crate::service::RawSlice;

/// Texts are joined up to this size.
const JOIN: usize = 64 << 10;

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
    pub(super) texts: VecDeque<(Stream, Vec<u8>)>,
    /// Bytes in `texts`, and of the one that is being written.
    pub(super) bytes: usize,
    pub(super) pieces: AllPieces,
    /// The thread is writing what it took, or a wave its own text.
    pub(super) writing: bool,
    /// The thread waits for work, and nobody has woken it: to wake one that is awake is a system call as well, of which a million texts would make a
    /// million.
    pub(super) asleep: bool,
    /// So many wait until everything is written.
    pub(super) flushing: usize,
    pub(super) started: bool,
    pub(super) closing: bool,
    failed: [Failed; 2],
}

impl Queue {
    pub(super) fn push(&mut self, stream: Stream, text: Vec<u8>) {
        if let Some(error) = self.failed[stream].dropping.clone() {
            return self.lose(stream, text.len(), &error);
        }
        self.bytes += text.len();
        match joinable(&mut self.texts, stream, text.len()) {
            Some(joined) => joined.extend_from_slice(&text),
            None => self.texts.push_back((stream, text)),
        }
    }

    /// Queues the rest of a text that was begun before all others.
    pub(super) fn push_first(&mut self, stream: Stream, rest: Vec<u8>) {
        self.bytes += rest.len();
        self.texts.push_front((stream, rest));
    }

    /// Queues texts whose last piece has not come: their kernels are over.
    pub(super) fn release_pieces(&mut self) {
        for (stream, text) in self.pieces.take_all() {
            self.push(stream, text);
        }
    }

    /// Whether everything that came is written, as far as it could be.
    pub(super) fn is_done(&self) -> bool {
        self.closing || !self.writing && self.texts.is_empty()
    }

    /// A text could not be written. What follows is dropped with it if nobody reads the stream, and if a program writes there that will be `told`: up to that moment
    /// it cannot know which of its texts were written.
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
        self.drop_texts(&Arc::new(error), |_| true);
    }

    fn drop_texts(&mut self, error: &Arc<io::Error>, of: impl Fn(Stream) -> bool) {
        for (stream, text) in std::mem::take(&mut self.texts) {
            if of(stream) {
                self.bytes -= text.len();
                self.lose(stream, text.len(), error);
            } else {
                self.texts.push_back((stream, text));
            }
        }
    }

    fn lose(&mut self, stream: Stream, bytes: usize, error: &Arc<io::Error>) {
        let Failed { lost, known, .. } = &mut self.failed[stream];
        if !*known {
            let lost = lost.get_or_insert_with(|| ConsoleError { stream: NAMES[stream], bytes: 0, source: error.clone() });
            lost.bytes += bytes as u64;
        }
    }

    /// The number of the error that the program is to be told of now: of a text that could not be written, once; that nobody reads, each time. What it is told is
    /// its own affair, and reported to nobody else.
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

/// The last text, if one of `len` bytes that goes the same way may be joined to it: they are not long together.
fn joinable(texts: &mut VecDeque<(Stream, Vec<u8>)>, stream: Stream, len: usize) -> Option<&mut Vec<u8>> {
    texts.back_mut().filter(|(last, joined)| *last == stream && joined.len() + len <= JOIN).map(|(_, joined)| joined)
}

/// A text of its own.
pub(super) fn owned(text: &(impl Text + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    text.append_to(&mut bytes);
    bytes
}

/// Adds a text, joined to the last one if that may be.
pub(super) fn append(texts: &mut VecDeque<(Stream, Vec<u8>)>, stream: Stream, text: &(impl Text + ?Sized)) {
    match joinable(texts, stream, text.len()) {
        Some(joined) => text.append_to(joined),
        None => texts.push_back((stream, owned(text))),
    }
}
