//! What went wrong while kernels ran, kept until [`Server::wait`](crate::Server::wait) hands it out.
//!
//! Each port buffer has one [`Report`]. Entries that are alike are kept once and counted. When the report is full, a
//! further entry is only counted, which costs a failing lane neither a lock nor an allocation. A device panic or exit
//! also *ends* the buffer. Every further call through it is answered
//! [`Status::KERNEL_ENDED`](hostcall_abi::Status::KERNEL_ENDED), so that all lanes of the kernel come to an end, until
//! the report is collected.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostcall_abi::{Shown, ShownLines};

use super::tally::{Counted, KEEP, Tally};

/// Lanes of a kernel panicked, or failed a check of a kernel in C++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePanic {
    /// The program whose kernel it was; several, if they share a port buffer. Empty if not known, and when it is
    /// reported: the report knows it.
    pub program: String,
    /// The panic's message: the first lane's.
    pub message: String,
    /// Source file, if known.
    pub file: String,
    /// Line in it, from 1; 0 if not known.
    pub line: u32,
    /// Workgroup of the first lane.
    pub block: [u32; 3],
    /// Work item in it.
    pub thread: [u32; 3],
    /// Lanes: of a panic those of a wave, of a check all that failed it.
    pub lanes: u64,
}

impl fmt::Display for DevicePanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        if self.program.is_empty() {
            f.write_str("kernel")?;
        } else {
            write!(f, "kernel of program `{}`", Shown(&self.program))?;
        }
        write!(f, " panicked at {}:{} in block ({bx}, {by}, {bz}) thread ({tx}, {ty}, {tz})", Shown(&self.file), self.line)?;
        if self.lanes > 1 {
            write!(f, " and {} more lanes", self.lanes - 1)?;
        }
        write!(f, ": {}", ShownLines(&self.message))
    }
}

/// A handler panicked.
#[derive(Clone, Debug)]
pub struct HandlerPanic {
    /// The service it handled.
    pub service: String,
    /// The panic's message with its place.
    pub message: String,
    /// Where it came from: the first of those that are alike. Disabled if more panics than are kept came before.
    pub backtrace: Arc<Backtrace>,
    /// Lanes whose calls ended like this.
    pub lanes: u64,
}

impl fmt::Display for HandlerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (service, message) = (Shown(&self.service), ShownLines(&self.message));
        write!(f, "handler of {service} panicked{}: {message}", in_lanes(self.lanes))
    }
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
    /// Lanes whose calls ended like this.
    pub lanes: u64,
}

/// A service that kernels called and nobody has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownService {
    /// Its name on the wire, or its number if nobody knows a name.
    pub service: String,
    /// Lanes that waited for a result, and were told.
    pub calls: u64,
    /// Lanes that posted, of which none was told.
    pub posts: u64,
}

impl fmt::Display for UnknownService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, calls, posts } = self;
        let what = match (*calls, *posts) {
            (calls, 0) => format!("{calls} calls"),
            (0, posts) => format!("{posts} posts"),
            (calls, posts) => format!("{calls} calls and {posts} posts"),
        };
        write!(f, "service {} is not registered with the server: {what} came to nothing", Shown(service))
    }
}

/// How many lanes, where it is not one.
fn in_lanes(lanes: u64) -> String {
    if lanes > 1 { format!(" in {lanes} lanes") } else { String::new() }
}

/// Failures that differ by their codes at most.
fn failed_alike(f: &mut fmt::Formatter<'_>, alike: &[&HandlerFailure]) -> fmt::Result {
    /// Codes that are listed.
    const CODES: usize = 4;
    let Some(HandlerFailure { service, message, .. }) = alike.first() else { return Ok(()) };
    let lanes = in_lanes(alike.iter().map(|failure| failure.lanes).sum());
    let mut codes: Vec<String> = alike.iter().take(CODES).map(|failure| failure.code.to_string()).collect();
    if alike.len() > CODES {
        codes.push(format!("{} others", alike.len() - CODES));
    }
    let last = codes.pop().unwrap_or_default();
    let codes = if codes.is_empty() { format!("code {last}") } else { format!("codes {} and {last}", codes.join(", ")) };
    write!(f, "handler of {} failed{lanes} with {codes}: {}", Shown(service), ShownLines(message))
}

/// Everything that [`Server::wait`](crate::Server::wait) reports besides success.
#[derive(Clone, Default)]
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
    /// Services that were called and are not registered. Lanes that called are told, and may do without; posts are
    /// lost.
    pub unknown_services: Vec<UnknownService>,
    /// Messages that made no sense.
    pub malformed: u64,
    /// Entries that were not kept because there were too many.
    pub omitted: u64,
}

hostcall_error::readable!(KernelReport);

impl KernelReport {
    /// A report of nothing.
    pub(crate) const fn nothing() -> Self {
        Self {
            panics: Vec::new(),
            exits: Vec::new(),
            handler_panics: Vec::new(),
            handler_failures: Vec::new(),
            unknown_services: Vec::new(),
            malformed: 0,
            omitted: 0,
        }
    }

    /// Whether the kernel did well: nothing is reported but exits with code 0, and calls of unknown services, whose
    /// lanes were told.
    pub fn is_success(&self) -> bool {
        self.panics.is_empty()
            && self.exits.iter().all(|&code| code == 0)
            && self.handler_panics.is_empty()
            && self.handler_failures.is_empty()
            && self.unknown_services.iter().all(|unknown| unknown.posts == 0)
            && self.malformed == 0
            && self.omitted == 0
    }

    /// The code of the first exit that was not 0, or of the first.
    pub fn exit_code(&self) -> Option<i32> {
        self.exits.iter().copied().find(|&code| code != 0).or(self.exits.first().copied())
    }

    /// Takes in another report, as far as there is room.
    pub(crate) fn absorb(&mut self, other: KernelReport) {
        self.omitted += take_in(&mut self.panics, other.panics, |_, _| false)
            + take_in(&mut self.exits, other.exits, |_, _| false)
            + take_in(&mut self.handler_panics, other.handler_panics, |known, new| {
                let same = known.service == new.service && known.message == new.message;
                known.lanes += if same { new.lanes } else { 0 };
                same
            })
            + take_in(&mut self.handler_failures, other.handler_failures, |known, new| {
                let same = known.service == new.service && known.code == new.code && known.message == new.message;
                known.lanes += if same { new.lanes } else { 0 };
                same
            })
            + take_in(&mut self.unknown_services, other.unknown_services, |known, new| {
                let same = known.service == new.service;
                known.calls += if same { new.calls } else { 0 };
                known.posts += if same { new.posts } else { 0 };
                same
            });
        self.malformed += other.malformed;
        self.omitted += other.omitted;
    }
}

/// Entries of each kind of a report that is put together from several.
const KEEP_OF_ALL: usize = 16 * KEEP;

/// Appends entries that cannot be added to one that is there, and for which there is room. Returns how many were left
/// out.
fn take_in<T>(list: &mut Vec<T>, more: Vec<T>, mut join: impl FnMut(&mut T, &T) -> bool) -> u64 {
    let mut left_out = 0;
    for new in more {
        if list.iter_mut().any(|known| join(known, &new)) {
            continue;
        }
        if list.len() < KEEP_OF_ALL {
            list.push(new);
        } else {
            left_out += 1;
        }
    }
    left_out
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let mut line = |f: &mut fmt::Formatter<'_>| f.write_str(std::mem::replace(&mut separator, "\n"));
        for panic in &self.panics {
            line(f)?;
            write!(f, "{panic}")?;
        }
        for code in &self.exits {
            line(f)?;
            write!(f, "kernel exited with code {code}")?;
        }
        for panic in &self.handler_panics {
            line(f)?;
            write!(f, "{panic}")?;
        }
        for (i, first) in self.handler_failures.iter().enumerate() {
            let is_alike = |other: &&HandlerFailure| other.service == first.service && other.message == first.message;
            if !self.handler_failures[..i].iter().any(|other| is_alike(&other)) {
                line(f)?;
                failed_alike(f, &self.handler_failures[i..].iter().filter(is_alike).collect::<Vec<_>>())?;
            }
        }
        for unknown in &self.unknown_services {
            line(f)?;
            write!(f, "{unknown}")?;
        }
        if self.malformed > 0 {
            line(f)?;
            write!(f, "{} malformed messages", self.malformed)?;
        }
        if self.omitted > 0 {
            line(f)?;
            write!(f, "{} more reports were not kept", self.omitted)?;
        }
        if separator.is_empty() { f.write_str("nothing to report") } else { Ok(()) }
    }
}

impl std::error::Error for KernelReport {}

/// The report of one port buffer, as it grows.
#[derive(Debug, Default)]
pub struct Report {
    kept: Mutex<Kept>,
    failures: Tally,
    handler_panics: Tally,
    asserts: Tally,
    /// Backtraces that were captured.
    backtraces: AtomicU64,
    panics: AtomicU64,
    exits: AtomicU64,
    malformed: AtomicU64,
    omitted: AtomicU64,
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct Kept {
    report: KernelReport,
    /// Checks that failed, one for each place.
    asserts: Vec<DevicePanic>,
    /// The programs that use the buffer.
    programs: Vec<String>,
    /// Numbers of the report's unknown services.
    unknown: Vec<u16>,
}

impl Kept {
    /// Says whose panic it is, if it does not say so itself.
    fn name(&self, panic: &mut DevicePanic) {
        if panic.program.is_empty() {
            panic.program = self.programs.join("` or `");
        }
    }
}

impl Report {
    /// Programs of one buffer that a panic names.
    const PROGRAMS: usize = 4;

    /// The programs that use the buffer, as far as they are remembered.
    pub(crate) fn programs(&self) -> Vec<String> {
        self.lock().programs.clone()
    }

    /// A program uses the buffer.
    pub(crate) fn used_by(&self, program: &str) {
        let mut kept = self.lock();
        if kept.programs.len() < Self::PROGRAMS && !kept.programs.iter().any(|known| known == program) {
            kept.programs.push(program.to_owned());
        }
    }

    /// A lane panicked: the kernel ends.
    pub fn device_panicked(&self, panic: DevicePanic) {
        self.device_panicked_with(|| panic);
    }

    /// As [`Report::device_panicked`]; what happened is put together only if it is kept.
    pub(crate) fn device_panicked_with(&self, panic: impl FnOnce() -> DevicePanic) {
        if self.has_room(&self.panics) {
            let mut panic = panic();
            let mut kept = self.lock();
            kept.name(&mut panic);
            tracing::debug!(%panic, "device panic");
            kept.report.panics.push(panic);
        }
        self.end();
    }

    /// Lanes failed a check at a place in the source. The kernel does not end: no call of other lanes may fail because
    /// a program that never waits for its kernels has left a report. What happened is put together only for the first
    /// of a place.
    #[cold]
    pub(crate) fn asserted(&self, place: impl std::hash::Hash, lanes: u32, panic: impl FnOnce() -> DevicePanic) {
        self.tally(&self.asserts, (place, ""), lanes, |kept| &mut kept.asserts, panic);
    }

    /// A lane called `exit`: the kernel ends.
    pub fn exited(&self, code: i32) {
        if self.has_room(&self.exits) {
            tracing::debug!(code, "kernel exit");
            self.lock().report.exits.push(code);
        }
        self.end();
    }

    /// A handler failed for one lane. The message is formatted only if the report has none like it.
    #[cold]
    pub fn handler_failed(&self, service: &str, code: u32, message: impl fmt::Display) {
        tracing::debug!(service, code, %message, "handler failed");
        self.tally(
            &self.failures,
            ((service, code), &message),
            1,
            |kept| &mut kept.report.handler_failures,
            || HandlerFailure { service: service.into(), code, message: message.to_string(), lanes: 1 },
        );
    }

    /// A handler panicked for one lane.
    pub(crate) fn handler_panicked(&self, service: &str, message: &str, backtrace: impl FnOnce() -> Arc<Backtrace>) {
        tracing::debug!(service, message, "handler panicked");
        self.tally(
            &self.handler_panics,
            (service, message),
            1,
            |kept| &mut kept.report.handler_panics,
            || HandlerPanic { service: service.into(), message: message.into(), backtrace: backtrace(), lanes: 1 },
        );
    }

    /// Lanes called a service that nobody has registered.
    #[cold]
    pub(crate) fn unknown_service(&self, number: u16, lanes: u64, post: bool, name: impl FnOnce() -> String) {
        let mut kept = self.lock();
        let place = match kept.unknown.iter().position(|&known| known == number) {
            Some(place) => place,
            // A kernel may make up as many numbers as there are.
            None if kept.unknown.len() >= KEEP => {
                // Pairs with `take`. Relaxed: it counts.
                self.omitted.fetch_add(1, Ordering::Relaxed);
                return;
            }
            None => {
                kept.unknown.push(number);
                kept.report.unknown_services.push(UnknownService { service: name(), calls: 0, posts: 0 });
                kept.unknown.len() - 1
            }
        };
        let known = &mut kept.report.unknown_services[place];
        *(if post { &mut known.posts } else { &mut known.calls }) += lanes;
    }

    /// Whether the backtrace of a panic that happens now would be kept.
    #[inline(always)]
    pub(crate) fn wants_backtraces(&self) -> bool {
        // Pairs with `captured`. Relaxed: advice.
        self.backtraces.load(Ordering::Relaxed) < KEEP as u64
    }

    /// A backtrace was captured.
    pub(crate) fn captured(&self) {
        // Pairs with `wants_backtraces`.
        self.backtraces.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn malformed(&self) {
        // Pairs with `take`. Relaxed: it counts, and orders nothing.
        self.malformed.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a lane panicked or exited since the report was last taken.
    #[inline]
    pub fn is_ended(&self) -> bool {
        // Pairs with the store in `end`. Relaxed: a call that slips through is merely served.
        self.ended.load(Ordering::Relaxed)
    }

    /// Takes what was reported, and serves calls again.
    pub(crate) fn take(&self) -> KernelReport {
        let mut kept = self.lock();
        let mut report = std::mem::take(&mut kept.report);
        kept.unknown.clear();
        for (place, failure) in report.handler_failures.iter_mut().enumerate() {
            failure.lanes = self.failures.take(place);
        }
        for (place, panic) in report.handler_panics.iter_mut().enumerate() {
            panic.lanes = self.handler_panics.take(place);
        }
        for (place, mut panic) in std::mem::take(&mut kept.asserts).into_iter().enumerate() {
            kept.name(&mut panic);
            panic.lanes = self.asserts.take(place);
            report.panics.push(panic);
        }
        // Pair with the additions in `has_room`, `captured`, `malformed` and `tally`.
        for counter in [&self.panics, &self.exits, &self.backtraces] {
            counter.store(0, Ordering::Relaxed);
        }
        report.malformed = self.malformed.swap(0, Ordering::Relaxed);
        report.omitted = self.omitted.swap(0, Ordering::Relaxed);
        drop(kept);
        // Pairs with the load in `is_ended`.
        self.ended.store(false, Ordering::Relaxed);
        report
    }

    /// The kernel is run once more, from its beginning: its calls are served again. What was reported stays.
    pub(crate) fn begin_again(&self) {
        // Pairs with the load in `is_ended`.
        self.ended.store(false, Ordering::Relaxed);
    }

    fn end(&self) {
        // Pairs with the load in `is_ended`. A word that is written only when it changes stays in the caches of those
        // who read it.
        if !self.is_ended() {
            self.ended.store(true, Ordering::Relaxed);
        }
    }

    /// Counts an entry of a kind of which each is kept by itself. If there are too many, that is all there is to do.
    fn has_room(&self, seen: &AtomicU64) -> bool {
        // Both pair with `take`. Relaxed: they count. The first look keeps a flood from counting beyond its end.
        let room = seen.load(Ordering::Relaxed) < KEEP as u64 && seen.fetch_add(1, Ordering::Relaxed) < KEEP as u64;
        if !room {
            self.omitted.fetch_add(1, Ordering::Relaxed);
        }
        room
    }

    /// Counts an entry with those that are like it. Only the first of its like waits for the lock, and is made.
    fn tally<T>(
        &self,
        tally: &Tally,
        (key, text): (impl std::hash::Hash, impl fmt::Display),
        lanes: u32,
        list: impl FnOnce(&mut Kept) -> &mut Vec<T>,
        entry: impl FnOnce() -> T,
    ) {
        let tag = tally.tag(key, text);
        let mut counted = tally.count(tag, lanes);
        if counted == Counted::New {
            let entry = entry();
            let mut kept = self.lock();
            let list = list(&mut kept);
            counted = tally.insert(tag, lanes, list.len());
            if counted == Counted::New {
                list.push(entry);
            }
        }
        if counted == Counted::TooMany {
            // Pairs with `take`. Relaxed: it counts.
            self.omitted.fetch_add(u64::from(lanes), Ordering::Relaxed);
        }
    }

    /// Held for a push or a take only: no driver call and no handler runs under it.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
