//! What kernels print, on its way to Python: the console's thread puts it here, and the dispatcher, or whoever waits
//! for a kernel, writes it to `sys.stdout`.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::queue::{Dispatch, lock};

/// Bytes that wait for Python. The console's thread waits when there are more.
const MOST: usize = 1 << 20;

#[derive(Debug, Default)]
struct Printed {
    texts: VecDeque<(usize, Vec<u8>)>,
    bytes: usize,
    closed: bool,
}

/// What was printed and Python has not seen.
#[derive(Debug)]
pub(crate) struct Console {
    printed: Mutex<Printed>,
    room: Condvar,
    dispatch: Arc<Dispatch>,
}

impl Console {
    pub(crate) fn new(dispatch: Arc<Dispatch>) -> Arc<Self> {
        Arc::new(Self { printed: Mutex::default(), room: Condvar::new(), dispatch })
    }

    /// A writer of a stream: 0 is standard output, 1 standard error.
    pub(crate) fn writer(self: &Arc<Self>, stream: usize) -> impl Write + Send + use<> {
        Writer { console: self.clone(), stream }
    }

    /// What has been printed since this was last asked, by stream.
    pub(crate) fn take(&self) -> Vec<(usize, Vec<u8>)> {
        let mut printed = lock(&self.printed);
        printed.bytes = 0;
        self.room.notify_all();
        printed.texts.drain(..).collect()
    }

    /// Nobody asks any more.
    pub(crate) fn close(&self) {
        lock(&self.printed).closed = true;
        self.room.notify_all();
    }
}

struct Writer {
    console: Arc<Console>,
    stream: usize,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut printed = lock(&self.console.printed);
        while printed.bytes > MOST && !printed.closed {
            printed = self.console.room.wait(printed).unwrap_or_else(PoisonError::into_inner);
        }
        if printed.closed {
            return Err(io::Error::other("Python's server has stopped"));
        }
        printed.bytes += bytes.len();
        match printed.texts.back_mut() {
            Some((stream, text)) if *stream == self.stream => text.extend_from_slice(bytes),
            _ => printed.texts.push_back((self.stream, bytes.to_vec())),
        }
        drop(printed);
        self.console.dispatch.printed();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
