//! Async handlers: futures on a tokio runtime, one for each lane.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::runtime::{Builder, Handle, Runtime as Tokio};

use crate::completion::Completion;
use crate::live::Live;
use crate::panics::guard;
use crate::registry::Slot;
use crate::service::{Failure, ReplyFuture};

/// Where futures run: the user's runtime, or one of the server's own.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    own: Mutex<Option<Tokio>>,
}

impl Runtime {
    /// The runtime given, else the one that the caller is in, else a new one of two threads.
    pub(crate) fn new(given: Option<Handle>) -> std::io::Result<Self> {
        if let Some(handle) = given.or_else(|| Handle::try_current().ok()) {
            return Ok(Self { handle, own: Mutex::new(None) });
        }
        let own = Builder::new_multi_thread().worker_threads(2).thread_name("hostcall-async").enable_all().build()?;
        Ok(Self { handle: own.handle().clone(), own: Mutex::new(Some(own)) })
    }

    /// Runs a lane's future and answers with its result.
    pub(crate) fn spawn(&self, future: ReplyFuture, mut done: Completion) {
        done.start();
        let (live, slot, _) = done.parts();
        let guarded = Guarded { future, live, slot };
        self.handle.spawn(async move {
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

/// A future each of whose polls is guarded against panics: `None` once it has.
struct Guarded {
    future: ReplyFuture,
    live: Arc<Live>,
    slot: Arc<Slot>,
}

impl Future for Guarded {
    type Output = Option<Result<Vec<u32>, Failure>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { future, live, slot } = self.get_mut();
        match guard(live, slot, || future.as_mut().poll(cx)) {
            Some(poll) => poll.map(Some),
            None => Poll::Ready(None),
        }
    }
}
