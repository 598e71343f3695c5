//! What the kernels report while they run.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use hostcall::Service;
use hostcall_demo::Progress;

use crate::device::bytes;

/// Sums of what was reported. Relaxed everywhere: they are shown, nothing depends on them.
#[derive(Clone)]
pub(super) struct Counts(Arc<Sums>);

struct Sums {
    len: AtomicU64,
    read: AtomicU64,
    counted: AtomicU64,
    written: AtomicU64,
}

impl Counts {
    pub(super) fn new() -> Self {
        let [len, read, counted, written] = [(); 4].map(|()| AtomicU64::new(0));
        Self(Arc::new(Sums { len, read, counted, written }))
    }

    /// The text has this length.
    pub(super) fn expect(&self, len: u64) {
        self.0.len.store(len, Ordering::Relaxed);
    }

    pub(super) fn services(&self) -> Vec<Service> {
        hostcall_demo::progress::all(self.clone())
    }

    /// Shows the counts on a terminal's last line, until what is returned is dropped.
    pub(super) fn show(&self) -> Option<Ticker> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let (stop, stopped) = mpsc::channel::<()>();
        let counts = self.clone();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_millis(100)) == Err(mpsc::RecvTimeoutError::Timeout) {
                // `\x1b[K` clears the rest of the line.
                let _ = write!(io::stderr(), "\r{counts}\x1b[K");
            }
            let _ = write!(io::stderr(), "\r\x1b[K");
        });
        Some(Ticker { stop: Some(stop), thread: Some(thread) })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sums { len, read, counted, written } = &*self.0;
        let [len, read, counted, written] = [len, read, counted, written].map(|sum| sum.load(Ordering::Relaxed));
        write!(f, "{} of {} read, {counted} words counted, {} written", bytes(read), bytes(len), bytes(written))
    }
}

impl Progress for Counts {
    fn read(&self, bytes: u64) {
        self.0.read.fetch_add(bytes, Ordering::Relaxed);
    }

    fn counted(&self, words: u64) {
        self.0.counted.fetch_add(words, Ordering::Relaxed);
    }

    fn written(&self, bytes: u64) {
        self.0.written.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Shows the counts while it lives.
pub(super) struct Ticker {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Hanging up is the signal.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
