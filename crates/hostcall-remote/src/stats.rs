//! Counts of what was sent and answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use hostcall::Latency;

/// Numbers that only grow. Relaxed everywhere: each pairs with the load in `get`, and orders nothing.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of one service, where it is called.
#[derive(Debug)]
pub(crate) struct Calls {
    pub(crate) calls: Counter,
    pub(crate) messages: Counter,
    pub(crate) requests: Counter,
    pub(crate) retries: Counter,
    pub(crate) busy: Counter,
    pub(crate) timeouts: Counter,
    pub(crate) nobody: Counter,
    pub(crate) too_large: Counter,
    pub(crate) bytes_out: Counter,
    pub(crate) bytes_in: Counter,
    latency: Mutex<Histogram<u64>>,
}

impl Calls {
    pub(crate) fn new() -> Self {
        // 1 µs to an hour, two digits.
        let latency = Mutex::new(Histogram::new_with_bounds(1, 3_600_000_000, 2).expect("bounds that make sense"));
        let counter = Counter::default;
        Self {
            calls: counter(),
            messages: counter(),
            requests: counter(),
            retries: counter(),
            busy: counter(),
            timeouts: counter(),
            nobody: counter(),
            too_large: counter(),
            bytes_out: counter(),
            bytes_in: counter(),
            latency,
        }
    }

    /// Messages were answered after these times.
    pub(crate) fn answered(&self, times: impl Iterator<Item = Duration>) {
        let mut latency = self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        for time in times {
            latency.saturating_record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        }
    }

    pub(crate) fn row(&self, service: &str) -> CallStats {
        let histogram = self.latency.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |q| Duration::from_micros(histogram.value_at_quantile(q));
        let latency = Latency { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: Duration::from_micros(histogram.max()) };
        CallStats {
            service: service.to_owned(),
            calls: self.calls.get(),
            messages: self.messages.get(),
            requests: self.requests.get(),
            retries: self.retries.get(),
            busy: self.busy.get(),
            timeouts: self.timeouts.get(),
            nobody: self.nobody.get(),
            too_large: self.too_large.get(),
            bytes_out: self.bytes_out.get(),
            bytes_in: self.bytes_in.get(),
            latency: (!histogram.is_empty()).then_some(latency),
        }
    }
}

/// Counts of one remote service, where it is called. A *message* is the calls that the lanes of a wave made together; a
/// *request* is what is sent, of one message or many.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallStats {
    /// Its name on the wire.
    pub service: String,
    /// Calls, one for each lane.
    pub calls: u64,
    /// Messages.
    pub messages: u64,
    /// Requests that were sent.
    pub requests: u64,
    /// Messages that were sent again, because their answer was late.
    pub retries: u64,
    /// Requests that a worker had no time for, and that were sent again.
    pub busy: u64,
    /// Messages whose calls ended as `Timeout`.
    pub timeouts: u64,
    /// Messages for which there was no worker.
    pub nobody: u64,
    /// Messages that were too large for the broker.
    pub too_large: u64,
    /// Bytes of requests.
    pub bytes_out: u64,
    /// Bytes of answers.
    pub bytes_in: u64,
    /// How long messages took that were answered, from the server's handing them over to the answer. To the
    /// microsecond.
    pub latency: Option<Latency>,
}

/// The counts of one service of a worker.
#[derive(Debug, Default)]
pub(crate) struct Works {
    pub(crate) requests: Counter,
    pub(crate) messages: Counter,
    pub(crate) calls: Counter,
    pub(crate) refused: Counter,
    pub(crate) invalid: Counter,
    pub(crate) bytes_in: Counter,
    pub(crate) bytes_out: Counter,
}

impl Works {
    pub(crate) fn row(&self, service: &str) -> WorkStats {
        WorkStats {
            service: service.to_owned(),
            requests: self.requests.get(),
            messages: self.messages.get(),
            calls: self.calls.get(),
            refused: self.refused.get(),
            invalid: self.invalid.get(),
            bytes_in: self.bytes_in.get(),
            bytes_out: self.bytes_out.get(),
        }
    }
}

/// Counts of one service of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkStats {
    /// Its name on the wire.
    pub service: String,
    /// Requests that were run.
    pub requests: u64,
    /// Messages of them.
    pub messages: u64,
    /// Calls, one for each lane.
    pub calls: u64,
    /// Requests that were sent back because there was too much to do.
    pub refused: u64,
    /// Requests that were none of the service.
    pub invalid: u64,
    /// Bytes of requests.
    pub bytes_in: u64,
    /// Bytes of answers.
    pub bytes_out: u64,
}
