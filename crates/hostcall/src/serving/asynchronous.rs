//! Async handlers: futures on a tokio runtime, one for each lane.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use offload::host::{self, StackSize};
use tokio::runtime::{Builder, Handle, Runtime as Tokio};

use crate::record::{Spanned, guard};
use crate::service::answer::Answer;
use crate::service::handler::ReplyFuture;
use crate::service::lanes::Facts;
use crate::service::{Completion, Failure, HandlerError};

/// Where futures run: the user's runtime, or one of the server's own, which starts with the first async service.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: OnceLock<Handle>,
    own: Mutex<Option<Tokio>>,
    stack: StackSize,
}

impl Runtime {
    /// On the runtime given, else on a new one of two threads. (Not on the one that the caller is in: it may be the
    /// thread that waits for the kernel.)
    pub(crate) fn new(given: Option<Handle>, stack: StackSize) -> Self {
        let handle = given.map_or_else(OnceLock::new, OnceLock::from);
        Self { handle, own: Mutex::new(None), stack }
    }

    /// Starts a runtime if there is none: when an async service is registered.
    pub(crate) fn warm_up(&self) -> std::io::Result<()> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if self.handle.get().is_none() {
            let mut builder = Builder::new_multi_thread();
            builder
                .worker_threads(2)
                .thread_name("hostcall-async")
                .thread_stack_size(host::stack_bytes(self.stack))
                .on_thread_start(host::entered);
            let runtime = builder.enable_all().build()?;
            let _ = self.handle.set(runtime.handle().clone());
            *own = Some(runtime);
        }
        Ok(())
    }

    /// Runs a lane's future and answers with its result.
    pub(super) fn spawn(&self, future: ReplyFuture, span: Spanned, message: &Arc<dyn Answer>, done: Completion) {
        let guarded = Guarded { future, span, message: message.clone() };
        let Some(handle) = self.handle.get() else {
            return done.fail(HandlerError::new(0, "there is no runtime for async handlers"));
        };
        handle.spawn(async move {
            match guarded.await {
                Some(Ok(units)) => done.reply_units(&units),
                Some(Err(failure)) => done.fail(failure),
                None => done.fail(Failure::Panicked),
            }
        });
    }

    /// Drops the futures of the server's own runtime; their completions answer.
    pub(crate) fn close(&self) {
        if let Some(own) = self.own.lock().unwrap_or_else(PoisonError::into_inner).take() {
            own.shutdown_background();
        }
    }
}

/// A future each of whose polls is within its call's span, and guarded against panics: `None` once it has.
struct Guarded {
    future: ReplyFuture,
    /// Each poll is within it.
    span: Spanned,
    message: Arc<dyn Answer>,
}

impl Future for Guarded {
    type Output = Option<Result<Vec<u32>, Failure>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { future, span, message } = self.get_mut();
        let Facts { report, service, .. } = message.facts();
        match span.within(|| guard(report, service.name(), || future.as_mut().poll(cx))) {
            Some(poll) => poll.map(Some),
            None => Poll::Ready(None),
        }
    }
}
