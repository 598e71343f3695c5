//! The thread that notices a held interpreter lock.
//!
//! A thread of Python's that holds the lock while it waits for a kernel keeps the dispatcher from answering the kernel:
//! nothing goes on, and nothing says why. So when calls have waited for a second and the dispatcher has done nothing,
//! the lock is asked for by a thread of its own. If that thread does not get it within another second, what is wrong is
//! written to standard error, without Python.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::Python;

use crate::queue::{Dispatch, lock};

/// How often it looks, and how many looks without a step it takes to ask for the lock, and to say that it is held.
const LOOK: Duration = Duration::from_millis(250);
const LOOKS: u32 = 4;

const TEXT: &str = "hostcall: kernels have waited for an answer from Python for two seconds, and a thread of this process holds the interpreter lock \
without letting go. If it waits for the kernel, this lasts for ever. Wait by `server.wait()`, which releases the lock, or by a synchronise function that \
does (those of CuPy, PyTorch, cuda.core and Numba do; functions called through `ctypes.PyDLL`, and extension modules that do not release the lock, do not).\n";

/// The watch of one server. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Watch {
    end: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    pub(crate) fn start(dispatch: Arc<Dispatch>) -> std::io::Result<Self> {
        let end = Arc::new((Mutex::new(false), Condvar::new()));
        let ends = end.clone();
        let thread = std::thread::Builder::new().name("hostcall-watch".into()).spawn(move || watch(&dispatch, &ends))?;
        Ok(Self { end, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        *lock(&self.end.0) = true;
        self.end.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, there would be nothing to do here.
            let _ = thread.join();
        }
    }
}

fn watch(dispatch: &Dispatch, (ended, end): &(Mutex<bool>, Condvar)) {
    let (mut last, mut looks) = (0, 0);
    let mut asked: Option<Arc<AtomicBool>> = None;
    let mut told = false;
    let mut over = lock(ended);
    while !*over {
        over = end.wait_timeout(over, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        let (open, step) = dispatch.state();
        // Acquire: pairs with the store of the thread that asks.
        if asked.as_ref().is_some_and(|got| got.load(Ordering::Acquire)) {
            (asked, looks) = (None, 0);
        }
        if !open || step != last {
            (last, looks, told) = (step, 0, false);
            continue;
        }
        looks += 1;
        if looks == LOOKS && asked.is_none() {
            asked = ask();
        }
        if looks >= 2 * LOOKS && asked.is_some() && !std::mem::replace(&mut told, true) {
            // If nobody reads standard error, there is nobody to tell.
            let _ = std::io::stderr().write_all(TEXT.as_bytes());
        }
    }
}

/// Asks for the interpreter's lock. The thread ends when it got it.
fn ask() -> Option<Arc<AtomicBool>> {
    let got = Arc::new(AtomicBool::new(false));
    let gets = got.clone();
    let ask = move || {
        // Release: pairs with the load of the watch.
        Python::attach(|_| gets.store(true, Ordering::Release));
    };
    std::thread::Builder::new().name("hostcall-lock".into()).spawn(ask).ok().map(|_| got)
}
