//! The host's side of one `open` to `close`, and who begins it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Waker};

use super::exchange::{Session, TURN, Turn};
use super::port::Port;

/// Exchanges of one session in one turn.
pub(super) const EXCHANGES: u32 = 32;

/// Who knows what opcodes mean.
pub(crate) trait Serves: Send + Sync {
    /// A session for what a client has opened a port for; `None` if that is over, because nothing had to be waited
    /// for.
    fn session(&self, port: Port, opcode: u32) -> Option<Session>;

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
pub(super) fn run(session: Session, may_block: bool) -> Turned {
    turn(may_block, move || Some(session))
}

/// A turn of a session that may have to begin. Who calls this tells the client.
pub(super) fn turn(may_block: bool, session: impl FnOnce() -> Option<Session>) -> Turned {
    TURN.set(Turn { may_block, exchanges: EXCHANGES, wants_to_block: false, tells: true });
    // Unwind safety: a session that has panicked is dropped, and its client goes on.
    let polled = catch_unwind(AssertUnwindSafe(move || {
        let mut session = session()?;
        let is_over = session.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        (!is_over).then_some(session)
    }));
    let Turn { wants_to_block, .. } = TURN.replace(Turn::NONE);
    match polled {
        Ok(Some(session)) if wants_to_block => Turned::WantsToBlock(session),
        Ok(Some(session)) => Turned::Waits(session),
        Ok(None) | Err(_) => Turned::Over,
    }
}
