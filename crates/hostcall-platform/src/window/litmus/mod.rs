//! A litmus test of a window: does the device ever see a word that the host never wrote?
//!
//! The wire needs one property of a window that no vendor promises. If the host stored a 16-byte word as part of a
//! line, a 16-byte load must read the word whole, as it was stored. So the host overwrites lines as fast as it can
//! with growing numbers, sixteen times the same in each line. Meanwhile all SMs load words and count those whose parts
//! do not fit together. A test cannot prove that tearing never happens. It finds a machine on which tearing happens,
//! before a kernel's arguments go that way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Line, LineStore, Window, WindowError, WindowProvider};
use crate::error::Error;

mod kernel;
mod threads;
mod writer;

use writer::{Stores, Writer};

/// How long to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Milliseconds, and one thread that stores: when a server is attached.
    Brief,
    /// Seconds, and several such threads: for `doctor` and `bench`.
    Thorough,
}

impl Effort {
    /// How long readers read.
    fn duration(self) -> Duration {
        match self {
            Self::Brief => Duration::from_millis(3),
            Self::Thorough => Duration::from_secs(2),
        }
    }

    /// Lines that are stored: few, so that each is stored and read often.
    fn lines(self) -> usize {
        match self {
            Self::Brief => 64,
            Self::Thorough => 512,
        }
    }

    fn threads(self) -> usize {
        match self {
            Self::Brief => 1,
            // One processor is left to whoever else has something to do.
            Self::Thorough => thread::available_parallelism().map_or(1, |n| n.get().saturating_sub(1).clamp(1, 8)),
        }
    }
}

/// What a litmus test saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Litmus {
    /// Lines that the host stored.
    pub lines_stored: u64,
    /// 16-byte words that were read, most of them several times between two stores.
    pub words_read: u64,
    /// Words with parts of two stores. One is enough: there must be no window.
    pub torn_words: u64,
    /// Lines with words of two stores. They are allowed: each word tells by its tag whether it is there.
    pub torn_lines: u64,
    /// Words that a reader saw go back to an older store.
    pub words_back: u64,
    /// Lines of which the last store never arrived.
    pub lines_lost: u64,
}

impl Litmus {
    /// Whether a window that behaves like this can be used.
    pub fn is_clean(&self) -> bool {
        self.torn_words == 0 && self.words_back == 0 && self.lines_lost == 0
    }
}

/// How long the storing threads may take to begin, in the midst of whatever else the machine does.
const START: Duration = Duration::from_secs(2);
/// How long readers may take beyond their time: a kernel waits while others hold all SMs. And the last stores to
/// arrive.
const END: Duration = Duration::from_secs(5);
/// Bursts of stores beside which the readers must have read.
const ENOUGH: u64 = 16;
/// How often they read, if there were fewer.
const ATTEMPTS: u32 = 8;

/// What readers counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    words_read: u64,
    torn_words: u64,
    torn_lines: u64,
    words_back: u64,
}

impl Counts {
    fn and(self, other: Self) -> Self {
        Self {
            words_read: self.words_read + other.words_read,
            torn_words: self.torn_words + other.torn_words,
            torn_lines: self.torn_lines + other.torn_lines,
            words_back: self.words_back + other.words_back,
        }
    }
}

fn inconclusive(reason: impl Into<String>) -> WindowError {
    WindowError::Inconclusive { reason: reason.into() }
}

impl Window {
    /// Looks for torn words: a kernel reads the window's first lines while the host overwrites them. They are zero
    /// afterwards, and nobody else may use them meanwhile. On the simulator threads of the host read.
    ///
    /// It launches a kernel, so call it before kernels that fill the device are launched.
    ///
    /// # Errors
    /// [`WindowError::Torn`] if the window must not be used, [`WindowError::Inconclusive`] if the readers did not run,
    /// [`WindowError::Device`] if the device failed.
    pub fn litmus(&self, effort: Effort) -> Result<Litmus, WindowError> {
        let litmus = self.watch(Stores::Whole(self.store), effort)?;
        if litmus.is_clean() { Ok(litmus) } else { Err(WindowError::Torn { provider: self.provider, litmus }) }
    }

    /// The same test of another way to store lines, which the processor must have; without one, of stores that tear
    /// words on purpose, which it has to find: whoever trusts the test can see it fail. Torn words are no error.
    #[doc(hidden)]
    pub fn litmus_of(&self, store: Option<LineStore>, effort: Effort) -> Result<Litmus, WindowError> {
        let usable = store.filter(|store| LineStore::available().contains(store));
        self.watch(usable.map_or(Stores::Torn, Stores::Whole), effort)
    }

    fn watch(&self, stores: Stores, effort: Effort) -> Result<Litmus, WindowError> {
        let lines = (self.len / Line::BYTES).min(effort.lines());
        // What the lines held before would be taken for torn words.
        // SAFETY: the lines that will be overwritten, which are nobody else's meanwhile.
        unsafe { self.device.backend().write(self.address, &vec![0; lines * Line::BYTES]) }?;
        let litmus = if self.provider == WindowProvider::Simulator {
            self.watch_by(|| Ok(threads::read(self, lines, effort)), stores, lines, effort)
        } else {
            self.watch_by(|| kernel::read(self, lines, effort), stores, lines, effort)
        };
        // SAFETY: the lines that were overwritten, which are nobody else's meanwhile. The readers have ended, or are
        // atomic.
        unsafe { self.device.backend().write(self.address, &vec![0; lines * Line::BYTES]) }?;
        litmus
    }

    /// Stores by threads of its own all the while that `read` reads: a tool may let a launch wait for the kernel's end,
    /// and run the kernel many times meanwhile.
    fn watch_by(
        &self,
        read: impl Fn() -> Result<Option<Counts>, Error>,
        stores: Stores,
        lines: usize,
        effort: Effort,
    ) -> Result<Litmus, WindowError> {
        let (stop, bursts) = (AtomicBool::new(false), AtomicU64::new(0));
        let threads = effort.threads().min(lines);
        let mut writers: Vec<Writer> = (0..threads)
            .map(|part| {
                let (from, to) = (lines * part / threads, lines * (part + 1) / threads);
                // SAFETY: its own part of the window's first lines, which are nobody else's meanwhile.
                unsafe { Writer::new(stores, self.host.add(from * Line::BYTES), to - from, part as u64) }
            })
            .collect();
        let counts = thread::scope(|scope| {
            let (stop, bursts) = (&stop, &bursts);
            let store = |writer: &mut Writer| {
                // Relaxed, both: they order nothing, and the end of the scope waits for the threads.
                while !stop.load(Ordering::Relaxed) {
                    writer.burst();
                    bursts.fetch_add(1, Ordering::Relaxed);
                }
                // What was stored last may have been put back with the rest of the memory.
                writer.lap();
            };
            let begun = writers.iter_mut().try_for_each(|writer| {
                let builder = thread::Builder::new().name("window-litmus".into());
                builder.spawn_scoped(scope, move || store(writer)).map(drop)
            });
            let counts = begun.map_err(|error| inconclusive(format!("no thread to store by: {error}"))).and_then(|()| beside(bursts, read));
            stop.store(true, Ordering::Relaxed);
            counts
        })?;
        self.store.order();
        let last: Vec<u32> = writers.iter().flat_map(|writer| writer.last().iter().copied()).collect();
        let Counts { words_read, torn_words, torn_lines, words_back } = counts;
        let lines_stored = writers.iter().map(Writer::stored).sum();
        Ok(Litmus { lines_stored, words_read, torn_words, torn_lines, words_back, lines_lost: self.lost(&last, END)? })
    }

    /// How many lines do not hold what was stored last, even after `patience`.
    fn lost(&self, last: &[u32], patience: Duration) -> Result<u64, Error> {
        let start = Instant::now();
        loop {
            let mut lost = 0;
            for (index, number) in last.iter().enumerate() {
                lost += u64::from(self.read_line(index * Line::BYTES)? != Line([*number; 16]));
            }
            if lost == 0 || start.elapsed() > patience {
                return Ok(lost);
            }
        }
    }
}

/// Reads beside stores, again if there were too few of them.
fn beside(bursts: &AtomicU64, read: impl Fn() -> Result<Option<Counts>, Error>) -> Result<Counts, WindowError> {
    let mut all = Counts::default();
    for _ in 0..ATTEMPTS {
        // Relaxed, as where they are counted.
        let (before, start) = (bursts.load(Ordering::Relaxed), Instant::now());
        while bursts.load(Ordering::Relaxed) == before {
            if start.elapsed() > START {
                return Err(inconclusive("the threads that store had no processor to run on"));
            }
            thread::yield_now();
        }
        let Some(counts) = read()? else {
            return Err(inconclusive("the test's kernel did not begin or end in time; are other kernels holding the device?"));
        };
        all = all.and(counts);
        if counts.words_read > 0 && bursts.load(Ordering::Relaxed) - before >= ENOUGH {
            return Ok(all);
        }
    }
    Err(inconclusive("the threads that store were kept from it while the kernel read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    fn window(bytes: usize) -> Window {
        Device::sim("".parse().unwrap()).unwrap().window_of(WindowProvider::Simulator, bytes).unwrap()
    }

    /// Words of ordinary memory are whole on processors that promise so.
    fn promised() -> bool {
        #[cfg(target_arch = "x86_64")]
        let promised = std::arch::is_x86_feature_detected!("avx");
        #[cfg(not(target_arch = "x86_64"))]
        let promised = cfg!(target_arch = "aarch64");
        if !promised {
            eprintln!("skipped: this processor does not promise that 16-byte words of ordinary memory are whole");
        }
        promised
    }

    #[test]
    fn whole_stores_are_seen_whole_and_the_lines_are_zero_afterwards() {
        if !promised() {
            return;
        }
        for (bytes, effort) in [(64, Effort::Brief), (1 << 20, Effort::Brief), (1 << 16, Effort::Brief)] {
            let window = window(bytes);
            let litmus = window.litmus(effort).unwrap();
            eprintln!("{litmus:?}");
            assert!(litmus.is_clean() && litmus.words_read > 0 && litmus.lines_stored > 0, "{litmus:?}");
            for at in (0..bytes).step_by(Line::BYTES) {
                assert_eq!(window.read_line(at).unwrap(), Line::default(), "{at}");
            }
        }
    }

    #[test]
    fn stores_that_tear_words_are_found_out() {
        let litmus = window(4096).litmus_of(None, Effort::Thorough).unwrap();
        eprintln!("{litmus:?}");
        assert!(litmus.torn_words > 0 && !litmus.is_clean(), "{litmus:?}");
        let error = WindowError::Torn { provider: WindowProvider::Vulkan, litmus };
        assert!(error.to_string().contains("HOSTCALL_WINDOW=off"), "{error}");
    }

    #[test]
    fn a_line_whose_last_store_does_not_arrive_is_counted() {
        let window = window(256);
        // SAFETY: the window's second line, which nobody else uses.
        unsafe { window.store.store(window.host.as_ptr().add(64), &Line([7; 16])) };
        assert_eq!(window.lost(&[0, 7, 0, 9], Duration::ZERO).unwrap(), 1);
        assert_eq!(window.lost(&[0, 7, 0, 0], Duration::ZERO).unwrap(), 0);
        let litmus = Litmus { lines_lost: 1, ..Litmus::default() };
        assert!(!litmus.is_clean() && Litmus::default().is_clean());
        assert!(!Litmus { words_back: 1, ..Litmus::default() }.is_clean());
        assert!(Litmus { torn_lines: 1, ..Litmus::default() }.is_clean(), "a torn line is no harm");
    }
}
