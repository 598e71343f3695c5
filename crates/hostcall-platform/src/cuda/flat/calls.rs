//! Functions in a stream's order that may call the driver, by a thread of ours: the stops of [`crate::calls`].
//!
//! A stop is an event, for which the thread waits, and behind it a wait of the stream for a word of host memory, which the thread counts up. No thread
//! of the driver's is kept waiting meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::FlatStream;
use crate::backend::{BackendEvent, BackendMemory, BackendQueue};
use crate::calls::Stop;
use crate::cuda::context::Context;
use crate::cuda::event::Event;
use crate::cuda::memory::Block;
use crate::error::Error;

/// `CU_STREAM_WAIT_VALUE_GEQ`: until the word is the value or was counted beyond it, by the sign of their difference.
const AT_LEAST: u32 = 0;

/// The word that a stream's stops wait for: how many of its functions have returned.
pub(super) struct Returned {
    word: Block,
    /// How many stops there are. Relaxed: changed by whoever makes one, under the lock of [`crate::calls::Calls::add`].
    made: AtomicU32,
}

impl Returned {
    pub(super) fn new(context: &Arc<Context>) -> Result<Returned, Error> {
        let word = Block::host(context, size_of::<u32>())?;
        let returned = Returned { word, made: AtomicU32::new(0) };
        // Relaxed: no stream waits for it yet.
        returned.count().store(0, Ordering::Relaxed);
        Ok(returned)
    }

    fn count(&self) -> &AtomicU32 {
        // SAFETY: pinned memory of at least four bytes, aligned to a page, which lives as long as `self`. The device reads it only.
        unsafe { AtomicU32::from_ptr(self.word.host_pointer().cast()) }
    }
}

/// See the module's documentation.
struct CudaStop {
    come: Event,
    /// Behind the stream's wait: until then the device looks at the word.
    passed: Option<(Event, Arc<Returned>)>,
}

impl Stop for CudaStop {
    fn come(&self) -> bool {
        self.come.synchronize().is_ok()
    }

    fn returned(&self) {
        let Some((passed, returned)) = &self.passed else { return };
        // Release: pairs with the stream's wait, behind which the device reads what the function wrote.
        returned.count().fetch_add(1, Ordering::Release);
        // In a lost device nothing looks at the word any more.
        if let Err(error) = passed.synchronize() {
            tracing::debug!(%error, "behind a function of a queue");
        }
    }
}

impl FlatStream {
    /// Calls `function` when the work before has ended; the work after it begins when it has returned. It may call the driver, but must not wait for
    /// this stream.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or when the system has no thread or the driver no memory.
    pub fn call_host(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.calls.add(
            || {
                let returned = match self.returned.get() {
                    Some(returned) => returned.clone(),
                    // (Stops are made one at a time.)
                    None => {
                        let made = Arc::new(Returned::new(&self.context)?);
                        self.returned.get_or_init(|| made).clone()
                    }
                };
                let (come, passed) = (Event::untimed(&self.context)?, Event::untimed(&self.context)?);
                self.stream.record(&come)?;
                let value = returned.made.load(Ordering::Relaxed).wrapping_add(1);
                let address = returned.word.device_address();
                // SAFETY: a live stream; the word lives until `passed`, which is behind the wait, has happened.
                self.call(|driver| unsafe { driver.stream_wait_value(self.raw, address, value, AT_LEAST) })?;
                returned.made.store(value, Ordering::Relaxed);
                if self.stream.record(&passed).is_err() {
                    // Nothing says then when the device has looked at the word for the last time, so the word stays.
                    std::mem::forget(returned.clone());
                }
                Ok(Box::new(CudaStop { come, passed: Some((passed, returned)) }))
            },
            function,
        )
    }

    /// Calls `function` when the work before has ended, as [`FlatStream::call_host`] does; the work after it does not wait for that.
    ///
    /// # Errors
    /// As for [`FlatStream::call_host`].
    pub fn call_after(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        let stop = || {
            let come = Event::untimed(&self.context)?;
            self.stream.record(&come)?;
            Ok(Box::new(CudaStop { come, passed: None }) as Box<dyn Stop>)
        };
        self.calls.add(stop, function)
    }
}
