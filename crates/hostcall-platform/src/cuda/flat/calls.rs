//! Functions in a stream's order that may call the driver, by a thread of ours: the stops of [`crate::calls`].
//!
//! A stop is a function of the driver's, which tells the thread that the stream has come there, and behind it a wait of
//! the stream for a word of host memory, which the thread counts up. No thread of the driver's is kept waiting
//! meanwhile, and ours calls no driver between the two: somebody may be in the driver, with its lock, until the stream
//! goes on.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::FlatStream;
use crate::backend::{BackendMemory, BackendQueue};
use crate::calls::Stop;
use crate::cuda::context::Context;
use crate::cuda::memory::Block;
use crate::error::Error;
use crate::waits;

/// `CU_STREAM_WAIT_VALUE_GEQ`: until the word is the value or was counted beyond it, by the sign of their difference.
const AT_LEAST: u32 = 0;

/// Words of pinned memory that streams wait for, of a device. They are there until nobody is left who counts one up:
/// the device looks at a word until the stream's wait has passed, and nothing says when that is.
#[derive(Default)]
pub(super) struct Words(Mutex<Slabs>);

#[derive(Default)]
struct Slabs {
    memory: Vec<Block>,
    /// Those that no stream has: places in `memory`, and how often each was counted up.
    free: Vec<(usize, usize, u32)>,
}

/// Words of a slab, and bytes between two of them: a cache line.
const WORDS: usize = 256;
const APART: usize = 64;

impl Words {
    /// A word that no other stream has.
    fn take(self: &Arc<Self>, context: &Arc<Context>) -> Result<Word, Error> {
        let mut slabs = self.lock();
        if slabs.free.is_empty() {
            let memory = Block::host(context, WORDS * APART)?;
            let slab = slabs.memory.len();
            slabs.memory.push(memory);
            slabs.free.extend((0..WORDS).map(|word| (slab, word, 0)));
        }
        let Some((slab, place, counted)) = slabs.free.pop() else { return Err(Error::Unsupported { what: "a function in a stream" }) };
        let memory = &slabs.memory[slab];
        // SAFETY: inside of the memory.
        let host = unsafe { memory.host_pointer().add(place * APART) };
        let address = memory.device_address() + (place * APART) as u64;
        Ok(Word { words: self.clone(), place: (slab, place), host: host.cast(), address, made: AtomicU32::new(counted) })
    }

    fn lock(&self) -> MutexGuard<'_, Slabs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The word that a stream's stops wait for: how many of its functions have returned.
pub(super) struct Word {
    words: Arc<Words>,
    place: (usize, usize),
    host: *mut u32,
    address: u64,
    /// How many stops there are. Relaxed: changed by whoever makes one, under the lock of [`crate::calls::Calls::add`].
    made: AtomicU32,
}

// SAFETY: an address of memory that `words` keeps, used by atomic operations only.
unsafe impl Send for Word {}
// SAFETY: as above.
unsafe impl Sync for Word {}

impl Word {
    fn count(&self) -> &AtomicU32 {
        // SAFETY: pinned memory, aligned to a cache line, which lives as long as `words`. The device reads it only.
        unsafe { AtomicU32::from_ptr(self.host) }
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        // A stream that still looks at it waits for less than it is, now and later.
        let (slab, place) = self.place;
        self.words.lock().free.push((slab, place, *self.made.get_mut()));
    }
}

/// See the module's documentation.
struct CudaStop {
    /// Told when the stream has come there; cut off when its device is lost.
    come: Receiver<()>,
    word: Arc<Word>,
}

impl Stop for CudaStop {
    fn come(&self) -> bool {
        self.come.recv().is_ok()
    }

    fn returned(&self) {
        // Release: pairs with the stream's wait, behind which the device reads what the function wrote.
        self.word.count().fetch_add(1, Ordering::Release);
    }
}

impl FlatStream {
    /// Calls `function` when the work before has ended; the work after it begins when it has returned. It may call the
    /// driver, but must not wait for this stream.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or when the system has no thread or the driver no memory.
    pub fn call_host(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        let _putting = self.work.begin();
        self.calls.add(
            || {
                let word = match self.word.get() {
                    Some(word) => word.clone(),
                    // (Stops are made one at a time.)
                    None => {
                        let taken = Arc::new(self.words.take(&self.context)?);
                        self.word.get_or_init(|| taken).clone()
                    }
                };
                let (tell, come) = channel();
                self.stream.on_complete(Box::new(move || {
                    // Nobody listens if the stop was not made after all.
                    let _ = tell.send(());
                }))?;
                let value = word.made.load(Ordering::Relaxed).wrapping_add(1);
                // SAFETY: a live stream; the word is memory for as long as there are words of this device.
                self.call(|driver| unsafe { driver.stream_wait_value(self.raw, word.address, value, AT_LEAST) })?;
                word.made.store(value, Ordering::Relaxed);
                Ok(Box::new(CudaStop { come, word }))
            },
            function,
        )
    }

    /// Calls `function` when the work before has ended, on a thread for which no device waits; the work after it does
    /// not wait for that.
    ///
    /// # Errors
    /// As for [`FlatStream::call_host`].
    pub fn call_after(&self, function: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        let _putting = self.work.begin();
        // Dropped uncalled in a lost device, and on that thread, too: what it holds may use the driver.
        let function = OnDrop(Some(function));
        self.stream.on_complete(Box::new(move || drop(function)))
    }
}

/// Has the freeing thread call a function when this is dropped.
struct OnDrop(Option<Box<dyn FnOnce() + Send>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(function) = self.0.take() {
            waits::later(function);
        }
    }
}
