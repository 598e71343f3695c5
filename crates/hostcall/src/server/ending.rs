//! How a server ends, and how a port buffer leaves it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hostcall_abi::Status;
use hostcall_error::{Forked, Local};
use offload::host::{self, StackSize};
use offload::overdue;

use super::{BufferHandle, Parts, Server};
use crate::record::{KernelReport, tell};
use crate::serving::Core;

/// Something that waits for the server's threads was asked for on one of them, by an inline handler. It would wait for
/// itself.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} within an inline handler would wait for the thread that runs the handler: have another thread do it, or register the service with \
     `.blocking()`"
)]
pub struct InHandler {
    /// What was asked for.
    pub what: &'static str,
}

hostcall_error::readable!(InHandler);

/// Why a port buffer stays, or nothing is waited for.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// An inline handler asked for it.
    #[error(transparent)]
    InHandler(#[from] InHandler),
    /// The server belongs to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] Forked),
}

hostcall_error::readable!(RemoveError);

impl Server {
    /// Takes a port buffer out of service: lanes that wait get [`CallError::Detached`](crate::CallError::Detached), and
    /// so does every later call. Posts that have arrived are handled, those that arrive meanwhile may be. If so many
    /// wait that there is no room for all, and handlers make none for a while (0.4 s), the rest comes to nothing, and
    /// the report says how many. When this returns, no serving thread looks at the buffer any more.
    ///
    /// # Errors
    /// On the thread of an inline handler of this server, and in a forked child. Nothing is done then.
    pub fn remove_buffer(&self, buffer: &BufferHandle) -> Result<(), RemoveError> {
        self.check_here("removing a port buffer")?;
        self.parts.core.retire(&buffer.0, Status::DETACHED, Instant::now() + Core::PATIENCE);
        let gone: Vec<_> = self.attached().extract_if(.., |program| program.uses(&buffer.0)).collect();
        // What a program owns is dropped without the lock.
        drop(gone);
        self.left().absorb(buffer.0.report.take());
        self.end(&buffer.0);
        Ok(())
    }

    /// What waits for the server's threads is not done on one of them, nor where they are not.
    pub(super) fn check_here(&self, what: &'static str) -> Result<(), RemoveError> {
        self.check_origin()?;
        if self.parts.core.is_served_here() { Err(InHandler { what }.into()) } else { Ok(()) }
    }

    /// Ends the server as dropping it does, and returns what it would tell: what went wrong that no [`Server::wait`]
    /// has returned; in a forked child nothing. In an inline handler of this server nothing is returned: another thread
    /// ends the server, which tells it.
    pub fn stop(mut self) -> KernelReport {
        self.shut_down()
    }

    /// Answers what waits, ends the threads, and takes the last report. Done twice, the second time does nothing.
    fn shut_down(&mut self) -> KernelReport {
        // In a forked child there are neither threads nor kernels to be ended, and what was reported is the parent's to
        // tell.
        if self.check_origin().is_err() || std::mem::replace(&mut self.parts.down, true) {
            return KernelReport::default();
        }
        if self.parts.core.is_served_here() {
            self.shut_down_elsewhere();
            return KernelReport::default();
        }
        let parts = &mut *self.parts;
        drop(parts.subscription.take());
        let buffers = parts.core.buffers();
        // All of them have the same time, however many there are.
        let deadline = Instant::now() + Core::PATIENCE;
        for live in buffers.iter() {
            parts.core.retire(live, Status::SERVER_GONE, deadline);
        }
        parts.core.stop();
        for thread in parts.threads.drain(..) {
            // A serving thread guards handlers; should one have panicked all the same, there is nobody to tell.
            let _ = overdue::join(thread, || format!("a server that ends waits for {}", parts.core.handlers_that_run()));
        }
        if let Some((helpers, helping)) = parts.helpers.take() {
            drop(helping);
            helpers.end();
        }
        parts.core.pool.close();
        buffers.iter().for_each(|live| live.tenant.end(&[&parts.core.pool, &parts.builtins]));
        parts.core.join_reapers();
        if let Err(error) = parts.builtins.flush() {
            tell(&format_args!("what kernels printed is incomplete: {error}"));
        }
        #[cfg(feature = "tokio")]
        parts.core.runtime.close();
        match parts.core.trace.as_ref().map(|trace| trace.finish()) {
            None | Some(Ok(0)) => {}
            Some(Ok(lost)) => tell(&format_args!("the trace is incomplete: {lost} spans came faster than they could be written")),
            Some(Err(error)) => tell(&format_args!("the trace is incomplete: {error}")),
        }
        // Nobody looks at it any more, and nobody who did so has anything of it.
        parts.shown = None;
        let mut report = std::mem::take(parts.left.get_mut().unwrap_or_else(PoisonError::into_inner));
        for live in buffers.iter() {
            report.absorb(live.report.take());
        }
        report
    }

    /// The server is dropped by one of its own threads, which cannot wait for itself: another thread ends it.
    #[cold]
    fn shut_down_elsewhere(&mut self) {
        let parts = Parts {
            core: self.parts.core.clone(),
            threads: std::mem::take(&mut self.parts.threads),
            device: self.parts.device.take(),
            subscription: self.parts.subscription.take(),
            helpers: self.parts.helpers.take(),
            shown: self.parts.shown.take(),
            attached: Mutex::new(std::mem::take(&mut *self.attached())),
            plan: self.parts.plan.clone(),
            place: None,
            builtins: self.parts.builtins.clone(),
            left: Mutex::new(std::mem::take(&mut *self.left())),
            down: false,
        };
        let all = Server { parts: Local::new(parts) };
        let all = Arc::new(Mutex::new(Some(all)));
        let theirs = all.clone();
        let take = |all: &Mutex<Option<Server>>| all.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ending = host::spawn("hostcall-ending", StackSize::default(), move || drop(take(&theirs)));
        if let Err(error) = ending {
            tell(&format_args!("a server that an inline handler drops is not ended, because there is no thread to do it: {error}"));
            // Its threads go on, and what they use stays.
            std::mem::forget(take(&all));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let report = self.shut_down();
        if !report.is_success() {
            tell(&format_args!("a server ends with a report that nobody has waited for (`Server::wait` returns it):\n{report}"));
        }
    }
}
