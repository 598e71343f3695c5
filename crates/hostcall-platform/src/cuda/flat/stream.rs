//! Streams and events: copies, fills, waiting.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use super::super::sys;

use super::Flat;
use super::calls::{Word, Words};
use crate::backend::{BackendEvent, BackendQueue};
use crate::calls::Calls;
use crate::cuda::context::{Held, STREAM_NON_BLOCKING};
use crate::cuda::driver::{Driver, Failed, Status};
use crate::cuda::event::Event;
use crate::cuda::quiet::{QueueWork, WORK};
use crate::cuda::release::Resource;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::waits;

/// A stream. What is in it when it is dropped is still done, and dropping does not wait for it.
pub struct FlatStream {
    pub(super) context: Held,
    pub(super) stream: Stream,
    pub(super) raw: sys::CUstream,
    pub(super) calls: Calls,
    pub(super) words: Arc<Words>,
    /// Taken with the first function.
    pub(super) word: OnceLock<Arc<Word>>,
    /// How far it is.
    pub(super) work: Arc<QueueWork>,
}

// SAFETY: a handle, valid on every thread; the driver serialises its use.
unsafe impl Send for FlatStream {}
// SAFETY: as above.
unsafe impl Sync for FlatStream {}

/// A point in a stream.
pub struct FlatEvent(Event);

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::cuda) struct Location {
    kind: i32,
    id: i32,
}

/// `CU_MEM_LOCATION_TYPE_DEVICE`, `CU_MEM_LOCATION_TYPE_HOST`.
const ON_DEVICE: i32 = 1;
const ON_HOST: i32 = 2;

/// `CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS`: without it managed memory cannot be prefetched.
const CONCURRENT_MANAGED_ACCESS: i32 = 89;

impl Flat {
    /// A new stream, which waits for no other.
    ///
    /// # Errors
    /// When the driver has none.
    pub fn stream(&self) -> Result<FlatStream, Error> {
        let context = Held::new(&self.context)?;
        let mut raw = std::ptr::null_mut();
        {
            let entered = self.context.enter()?;
            // SAFETY: an out parameter; the context is current.
            entered.check(unsafe { entered.driver.stream_create(&mut raw, STREAM_NON_BLOCKING) })?;
        }
        // SAFETY: made just now, and destroyed by the result only.
        match unsafe { Stream::borrowed(&self.context, raw, None) } {
            Ok(stream) => {
                let (calls, work) = (Calls::new(&self.threads), WORK.queue());
                work.of_stream(&self.context, raw);
                Ok(FlatStream { context, stream, raw, calls, words: self.words.clone(), word: OnceLock::new(), work })
            }
            Err(error) => {
                self.context.release(Resource::Stream(raw));
                Err(error)
            }
        }
    }

    /// Whether managed memory can be prefetched.
    pub fn can_prefetch(&self) -> bool {
        self.attribute(CONCURRENT_MANAGED_ACCESS).is_ok_and(|value| value != 0)
    }
}

impl Drop for FlatStream {
    fn drop(&mut self) {
        // What is dropped after this neither owns the stream nor has lent memory to it.
        if self.is_idle().unwrap_or(true) {
            return WORK.end(&self.work);
        }
        // What its work uses is not freed until that is done, so somebody has to ask. Until then it is not destroyed.
        let work = self.work.clone();
        waits::until_done(move || {
            let is_done = work.ask();
            if is_done {
                WORK.end(&work);
            }
            is_done
        });
    }
}

impl FlatStream {
    #[inline(always)]
    pub(super) fn call(&self, call: impl Fn(&Driver) -> Result<(), Failed>) -> Result<(), Error> {
        self.context.call(call, |failed| self.context.error(failed))
    }

    /// Copies memory of any device and the host, in order. Where both are pageable host memory the driver may do it at
    /// once.
    ///
    /// # Safety
    /// Both are memory of `bytes` bytes until the copy is done.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or what the driver says.
    #[inline(always)]
    pub unsafe fn copy(&self, to: usize, from: usize, bytes: usize) -> Result<(), Error> {
        let _putting = self.work.begin();
        // SAFETY: the caller's; all memory is in one address space, so the driver knows what is whose.
        self.call(|driver| unsafe { driver.memcpy(to as u64, from as u64, bytes, self.raw) })
    }

    /// Copies memory that no work in another stream uses, and waits for it. For little memory: the driver may ask all
    /// the time whether it is done.
    ///
    /// # Safety
    /// Both are memory of `bytes` bytes.
    ///
    /// # Errors
    /// As for [`FlatStream::copy`].
    // As for `launch`.
    #[inline(always)]
    pub unsafe fn copy_now(&self, to: usize, from: usize, bytes: usize) -> Result<(), Error> {
        let may = self.context.may_wait("a copy")?;
        // SAFETY: the caller's.
        unsafe { self.copy(to, from, bytes) }?;
        let latest = self.work.latest();
        // SAFETY: a live stream.
        self.call(|driver| unsafe { driver.stream_synchronize(may, self.raw) })?;
        self.work.waited(latest);
        Ok(())
    }

    /// Fills memory with a pattern, in order. `is_on_device`: no part of it is memory of the host, or managed.
    ///
    /// The driver does not wait for the work before if the pattern has at most 64 runs of equal words, or of equal
    /// bytes where the address or the pattern is not one of words. Otherwise it may: the pattern is copied from the
    /// host.
    ///
    /// # Safety
    /// `to` is memory of `bytes` bytes, a multiple of the pattern's, until the fill is done.
    ///
    /// # Errors
    /// As for [`FlatStream::copy`].
    pub unsafe fn fill(&self, to: usize, pattern: &[u8], bytes: usize, is_on_device: bool) -> Result<(), Error> {
        let _putting = self.work.begin();
        let pattern = shortest(pattern);
        let at = to as u64;
        match *pattern {
            // SAFETY: the caller's.
            [a] => return self.call(|driver| unsafe { driver.memset_d8(at, a, bytes, self.raw) }),
            // The driver wants addresses of larger elements aligned.
            [a, b] if to.is_multiple_of(2) => {
                // SAFETY: the caller's.
                return self.call(|driver| unsafe { driver.memset_d16(at, u16::from_ne_bytes([a, b]), bytes / 2, self.raw) });
            }
            [a, b, c, d] if to.is_multiple_of(4) => {
                // SAFETY: the caller's.
                return self.call(|driver| unsafe { driver.memset_d32(at, u32::from_ne_bytes([a, b, c, d]), bytes / 4, self.raw) });
            }
            _ => {}
        }
        // A row for each pattern, and a call for each run of columns. Nothing of this is copied: copies that begin or
        // end in the host's memory may wait for the work before them, which may wait for this thread.
        let (words, rest) = pattern.as_chunks::<4>();
        let by_words = rest.is_empty() && to.is_multiple_of(4) && are_few(words);
        let set = |start: u64, rows: usize| {
            if by_words {
                // SAFETY: the caller's; all rows lie in its memory.
                self.fill_columns(start, words, |driver, column, value, width| unsafe {
                    driver.memset_rows_d32(column, pattern.len(), u32::from_ne_bytes(value), width, rows, self.raw)
                })
            } else {
                // SAFETY: as above.
                self.fill_columns(start, pattern, |driver, column, value, width| unsafe {
                    driver.memset_rows_d8(column, pattern.len(), value, width, rows, self.raw)
                })
            }
        };
        if !by_words && !are_few(pattern) {
            // The driver has read pageable memory when the call returns.
            // SAFETY: the caller's; `pattern` lives until the call returns.
            self.call(|driver| unsafe { driver.memcpy_to_device(at, pattern.as_ptr().cast(), pattern.len(), self.raw) })?;
            return self.repeat(at, pattern.len(), bytes);
        }
        let rows = bytes / pattern.len();
        if is_on_device {
            // Copies within the device wait for nothing.
            set(at, rows.min(MOST_ROWS))?;
            return self.repeat(at, rows.min(MOST_ROWS) * pattern.len(), bytes);
        }
        (0..rows).step_by(MOST_ROWS).try_for_each(|first| set(at + (first * pattern.len()) as u64, MOST_ROWS.min(rows - first)))
    }

    /// Calls `set` for each run of equal elements of a row, with where its column begins, the element, and how many
    /// there are.
    fn fill_columns<T: Copy + PartialEq>(
        &self,
        at: u64,
        row: &[T],
        set: impl Fn(&Driver, u64, T, usize) -> Result<(), Failed>,
    ) -> Result<(), Error> {
        let mut column = at;
        for run in row.chunk_by(T::eq) {
            self.call(|driver| set(driver, column, run[0], run.len()))?;
            column += size_of_val(run) as u64;
        }
        Ok(())
    }

    /// Copies the first `full` of `bytes` bytes behind themselves, as much again as there is, until all are full.
    fn repeat(&self, at: u64, mut full: usize, bytes: usize) -> Result<(), Error> {
        while full < bytes {
            let more = full.min(bytes - full);
            // SAFETY: of the memory that is filled; both ranges do not overlap.
            self.call(|driver| unsafe { driver.memcpy(at + full as u64, at, more, self.raw) })?;
            full += more;
        }
        Ok(())
    }

    /// Advises that managed memory will be used by the device, or by the host.
    ///
    /// # Errors
    /// As for [`FlatStream::copy`].
    pub fn prefetch(&self, address: usize, bytes: usize, to_host: bool) -> Result<(), Error> {
        let location = Location { kind: if to_host { ON_HOST } else { ON_DEVICE }, id: if to_host { 0 } else { self.context.device } };
        let _putting = self.work.begin();
        // SAFETY: the driver looks for itself whether there is such memory; nothing of it changes.
        self.call(|driver| unsafe { driver.mem_prefetch(address as u64, bytes, location, 0, self.raw) })
    }

    /// Marks the end of the work so far.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or when the driver has no more events.
    pub fn record(&self, timed: bool) -> Result<FlatEvent, Error> {
        let _putting = self.work.begin();
        let event = if timed { Event::timed(&self.context)? } else { Event::untimed(&self.context)? };
        self.stream.record(&event)?;
        Ok(FlatEvent(event))
    }

    /// Has later work wait for an event, of this or another CUDA device.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn wait(&self, event: &FlatEvent) -> Result<(), Error> {
        // What comes after it is done later than what the other stream has now.
        let _putting = self.work.begin();
        // SAFETY: live handles. (`Stream::wait` takes events of its own device only.)
        self.call(|driver| unsafe { driver.stream_wait_event(self.raw, event.0.raw, 0) })
    }

    /// Waits until everything before has ended.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], with what happened.
    pub fn synchronize(&self) -> Result<(), Error> {
        // What ends soon is waited for without looking at a clock.
        for _ in 0..FIRST_QUESTIONS {
            if self.is_idle()? {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        let latest = self.work.latest();
        let entered = self.context.enter()?;
        self.stream.wait_idle(&entered)?;
        self.work.waited(latest);
        Ok(())
    }

    /// Whether nothing is left to do.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_idle(&self) -> Result<bool, Error> {
        let (is_idle, latest) = (Cell::new(true), self.work.latest());
        self.call(|driver| {
            // SAFETY: a live stream.
            match unsafe { driver.stream_query(self.raw) } {
                Err(failed) if failed.status == Status::NOT_READY => {
                    is_idle.set(false);
                    Ok(())
                }
                other => other,
            }
        })?;
        if is_idle.get() {
            self.work.waited(latest);
        }
        Ok(is_idle.get())
    }

    /// How far it is, for what its work uses.
    pub fn work(&self) -> &Arc<QueueWork> {
        &self.work
    }
}

/// How often `synchronize` asks before it looks at a clock as well: some microseconds.
const FIRST_QUESTIONS: u32 = 20;

/// The most runs of equal elements in a pattern that is written by rows, which takes a call for each. Many times as
/// many may be put into a stream before the driver waits for a place.
const MOST_RUNS: usize = 64;

/// The most rows of one call. (CUDA names no limit; grids have 65 535 groups in their second dimension.)
const MOST_ROWS: usize = 65_535;

/// Whether elements have no more than [`MOST_RUNS`] runs.
fn are_few<T: PartialEq>(elements: &[T]) -> bool {
    elements.chunk_by(T::eq).nth(MOST_RUNS).is_none()
}

/// The shortest pattern that gives the same when repeated, of lengths that are powers of two: or all of it.
fn shortest(pattern: &[u8]) -> &[u8] {
    let same = |length: &usize| pattern.chunks(*length).all(|part| part == &pattern[..*length]);
    let mut lengths =
        (0..usize::BITS).map(|bit| 1 << bit).take_while(|&length| length < pattern.len() && pattern.len().is_multiple_of(length));
    lengths.find(same).map_or(pattern, |length| &pattern[..length])
}

impl FlatEvent {
    /// Whether it happened.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn is_complete(&self) -> Result<bool, Error> {
        self.0.is_complete()
    }

    /// Waits for it.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub fn synchronize(&self) -> Result<(), Error> {
        self.0.synchronize()
    }

    /// Nanoseconds from `earlier` to this; `None` unless both happened.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], or when one is not timed.
    pub fn nanoseconds_since(&self, earlier: &FlatEvent) -> Result<Option<u64>, Error> {
        self.0.nanoseconds_since(&earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{are_few, shortest};

    #[test]
    fn patterns_are_cut_to_what_the_driver_can_set() {
        assert_eq!(shortest(&[7, 7, 7, 7, 7]), [7]);
        assert_eq!(shortest(&[1, 2, 1, 2]), [1, 2]);
        assert_eq!(shortest(&[1, 2, 3, 4, 1, 2, 3, 4]), [1, 2, 3, 4]);
        let eight = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(shortest(&[eight; 5].concat()), eight);
        assert_eq!(shortest(&[1, 2, 3]), [1, 2, 3]);
        assert_eq!(shortest(&[1, 2, 1]), [1, 2, 1]);
        assert_eq!(shortest(&[9]), [9]);
        assert_eq!(shortest(&[]), []);
    }

    #[test]
    fn patterns_are_written_by_rows_if_they_have_few_runs() {
        let numbers: Vec<u8> = (0..=255).collect();
        assert!(are_few(&numbers[..64]) && !are_few(&numbers[..65]));
        assert!(are_few(numbers.as_chunks::<4>().0));
        let mut long = vec![7; 1 << 20];
        long[5] = 8;
        assert!(are_few(&long));
    }
}
