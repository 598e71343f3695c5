//! The host's side of one `open` to `close`, and who begins it.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::port::{Port, TURN, Turn};

/// Exchanges of one session in one turn.
pub(super) const EXCHANGES: u32 = 32;

/// The host's side of what a client does with a port, from its `open` to its `close`.
pub(crate) type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Who knows what opcodes mean.
pub(crate) trait Serves: Send + Sync {
    /// A session for what a client has opened a port for.
    fn session(&self, port: Port, opcode: u32) -> Session;

    /// Whether it has a meaning.
    fn knows(&self, opcode: u32) -> bool;

    /// The client's program has ended.
    fn end(&self);
}

/// How a turn of a session ended.
pub(super) enum Turned {
    Over,
    Waits(Session),
    WantsToBlock(Session),
}

/// A turn of a session.
pub(super) fn run(mut session: Session, may_block: bool) -> Turned {
    TURN.set(Turn { may_block, exchanges: EXCHANGES, wants_to_block: false });
    // Unwind safety: a session that has panicked is dropped, and its client goes on.
    let polled = catch_unwind(AssertUnwindSafe(move || match session.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(()) => None,
        Poll::Pending => Some(session),
    }));
    match polled {
        Ok(Some(session)) if TURN.get().wants_to_block => Turned::WantsToBlock(session),
        Ok(Some(session)) => Turned::Waits(session),
        Ok(None) | Err(_) => Turned::Over,
    }
}
