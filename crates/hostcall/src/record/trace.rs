//! A trace of all calls in the format that Chrome's and Perfetto's viewers read. There is one span for each message
//! (for each lane of a deferred one), with the time it waited before its handler started.
//!
//! Serving threads hand spans to a thread that writes the file. They never touch the file, and never wait for it. A
//! file that is slower than the calls loses spans. An event in the trace says how many, in the place where they are
//! missing, and the server says it when it goes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use offload::host::without_sigpipe;
use offload::overdue;

/// Spans that wait to be written, at most: 6 MiB of them, a hundredth of a second of the fastest calls.
const WAITING: usize = 1 << 16;

/// One handled message.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) service: Arc<str>,
    pub(crate) port: u32,
    pub(crate) lanes: u32,
    pub(crate) bytes: u64,
    /// The sweep that found it began.
    pub(crate) found: Instant,
    /// Its handler started.
    pub(crate) started: Instant,
    /// It was answered.
    pub(crate) done: Instant,
}

/// Where spans go.
#[derive(Debug)]
pub(crate) struct Trace {
    spans: Mutex<Option<SyncSender<Span>>>,
    lost: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Trace {
    /// Starts a trace in a new file.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Self::start(BufWriter::new(File::create(path)?), WAITING)
    }

    fn start(to: impl Write + Send + 'static, waiting: usize) -> io::Result<Self> {
        let (spans, inbox) = sync_channel(waiting);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer { out: to, start: Instant::now(), lost: lost.clone(), said: 0, events: 0 };
        let thread = std::thread::Builder::new().name("hostcall-trace".into()).spawn(move || without_sigpipe(|| writer.run(&inbox)))?;
        Ok(Self { spans: Mutex::new(Some(spans)), lost, writer: Mutex::new(Some(thread)) })
    }

    pub(crate) fn span(&self, span: Span) {
        // A lock for the length of a push.
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(TrySendError::Full(_))) = spans.as_ref().map(|spans| spans.try_send(span)) {
            // Pairs with the loads in `tell_lost` and `finish`. Relaxed: it counts; the channel, and the end of the
            // thread, order the rest.
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        // If the writer has failed, `finish` says so.
    }

    /// Ends the file. Returns how many spans it lacks.
    pub(crate) fn finish(&self) -> io::Result<u64> {
        drop(self.spans.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let writer = overdue::join(writer, || "a server that ends waits until its trace is written".to_owned());
            // (It holds nothing that could end here by its hand.)
            writer.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(io::Error::other("the trace writer panicked")))?;
        }
        // Pairs with the addition in `span`.
        Ok(self.lost.load(Ordering::Relaxed))
    }
}

/// What writes the file.
struct Writer<W> {
    out: W,
    start: Instant,
    lost: Arc<AtomicU64>,
    /// Of the lost spans, those that the file tells of.
    said: u64,
    events: u64,
}

impl<W: Write> Writer<W> {
    fn run(mut self, spans: &Receiver<Span>) -> io::Result<()> {
        self.out.write_all(b"[")?;
        for span in spans {
            self.tell_lost(span.found)?;
            let (ts, dur) = (self.us(span.found), self.us(span.done) - self.us(span.found));
            let (queued, handled) = (self.us(span.started) - ts, self.us(span.done) - self.us(span.started));
            self.event(&serde_json::json!({
                "name": &*span.service, "cat": "call", "ph": "X", "pid": 1, "tid": span.port, "ts": ts, "dur": dur,
                "args": {
                    "lanes": span.lanes, "bytes": span.bytes, "port": span.port, "queued_us": queued, "handled_us": handled,
                },
            }))?;
        }
        self.tell_lost(Instant::now())?;
        self.out.write_all(b"\n]\n")?;
        self.out.flush()
    }

    fn us(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.start).as_secs_f64() * 1e6
    }

    fn event(&mut self, event: &serde_json::Value) -> io::Result<()> {
        self.out.write_all(if self.events == 0 { b"\n" } else { b",\n" })?;
        self.events += 1;
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }

    /// Says in the trace that spans are missing from here on, if more are than it has said.
    fn tell_lost(&mut self, at: Instant) -> io::Result<()> {
        // Pairs with the addition in `span`.
        let lost = self.lost.load(Ordering::Relaxed);
        let more = lost - self.said;
        if more == 0 {
            return Ok(());
        }
        self.said = lost;
        let ts = self.us(at);
        let name = format!("{more} spans are missing");
        self.event(&serde_json::json!({ "name": name, "cat": "lost", "ph": "i", "s": "g", "pid": 1, "tid": 0, "ts": ts, "args": { "lost": more } }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A file that is stuck until it is let go.
    struct Stuck(Option<mpsc::Receiver<()>>, Arc<Mutex<Vec<u8>>>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(go) = self.0.take() {
                let _ = go.recv();
            }
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn span() -> Span {
        let now = Instant::now();
        Span { service: "s".into(), port: 3, lanes: 32, bytes: 64, found: now, started: now, done: now }
    }

    #[test]
    fn a_file_that_is_stuck_loses_spans_and_says_how_many_and_stalls_nobody() {
        let ((go, stuck), memory) = (mpsc::channel(), Arc::default());
        let trace = Trace::start(Stuck(Some(stuck), Arc::clone(&memory)), 10).unwrap();
        (0..1000).for_each(|_| trace.span(span()));
        drop(go);
        let lost = trace.finish().unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_slice(&memory.lock().unwrap()).unwrap();
        let (told, spans): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["cat"] == "lost");
        assert_eq!((spans.len() as u64 + lost, lost >= 980), (1000, true), "{lost}");
        assert_eq!(told.iter().map(|event| event["args"]["lost"].as_u64().unwrap()).sum::<u64>(), lost);
        trace.span(span());
        assert_eq!(trace.finish().unwrap(), lost, "it has ended");
    }

    #[test]
    fn a_file_that_fails_is_an_error_at_the_end() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let trace = Trace::start(Broken, 10).unwrap();
        (0..100).for_each(|_| trace.span(span()));
        assert_eq!(trace.finish().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
