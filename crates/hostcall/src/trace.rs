//! A trace of all calls in the format that Chrome's and Perfetto's viewers read: one span for each message (each lane of a deferred
//! one), with the time it waited before its handler started.
//!
//! Serving threads hand spans to a thread that writes the file; they never touch it themselves.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

/// One handled message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) service: &'static str,
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
    spans: Mutex<Option<Sender<Span>>>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Trace {
    /// Starts a trace in a new file.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        let (spans, inbox) = channel();
        let start = Instant::now();
        let writer = std::thread::Builder::new().name("hostcall-trace".into()).spawn(move || write(file, &inbox, start))?;
        Ok(Self { spans: Mutex::new(Some(spans)), writer: Mutex::new(Some(writer)) })
    }

    pub(crate) fn span(&self, span: Span) {
        // A lock for the length of a push. If the writer has failed, `finish` says so.
        if let Some(spans) = &*self.spans.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = spans.send(span);
        }
    }

    /// Ends the file.
    pub(crate) fn finish(&self) -> io::Result<()> {
        drop(self.spans.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.map_or(Ok(()), |writer| writer.join().unwrap_or_else(|_| Err(io::Error::other("the trace writer panicked"))))
    }
}

fn write(mut out: impl Write, spans: &Receiver<Span>, start: Instant) -> io::Result<()> {
    out.write_all(b"[")?;
    let mut first = true;
    for span in spans {
        let us = |at: Instant| at.saturating_duration_since(start).as_secs_f64() * 1e6;
        let event = serde_json::json!({
            "name": span.service, "cat": "call", "ph": "X", "pid": 1, "tid": span.port,
            "ts": us(span.found), "dur": us(span.done) - us(span.found),
            "args": {
                "lanes": span.lanes, "bytes": span.bytes, "port": span.port,
                "queued_us": us(span.started) - us(span.found), "handled_us": us(span.done) - us(span.started),
            },
        });
        out.write_all(if first { b"\n" } else { b",\n" })?;
        first = false;
        serde_json::to_writer(&mut out, &event)?;
    }
    out.write_all(b"\n]\n")?;
    out.flush()
}
