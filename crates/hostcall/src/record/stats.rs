//! Counts per service: each serving thread counts for itself, and a reader adds up.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

/// Keeps what one thread writes off other threads' cache lines (pairs of them: processors prefetch the neighbour).
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

#[derive(Debug, Default)]
struct Count {
    messages: AtomicU64,
    calls: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    failed: AtomicU64,
}

/// Adds to a word that only this thread writes.
#[inline(always)]
fn add(word: &AtomicU64, n: u64) {
    // Pairs with the loads in `sum`. Relaxed: statistics order nothing.
    word.store(word.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}

/// What one thread found out about some messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) messages: u32,
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

/// The counts of one service.
#[derive(Debug)]
pub(crate) struct Counters {
    /// One for each serving thread, written by it alone.
    threads: Box<[Padded<Count>]>,
    /// For calls answered on other threads.
    elsewhere: Count,
    /// Time from the sweep that found a call to its answer. One for each serving thread, and one for all others; empty
    /// if not wanted.
    latency: Box<[Padded<Mutex<Histogram<u64>>>]>,
}

impl Counters {
    pub(crate) fn new(threads: usize, histograms: bool) -> Self {
        // 1 ns to an hour, two digits: 18 KB each.
        let histogram = || Padded(Mutex::new(Histogram::new_with_bounds(1, 3_600_000_000_000, 2).expect("bounds that make sense")));
        Self {
            threads: (0..threads).map(|_| Padded::default()).collect(),
            elsewhere: Count::default(),
            latency: (0..if histograms { threads + 1 } else { 0 }).map(|_| histogram()).collect(),
        }
    }

    /// Messages that serving thread `thread` took; of a deferred one the answers are counted by [`Counters::answered`].
    #[inline(always)]
    pub(crate) fn messages(&self, thread: usize, sample: Sample) {
        if let Some(Padded(count)) = self.threads.get(thread) {
            add(&count.messages, u64::from(sample.messages));
            add(&count.calls, u64::from(sample.calls));
            add(&count.bytes_in, sample.bytes_in);
            add(&count.bytes_out, sample.bytes_out);
            if sample.failed != 0 {
                add(&count.failed, u64::from(sample.failed));
            }
        }
    }

    /// Calls of `lanes` lanes that were answered by another thread, `failed` of them without a result.
    pub(crate) fn answered(&self, lanes: u64, failed: u64, bytes_out: u64, latency: Option<Duration>) {
        // Pairs with the loads in `sum`. Many threads write here, so these are read-modify-writes.
        if failed != 0 {
            self.elsewhere.failed.fetch_add(failed, Ordering::Relaxed);
        }
        self.elsewhere.bytes_out.fetch_add(bytes_out, Ordering::Relaxed);
        if let Some(latency) = latency {
            self.latency(usize::MAX, latency, lanes);
        }
    }

    /// Records `count` calls that took `latency`, if histograms are wanted.
    pub(crate) fn latency(&self, thread: usize, latency: Duration, count: u64) {
        let Some(last) = self.latency.len().checked_sub(1) else { return };
        let mut histogram = self.latency[thread.min(last)].0.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.saturating_record_n(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX), count);
    }

    /// How long calls took, in nanoseconds, as all threads have recorded it; `None`: nothing was.
    pub(crate) fn times(&self) -> Option<Histogram<u64>> {
        let mut all: Option<Histogram<u64>> = None;
        for Padded(part) in &self.latency {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut all {
                None => all = Some(part.clone()),
                Some(all) => all.add(&*part).expect("histograms of the same bounds"),
            }
        }
        all.filter(|h| !h.is_empty())
    }

    pub(crate) fn row(&self, name: &str, number: u16) -> ServiceStats {
        let sum = |word: fn(&Count) -> &AtomicU64| {
            let threads = self.threads.iter().map(|Padded(count)| word(count).load(Ordering::Relaxed));
            // Pairs with `add` and `answered`.
            threads.fold(word(&self.elsewhere).load(Ordering::Relaxed), u64::wrapping_add)
        };
        let latency = self.times().map(|h| {
            let at = |q| Duration::from_nanos(h.value_at_quantile(q));
            Latency { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: Duration::from_nanos(h.max()) }
        });
        ServiceStats {
            name: name.to_owned(),
            number,
            messages: sum(|c| &c.messages),
            calls: sum(|c| &c.calls),
            failed: sum(|c| &c.failed),
            bytes_in: sum(|c| &c.bytes_in),
            bytes_out: sum(|c| &c.bytes_out),
            latency,
        }
    }
}

/// How long calls took on the host, from the sweep that found them to their answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Half of the calls took at most this.
    pub p50: Duration,
    /// 99 % of them.
    pub p99: Duration,
    /// 99.9 % of them.
    pub p999: Duration,
    /// The slowest.
    pub max: Duration,
}

/// Counts of one service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStats {
    /// Its name on the wire.
    pub name: String,
    /// Its number; 0 for the default handler.
    pub number: u16,
    /// Messages: calls that lanes of one wave made together count once.
    pub messages: u64,
    /// Calls, one for each lane.
    pub calls: u64,
    /// Calls that did not end as [`Status::OK`](crate::Status::OK).
    pub failed: u64,
    /// Payload received, staged bytes included.
    pub bytes_in: u64,
    /// Payload sent back in replies (without staged bytes).
    pub bytes_out: u64,
    /// With [`ServerBuilder::stats`](crate::ServerBuilder::stats): how long they took.
    pub latency: Option<Latency>,
}

/// Counts of a server. Displays as a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// One for each service that is registered, by number.
    pub services: Vec<ServiceStats>,
}

impl Stats {
    /// The counts of the service of this name.
    pub fn service(&self, name: &str) -> Option<&ServiceStats> {
        self.services.iter().find(|s| s.name == name)
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.name_width();
        writeln!(f, "{}", Self::heading(width))?;
        self.services.iter().try_for_each(|service| writeln!(f, "{}", service.line(width)))
    }
}

impl Stats {
    /// Columns of the services' names.
    pub(crate) fn name_width(&self) -> usize {
        self.services.iter().map(|service| service.name.len()).max().unwrap_or(0).max("service".len())
    }

    pub(crate) fn heading(width: usize) -> String {
        format!(
            "{:width$} {:>12} {:>12} {:>8} {:>14} {:>14} {:>10} {:>10} {:>10}",
            "service", "messages", "calls", "failed", "bytes in", "bytes out", "p50", "p99", "p99.9"
        )
    }
}

impl ServiceStats {
    pub(crate) fn line(&self, width: usize) -> String {
        let Self { name, number: _, messages, calls, failed, bytes_in, bytes_out, latency } = self;
        let time = |t: Option<Duration>| t.map_or("-".into(), |t| format!("{:.1}us", t.as_secs_f64() * 1e6));
        let [p50, p99, p999] = [latency.map(|l| l.p50), latency.map(|l| l.p99), latency.map(|l| l.p999)].map(time);
        format!("{name:width$} {messages:>12} {calls:>12} {failed:>8} {bytes_in:>14} {bytes_out:>14} {p50:>10} {p99:>10} {p999:>10}")
    }
}
