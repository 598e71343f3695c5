//! Standard output and standard error of kernels.
//!
//! A serving thread only appends texts to a queue: each text whole, and those of a message together. So no two texts
//! interleave, and a slow pipe stalls no call. A thread of the console writes them in that order; it starts with the
//! first text. When the queue has grown large, further printing waits on the blocking pool until the queue is written.

#[cfg(feature = "test-utils")]
mod alone;
mod pieces;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::context::{Context, owner_of};
use super::define;
use crate::service::Invocation;
use crate::service::{Failure, Service};
#[cfg(feature = "test-utils")]
pub(crate) use alone::pieces_alone;
use pieces::{Key, Pieces, Stream};

/// Bytes queued at which printing begins to wait.
const FULL: usize = 8 << 20;
/// `Writer::write_all`s are joined up to this size.
const JOIN: usize = 64 << 10;
/// What comes so soon after a text that found nothing queued is written together with it. Otherwise the thread would sleep again after each, and
/// whoever prints would have to wake it each time.
const GATHER: std::time::Duration = std::time::Duration::from_micros(100);

/// Where one stream of a kernel goes.
pub enum Sink {
    /// This process's standard output. Written to directly, not through [`std::io::stdout`], so that a thread that holds that one's
    /// lock while it waits for a kernel does not wait for ever.
    Stdout,
    /// This process's standard error.
    Stderr,
    /// Any writer, on the console's thread.
    Writer(Box<dyn Write + Send>),
    /// Nowhere.
    Null,
}

impl Sink {
    /// A sink into memory, and the memory.
    pub fn buffer() -> (Self, Arc<Mutex<Vec<u8>>>) {
        struct Shared(Arc<Mutex<Vec<u8>>>);
        impl Write for Shared {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let memory = Arc::new(Mutex::new(Vec::new()));
        (Self::Writer(Box::new(Shared(memory.clone()))), memory)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout => write_fd(rustix::stdio::stdout(), bytes),
            Self::Stderr => write_fd(rustix::stdio::stderr(), bytes),
            Self::Writer(writer) => writer.write_all(bytes).and_then(|()| writer.flush()),
            Self::Null => Ok(()),
        }
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "Stdout",
            Self::Stderr => "Stderr",
            Self::Writer(_) => "Writer",
            Self::Null => "Null",
        })
    }
}

fn write_fd(fd: impl std::os::fd::AsFd, mut bytes: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    while !bytes.is_empty() {
        match rustix::io::write(&fd, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            // Somebody made it non-blocking, as node.js and some shells do to terminals.
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&fd, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Something printed could not be written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{bytes} bytes that kernels printed to {stream} could not be written: {source}")]
pub struct ConsoleError {
    /// `standard output` or `standard error`.
    pub stream: &'static str,
    /// Bytes lost.
    pub bytes: u64,
    /// Why the first of them could not be written.
    pub source: Arc<io::Error>,
}

/// The streams, by their numbers.
const NAMES: [&str; 2] = ["standard output", "standard error"];

#[derive(Debug, Default)]
struct Queue {
    texts: VecDeque<(Stream, Vec<u8>)>,
    /// Bytes in `texts`.
    bytes: usize,
    pieces: Pieces,
    /// The thread is writing what it took.
    writing: bool,
    /// The thread waits for work, and nobody has woken it: to wake one that is awake is a system call as well, of which a million texts would make a
    /// million.
    asleep: bool,
    started: bool,
    closing: bool,
    /// What could not be written, of each stream, since it was last reported.
    lost: [Option<ConsoleError>; 2],
}

thread_local! {
    /// What the lanes of the message that this thread is handling print. (A serving thread has one console.)
    static GATHERED: RefCell<VecDeque<(Stream, Vec<u8>)>> = const { RefCell::new(VecDeque::new()) };
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// Whether `FULL` bytes are queued: a hint for those who do not hold the lock.
    full: AtomicBool,
    /// There is something to write, or the console closes.
    work: Condvar,
    /// Something was written.
    written: Condvar,
}

/// Standard output and standard error of the kernels of one server.
#[derive(Debug)]
pub struct Console {
    shared: Arc<Shared>,
    /// Taken by the thread when it starts.
    sinks: Mutex<Option<[Sink; 2]>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Default for Console {
    fn default() -> Self {
        Self::new(Sink::Stdout, Sink::Stderr)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Console {
    /// A console that writes to these sinks.
    pub fn new(stdout: Sink, stderr: Sink) -> Self {
        let shared = Shared { queue: Mutex::default(), full: AtomicBool::new(false), work: Condvar::new(), written: Condvar::new() };
        Self { shared: Arc::new(shared), sinks: Mutex::new(Some([stdout, stderr])), thread: Mutex::new(None) }
    }

    /// Queues a text. If too much is queued already, waits.
    fn print(&self, stream: Stream, text: &[u8]) {
        if let Some(mut queue) = self.room(true) {
            queue.push(stream, text);
            self.wake(queue);
        }
    }

    /// Keeps a text for [`Console::release`] on the same thread. If too much is queued already, does nothing and returns false.
    ///
    /// One turn of the lock for each message instead of each of its lanes: thousands of lanes that print would stand in line for it.
    fn gather(&self, stream: Stream, text: &[u8]) -> bool {
        // Relaxed: a hint. Pairs with the stores in `note_room`.
        if self.shared.full.load(Ordering::Relaxed) {
            return false;
        }
        GATHERED.with_borrow_mut(|texts| append(texts, stream, text));
        true
    }

    /// Queues what was gathered.
    fn release(&self) {
        let texts = GATHERED.take();
        if texts.is_empty() {
            return;
        }
        let mut queue = lock(&self.shared.queue);
        for (stream, text) in texts {
            queue.push(stream, &text);
        }
        self.wake(queue);
    }

    fn piece(&self, key: Key, last: bool, text: &[u8], may_wait: bool) -> bool {
        let Some(mut queue) = self.room(may_wait) else { return false };
        let mut ready = Vec::new();
        queue.pieces.add(key, text, last, |stream, text| ready.push((stream, text)));
        for (stream, text) in ready {
            queue.push(stream, &text);
        }
        self.wake(queue);
        true
    }

    fn room(&self, may_wait: bool) -> Option<MutexGuard<'_, Queue>> {
        let queue = lock(&self.shared.queue);
        if queue.bytes < FULL {
            return Some(queue);
        }
        may_wait.then(|| self.shared.written.wait_while(queue, |queue| queue.bytes >= FULL).unwrap_or_else(PoisonError::into_inner))
    }

    fn wake(&self, mut queue: MutexGuard<'_, Queue>) {
        let start = !std::mem::replace(&mut queue.started, true);
        let asleep = std::mem::take(&mut queue.asleep);
        self.shared.note_room(&queue);
        drop(queue);
        if start {
            self.start();
        }
        if asleep {
            self.shared.work.notify_one();
        }
    }

    #[cold]
    fn start(&self) {
        let Some(sinks) = lock(&self.sinks).take() else { return };
        let shared = self.shared.clone();
        match std::thread::Builder::new().name("hostcall-console".into()).spawn(move || shared.work(sinks)) {
            Ok(thread) => *lock(&self.thread) = Some(thread),
            Err(error) => {
                // Nobody will ever write: say so instead of growing.
                tracing::error!(%error, "the console's thread cannot be started");
                let mut queue = lock(&self.shared.queue);
                queue.closing = true;
                queue.discard(&Arc::new(error));
            }
        }
    }

    /// Queues what a port buffer that is gone has left unfinished: another one may come to be known by the same number.
    pub(super) fn forget(&self, buffer: usize) {
        let mut queue = lock(&self.shared.queue);
        let texts = queue.pieces.take_of(buffer);
        if texts.is_empty() {
            return;
        }
        for (stream, text) in texts {
            queue.push(stream, &text);
        }
        self.wake(queue);
    }

    /// Waits until everything printed is written.
    ///
    /// # Errors
    /// When something could not be written since this was last asked.
    pub fn flush(&self) -> Result<(), ConsoleError> {
        let mut queue = lock(&self.shared.queue);
        queue.release_pieces();
        self.shared.work.notify_one();
        let mut queue = self
            .shared
            .written
            .wait_while(queue, |queue| queue.started && !queue.closing && (queue.writing || !queue.texts.is_empty()))
            .unwrap_or_else(PoisonError::into_inner);
        queue.lost.iter_mut().find_map(Option::take).map_or(Ok(()), Err)
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let mut queue = lock(&self.shared.queue);
        queue.release_pieces();
        queue.closing = true;
        drop(queue);
        self.shared.work.notify_one();
        if let Some(thread) = lock(&self.thread).take() {
            // The thread ends when all is written. It does not panic: a sink's panic is caught.
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn push(&mut self, stream: Stream, text: &[u8]) {
        self.bytes += text.len();
        append(&mut self.texts, stream, text);
    }

    /// Queues texts whose last piece has not come: their kernels are over.
    fn release_pieces(&mut self) {
        for (stream, text) in self.pieces.take_all() {
            self.push(stream, &text);
        }
    }

    fn lose(&mut self, stream: Stream, bytes: usize, error: &Arc<io::Error>) {
        self.lost[stream].get_or_insert_with(|| ConsoleError { stream: NAMES[stream], bytes: 0, source: error.clone() }).bytes +=
            bytes as u64;
    }

    fn discard(&mut self, error: &Arc<io::Error>) {
        for (stream, text) in std::mem::take(&mut self.texts) {
            self.lose(stream, text.len(), error);
        }
        self.bytes = 0;
    }
}

impl Shared {
    /// Says whether there is room, to those who do not hold the lock.
    fn note_room(&self, queue: &Queue) {
        // Relaxed: a hint. Pairs with the load in `gather`.
        self.full.store(queue.bytes >= FULL, Ordering::Relaxed);
    }

    /// Writes what is queued until the console is dropped and the queue is empty.
    fn work(&self, mut sinks: [Sink; 2]) {
        let mut queue = lock(&self.queue);
        loop {
            while let Some((stream, text)) = queue.texts.pop_front() {
                queue.writing = true;
                drop(queue);
                let sink = &mut sinks[stream];
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sink.write(&text)));
                let outcome = outcome.unwrap_or_else(|_| Err(io::Error::other("the writer panicked")));
                queue = lock(&self.queue);
                queue.writing = false;
                queue.bytes -= text.len();
                self.note_room(&queue);
                if let Err(error) = outcome {
                    tracing::warn!(stream = NAMES[stream], %error, "what a kernel printed cannot be written");
                    queue.lose(stream, text.len(), &Arc::new(error));
                }
                self.written.notify_all();
            }
            if queue.closing {
                return;
            }
            queue.asleep = true;
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.asleep = false;
            if !queue.closing {
                drop(queue);
                std::thread::sleep(GATHER);
                queue = lock(&self.queue);
            }
        }
    }
}

/// Adds a text, joined to the last one if they go the same way and are not long together.
fn append(texts: &mut VecDeque<(Stream, Vec<u8>)>, stream: Stream, text: &[u8]) {
    match texts.back_mut() {
        Some((last, joined)) if *last == stream && joined.len() + text.len() <= JOIN => joined.extend_from_slice(text),
        _ => texts.push_back((stream, text.to_vec())),
    }
}

fn stream_of(number: u32) -> Result<Stream, Failure> {
    match number {
        1 => Ok(0),
        2 => Ok(1),
        other => Err(Failure::HandlerFailed { code: super::errno::EBADF, message: format!("stream {other} is neither 1 nor 2") }),
    }
}

pub(super) fn services(context: &Context, console: &Arc<Console>) -> Vec<Service> {
    let whole = console.clone();
    let print = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let text = call.slice::<u8>()?;
        if call.may_block() {
            whole.print(stream, text);
        } else if !whole.gather(stream, text) {
            return Err(Failure::WouldBlock);
        }
        call.reply(&(), &[]);
        Ok(())
    };
    let part = console.clone();
    let piece = move |call: &mut Invocation<'_>| {
        let stream = stream_of(call.fixed()?)?;
        let (key, last) = (call.fixed::<u64>()?, call.fixed::<bool>()?);
        let text = call.slice::<u8>()?;
        if !part.piece((owner_of(call.report()), key << 1 | stream as u64), last, text, call.may_block()) {
            return Err(Failure::WouldBlock);
        }
        call.reply(&(), &[]);
        Ok(())
    };
    let gathered = console.clone();
    vec![
        context.adaptive(&define::console::print(|_, _| {}), print).after_messages(move || gathered.release()),
        context.adaptive(&define::console::print_piece(|_, _, _, _| {}), piece),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn texts_come_out_whole_and_in_the_order_of_each_thread() {
        let (sink, memory) = Sink::buffer();
        let console = Console::new(sink, Sink::Null);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let console = &console;
                scope.spawn(move || (0..500).for_each(|i| console.print(0, format!("{thread} {i} {}\n", "x".repeat(i)).as_bytes())));
            }
        });
        console.flush().unwrap();
        let text = String::from_utf8(memory.lock().unwrap().clone()).unwrap();
        let mut next = [0; 8];
        for line in text.lines() {
            let mut words = line.split(' ');
            let thread: usize = words.next().unwrap().parse().unwrap();
            let i: usize = words.next().unwrap().parse().unwrap();
            assert_eq!((i, words.next().unwrap().len()), (next[thread], i));
            next[thread] += 1;
        }
        assert_eq!(next, [500; 8]);
    }

    #[test]
    fn the_two_streams_are_apart() {
        let ((out, out_memory), (err, err_memory)) = (Sink::buffer(), Sink::buffer());
        let console = Console::new(out, err);
        console.print(0, b"out");
        console.print(1, b"err");
        drop(console);
        assert_eq!((&**out_memory.lock().unwrap(), &**err_memory.lock().unwrap()), (&b"out"[..], &b"err"[..]));
    }

    #[test]
    fn a_text_in_pieces_comes_out_whole() {
        let (sink, memory) = Sink::buffer();
        let console = Console::new(sink, Sink::Null);
        console.piece((1, 8), false, b"one ", true);
        console.print(0, b"other\n");
        console.piece((2, 8), false, b"unfinished\n", true);
        console.piece((1, 8), true, b"two\n", true);
        console.flush().unwrap();
        assert_eq!(&**memory.lock().unwrap(), b"other\none two\nunfinished\n");
    }

    #[test]
    fn what_a_removed_buffer_left_unfinished_is_no_beginning_of_anothers_text() {
        let (sink, memory) = Sink::buffer();
        let console = Console::new(sink, Sink::Null);
        console.piece((1, 8), false, b"left\n", true);
        console.forget(1);
        console.piece((1, 8), true, b"new\n", true);
        console.flush().unwrap();
        assert_eq!(&**memory.lock().unwrap(), b"left\nnew\n");
    }

    #[test]
    fn a_writer_that_fails_is_reported_once_with_what_was_lost() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let console = Console::new(Sink::Writer(Box::new(Closed)), Sink::Null);
        console.print(0, b"12345");
        let error = console.flush().unwrap_err();
        assert_eq!((error.bytes, error.source.kind()), (5, io::ErrorKind::BrokenPipe));
        assert!(error.to_string().contains("standard output"));
        console.flush().unwrap();
    }

    #[test]
    fn a_stuck_writer_makes_printing_wait_only_where_it_may() {
        struct Stuck(mpsc::Receiver<()>);
        impl Write for Stuck {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let _ = self.0.recv();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (go, stuck) = mpsc::channel();
        let console = Console::new(Sink::Writer(Box::new(Stuck(stuck))), Sink::Null);
        let text = vec![b'x'; FULL / 4];
        let printed = (0..100).take_while(|_| console.gather(0, &text)).map(|_| console.release()).count();
        assert_eq!(printed, 4);
        drop(go);
        console.print(0, &text);
        console.flush().unwrap();
    }
}
