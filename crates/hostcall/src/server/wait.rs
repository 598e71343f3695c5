//! Waiting for kernels and for what they called, and what is told then.

use std::cmp::Reverse;
use std::sync::Weak;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use hostcall_error::Forked;
use offload::Queue;

use super::{Awake, RemoveError, Server};
use crate::record::running::Turn;
use crate::record::{HandlerFailure, KernelReport, OpenCall};
use crate::serving::{Core, Open, wait_by};

/// Why [`Server::wait`] is not a success.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The device failed. What was reported until then comes along.
    #[error("{source}{}", if report.is_success() { String::new() } else { format!("\n{report}") })]
    Device {
        /// The device's error.
        source: offload::Error,
        /// What was reported before.
        report: Box<KernelReport>,
    },
    /// The kernel, or a handler, failed.
    #[error("{0}")]
    Kernel(Box<KernelReport>),
    /// An inline handler asked for it. Nothing is waited for, and nothing taken.
    #[error(transparent)]
    InHandler(#[from] super::InHandler),
    /// The server belongs to the process that this one was forked from. Nothing is waited for, and nothing taken.
    #[error(transparent)]
    Forked(#[from] Forked),
    /// The time to wait was over ([`Server::wait_timeout`]). Kernels and handlers go on, and what is reported stays
    /// with the server.
    #[error("not done after {waited:.1?}; {}", open_calls(open))]
    Timeout {
        /// How long it was waited.
        waited: Duration,
        /// The calls that have arrived and are not answered, those that are open longest first.
        open: Vec<OpenCall>,
    },
}

hostcall_error::readable!(WaitError);

impl WaitError {
    /// What was reported: nothing yet, if the time was over.
    pub fn report(&self) -> &KernelReport {
        static NOTHING: KernelReport = KernelReport::nothing();
        match self {
            Self::Device { report, .. } | Self::Kernel(report) => report,
            Self::Timeout { .. } | Self::InHandler(_) | Self::Forked(_) => &NOTHING,
        }
    }
}

impl From<RemoveError> for WaitError {
    fn from(error: RemoveError) -> Self {
        match error {
            RemoveError::InHandler(error) => error.into(),
            RemoveError::Forked(error) => error.into(),
        }
    }
}

/// The open calls, one a line, as far as one reads.
fn open_calls(open: &[OpenCall]) -> String {
    /// Calls that are listed.
    const LISTED: usize = 16;
    if open.is_empty() {
        return "no call is open: the kernels are busy, or wait for each other".to_owned();
    }
    let mut text = String::from("calls that no handler has answered:");
    open.iter().take(LISTED).for_each(|call| text += &format!("\n  {call}"));
    if open.len() > LISTED {
        text += &format!("\n  and {} more", open.len() - LISTED);
    }
    text
}

impl Server {
    /// Waits until the kernels in the queue have ended and every call they posted has been handled, then says what went
    /// wrong.
    ///
    /// # Errors
    /// Device panics, exits with a code other than 0, handlers that failed or panicked, and the device's own failures.
    /// All of them are then forgotten, and the buffers serve calls again. [`WaitError::InHandler`] on the thread of an
    /// inline handler of this server.
    pub fn wait(&self, queue: &Queue) -> Result<(), WaitError> {
        self.check_here("waiting for kernels")?;
        let _awake = self.keep_awake_for_others();
        let synchronized = queue.synchronize();
        let report = self.collect();
        self.told(synchronized, report)
    }

    /// As [`Server::wait`], but gives up after `limit`. Nothing is taken back: kernels and handlers go on, and can be
    /// waited for again. If nobody does, dropping the queue does not wait for them either ([`Queue`]): a program whose
    /// kernel does not end can end.
    ///
    /// # Errors
    /// [`WaitError::Timeout`], which names the calls that are open, or as for [`Server::wait`].
    pub fn wait_timeout(&self, queue: &Queue, limit: Duration) -> Result<(), WaitError> {
        self.check_here("waiting for kernels")?;
        let _awake = self.keep_awake_for_others();
        let start = Instant::now();
        let mut seen = Seen::default();
        let device = |source| WaitError::Device { source, report: Box::default() };
        if queue.idle_within(start, limit, || seen.look(&self.parts.core)).map_err(device)? {
            let synchronized = queue.synchronize();
            if let Some(report) = self.collect_by(start.checked_add(limit)) {
                return self.told(synchronized, report);
            }
            // What the device failed with is told once.
            synchronized.map_err(device)?;
        }
        seen.look(&self.parts.core);
        Err(WaitError::Timeout { waited: start.elapsed(), open: seen.open_calls(&self.parts.core) })
    }

    /// While somebody waits, what is waited for may be kernels that others have launched.
    fn keep_awake_for_others(&self) -> Option<Awake> {
        self.parts.core.buffers().iter().any(|live| live.is_launched_elsewhere()).then(|| self.keep_awake())
    }

    /// What a wait returns, and ports are free again.
    fn told(&self, mut synchronized: Result<(), offload::Error>, report: KernelReport) -> Result<(), WaitError> {
        // Lanes that were ended may have held ports.
        if synchronized.is_ok() && !(report.panics.is_empty() && report.exits.is_empty()) {
            synchronized = self.free_ports();
        }
        match synchronized {
            Err(source) => Err(WaitError::Device { source, report: Box::new(report) }),
            Ok(()) if report.is_success() => Ok(()),
            Ok(()) => Err(WaitError::Kernel(Box::new(report))),
        }
    }

    /// The part of [`Server::wait`] that follows the synchronisation: waits until every post that has arrived is
    /// handled, and takes the reports. Posts that arrive meanwhile, of kernels that still run, are not waited for. On
    /// the thread of an inline handler of this server, and in a forked child, it does nothing.
    pub fn collect(&self) -> KernelReport {
        if self.check_here("").is_err() {
            return KernelReport::default();
        }
        self.collect_by(None).unwrap_or_default()
    }

    /// Frees the ports that lanes held when they were ended by a panic or an exit, as [`Server::wait`] does. No kernel
    /// of an attached program may be running: it would lose the ports that its lanes hold.
    ///
    /// # Errors
    /// When the device fails.
    pub fn free_ports(&self) -> Result<(), offload::Error> {
        self.check_origin()?;
        self.parts.core.buffers().iter().try_for_each(|live| live.free_ports())
    }

    /// The same; `None` at `deadline`, and nothing is taken.
    fn collect_by(&self, deadline: Option<Instant>) -> Option<KernelReport> {
        let buffers = self.parts.core.buffers();
        for live in buffers.iter() {
            if !self.parts.core.drain_by(live, deadline) {
                return None;
            }
            // What is open now, and nothing that comes later: a kernel that goes on posting keeps nobody waiting.
            let mut open = live.posts_open_now();
            let is_open = |post: &mut Weak<Open>| post.upgrade().is_some_and(|post| !post.is_answered());
            let all_handled = || {
                open.retain_mut(is_open);
                open.is_empty()
            };
            if !wait_by(deadline, all_handled) {
                return None;
            }
            // Pairs with the drop of what is gone: what its handler did is visible.
            fence(Ordering::Acquire);
        }
        let mut report = std::mem::take(&mut *self.left());
        for live in buffers.iter() {
            report.absorb(live.report.take());
        }
        // One of each stream at most.
        while let Err(lost) = self.parts.builtins.flush() {
            let code = lost.source.raw_os_error().unwrap_or_default().cast_unsigned();
            report.handler_failures.push(HandlerFailure { service: "Console__print".into(), code, message: lost.to_string(), lanes: 1 });
        }
        Some(report)
    }
}

/// The handlers in which serving threads were seen, and since when.
#[derive(Default)]
pub(super) struct Seen(Vec<Option<(Turn, u64, Instant)>>);

impl Seen {
    pub(super) fn look(&mut self, core: &Core) {
        // Waves that help are among them.
        let threads: Vec<_> = core.running().map(|running| running.now()).collect();
        self.0.resize(threads.len(), None);
        for (seen, now) in self.0.iter_mut().zip(threads) {
            *seen = now.map(|(turn, lanes)| match *seen {
                Some((known, _, since)) if known == turn => (turn, lanes, since),
                _ => (turn, lanes, Instant::now()),
            });
        }
    }

    /// With the messages that other threads answer. Those that are open longest come first.
    pub(super) fn open_calls(&self, core: &Core) -> Vec<OpenCall> {
        let table = core.registry.table();
        let name = |turn: Turn| table.name(turn.service());
        let running = self.0.iter().flatten();
        let running =
            running.map(|&(turn, lanes, since)| OpenCall { service: name(turn), port: turn.port(), lanes, open_for: since.elapsed() });
        let buffers = core.buffers();
        let opened = buffers.iter().flat_map(|live| live.all_opened()).filter_map(|open| open.open_call());
        let mut open: Vec<_> = running.chain(opened).collect();
        open.sort_by_key(|call| Reverse(call.open_for));
        open
    }
}
