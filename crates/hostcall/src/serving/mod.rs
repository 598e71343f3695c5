//! Serving: how a message comes from a port to its handler, and the answer back.
//!
//! ```text
//! threads (park, wake) -> ports (sweep) -> message (take, handle, answer) -> exits (pool, asynchronous, deferred) -> open (gather, answer)
//! ```
//!
//! * [`threads`]: the serving threads and what they share. [`wake`]: when they spin, yield, sleep or park.
//! * [`ports`]: from doorbells to ports. [`turn`]: how long a program keeps a thread while there are others.
//! * [`message`]: the one route of all messages: taken (copied and checked), handled, answered.
//! * [`exits`]: the doors out of it, for handlers that answer later: [`pool`], whose queue is [`fair`],
//!   [`asynchronous`], and the user's own threads.
//! * [`open`]: a message that has left by one of them. [`served`]: a buffer while it is served.
//! * [`help`]: waves of the simulator that serve ports while they wait.
//! * [`running`]: what serving threads are in, for whoever waits too long.

#[cfg(feature = "tokio")]
pub(crate) mod asynchronous;
pub(crate) mod exits;
mod fair;
mod help;
pub(crate) mod message;
mod open;
pub(crate) mod pool;
pub(crate) mod ports;
mod put_back;
pub(crate) mod running;
pub(crate) mod served;
pub(crate) mod threads;
mod turn;
mod wake;

pub(crate) use help::Helpers;
pub(crate) use open::Open;
pub(crate) use served::{PostBounds, Served};
pub(crate) use threads::{Core, CoreConfig, wait_by};
