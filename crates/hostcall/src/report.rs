//! What went wrong while kernels ran, kept until [`Server::wait`](crate::Server::wait) hands it out.
//!
//! Each port buffer has one [`Report`]. A device panic or exit also *ends* the buffer: every further call through it is
//! answered [`Status::KERNEL_ENDED`](hostcall_abi::Status::KERNEL_ENDED), so that all lanes of the kernel come to an end, until the report is collected.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A lane of a kernel panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePanic {
    /// The panic's message.
    pub message: String,
    /// Source file, if known.
    pub file: String,
    /// Line in it, from 1; 0 if not known.
    pub line: u32,
    /// Workgroup.
    pub block: [u32; 3],
    /// Work item in it.
    pub thread: [u32; 3],
}

impl fmt::Display for DevicePanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(f, "kernel panicked at {}:{} in block ({bx}, {by}, {bz}) thread ({tx}, {ty}, {tz}): {}", self.file, self.line, self.message)
    }
}

/// A handler panicked.
#[derive(Clone, Debug)]
pub struct HandlerPanic {
    /// The service it handled.
    pub service: String,
    /// The panic's message with its place.
    pub message: String,
    /// Where it came from.
    pub backtrace: Arc<Backtrace>,
}

/// A handler returned an error, or a posted call could not be handled, of which the kernel learns nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerFailure {
    /// The service it handled.
    pub service: String,
    /// Code that the lane got.
    pub code: u32,
    /// The handler's message.
    pub message: String,
}

/// Everything that [`Server::wait`](crate::Server::wait) reports besides success.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct KernelReport {
    /// Lanes that panicked.
    pub panics: Vec<DevicePanic>,
    /// Codes with which lanes called `exit`.
    pub exits: Vec<i32>,
    /// Handlers that panicked.
    pub handler_panics: Vec<HandlerPanic>,
    /// Handlers that failed, and posts that came to nothing.
    pub handler_failures: Vec<HandlerFailure>,
    /// Messages that made no sense.
    pub malformed: u64,
    /// Entries that were not kept because there were too many.
    pub omitted: u64,
}

impl KernelReport {
    /// Whether the kernel did well: nothing is reported but exits with code 0.
    pub fn is_success(&self) -> bool {
        self.panics.is_empty()
            && self.exits.iter().all(|&code| code == 0)
            && self.handler_panics.is_empty()
            && self.handler_failures.is_empty()
            && self.malformed == 0
            && self.omitted == 0
    }

    /// The code of the first exit that was not 0, or of the first.
    pub fn exit_code(&self) -> Option<i32> {
        self.exits.iter().copied().find(|&code| code != 0).or(self.exits.first().copied())
    }

    pub(crate) fn absorb(&mut self, other: KernelReport) {
        self.panics.extend(other.panics);
        self.exits.extend(other.exits);
        self.handler_panics.extend(other.handler_panics);
        self.handler_failures.extend(other.handler_failures);
        self.malformed += other.malformed;
        self.omitted += other.omitted;
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.extend(self.panics.iter().map(ToString::to_string));
        lines.extend(self.exits.iter().map(|code| format!("kernel exited with code {code}")));
        lines.extend(self.handler_panics.iter().map(|p| format!("handler of {} panicked: {}", p.service, p.message)));
        lines.extend(self.handler_failures.iter().map(|p| format!("handler of {} failed with code {}: {}", p.service, p.code, p.message)));
        if self.malformed > 0 {
            lines.push(format!("{} malformed messages", self.malformed));
        }
        if self.omitted > 0 {
            lines.push(format!("{} more reports were not kept", self.omitted));
        }
        f.write_str(if lines.is_empty() { "nothing to report" } else { "" })?;
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for KernelReport {}

/// The report of one port buffer, as it grows.
#[derive(Debug, Default)]
pub struct Report {
    kept: Mutex<KernelReport>,
    ended: AtomicBool,
}

impl Report {
    /// Entries of each kind that are kept; the rest are counted.
    const KEEP: usize = 64;

    /// A lane panicked: the kernel ends.
    pub fn device_panicked(&self, panic: DevicePanic) {
        tracing::debug!(%panic, "device panic");
        self.keep(|kept| &mut kept.panics, panic);
        self.end();
    }

    /// A lane called `exit`: the kernel ends.
    pub fn exited(&self, code: i32) {
        tracing::debug!(code, "kernel exit");
        self.keep(|kept| &mut kept.exits, code);
        self.end();
    }

    /// A handler failed.
    pub fn handler_failed(&self, service: &str, code: u32, message: &str) {
        tracing::debug!(service, code, message, "handler failed");
        self.keep(|kept| &mut kept.handler_failures, HandlerFailure { service: service.into(), code, message: message.into() });
    }

    pub(crate) fn handler_panicked(&self, panic: HandlerPanic) {
        tracing::debug!(service = panic.service, message = panic.message, "handler panicked");
        self.keep(|kept| &mut kept.handler_panics, panic);
    }

    pub(crate) fn malformed(&self) {
        self.lock().malformed += 1;
    }

    /// Whether a lane panicked or exited since the report was last taken.
    #[inline]
    pub fn is_ended(&self) -> bool {
        // Pairs with the store in `end`. Relaxed: a call that slips through is merely served.
        self.ended.load(Ordering::Relaxed)
    }

    /// Takes what was reported, and serves calls again.
    pub(crate) fn take(&self) -> KernelReport {
        let kept = std::mem::take(&mut *self.lock());
        // Pairs with the load in `is_ended`.
        self.ended.store(false, Ordering::Relaxed);
        kept
    }

    fn end(&self) {
        // Pairs with the load in `is_ended`.
        self.ended.store(true, Ordering::Relaxed);
    }

    fn keep<T>(&self, list: impl Fn(&mut KernelReport) -> &mut Vec<T>, entry: T) {
        let mut kept = self.lock();
        if list(&mut kept).len() < Self::KEEP {
            list(&mut kept).push(entry);
        } else {
            kept.omitted += 1;
        }
    }

    /// Held for a push or a take only: no driver call and no handler runs under it.
    fn lock(&self) -> MutexGuard<'_, KernelReport> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_ends_the_buffer_until_it_is_taken() {
        let report = Report::default();
        report.exited(0);
        assert!(report.is_ended());
        let taken = report.take();
        assert!(taken.is_success() && taken.exit_code() == Some(0) && !report.is_ended());
    }

    #[test]
    fn too_many_entries_are_counted_not_kept() {
        let report = Report::default();
        (0..100).for_each(|i| report.handler_failed("s", i, "no"));
        let taken = report.take();
        assert_eq!((taken.handler_failures.len(), taken.omitted, taken.is_success()), (64, 36, false));
    }
}
