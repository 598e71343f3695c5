//! Serving: how a message comes from a port to its handler, and the answer back.
//!
//! ```text
//! threads (park, wake) -> ports (sweep) -> message (take, handle, answer) -> exits (pool, asynchronous, deferred) -> open (gather, answer)
//! ```
//!
//! * [`threads`]: the serving threads and what they share. [`wake`]: when they spin, yield, sleep or park.
//! * [`ports`]: from doorbells to ports. [`turn`]: how long a program keeps a thread while there are others.
//! * [`message`]: the ways of messages: the direct one, and that of all others: taken (copied and checked), handled,
//!   answered. [`put_back`]: memory that a profiler puts back.
//! * [`exits`]: the doors out of it, for handlers that answer later: [`pool`], whose queue is [`fair`],
//!   [`asynchronous`], and the user's own threads.
//! * [`open`]: a message that has left by one of them. [`served`]: a buffer while it is served.
//! * [`help`]: waves of the simulator that serve ports while they wait.

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
pub(crate) mod served;
pub(crate) mod threads;
mod turn;
mod wake;

pub(crate) use help::Helpers;
pub(crate) use open::Open;
pub(crate) use served::{PostBounds, Served};
pub(crate) use threads::{Core, CoreConfig, wait_by};

/// What the threads of a server share, and threads that have not begun: for tests that sweep themselves.
#[cfg(test)]
fn unbegun(services: impl IntoIterator<Item = crate::Service>, threads: usize, helpers: usize) -> std::sync::Arc<Core> {
    let registry = std::sync::Arc::new(crate::service::registry::Registry::new(threads + helpers, false));
    for service in services {
        registry.register(service).unwrap();
    }
    Core::new(CoreConfig {
        registry,
        pool: pool::Pool::new(1, offload::host::StackSize::default()),
        trace: None,
        #[cfg(feature = "tokio")]
        runtime: asynchronous::Runtime::new(None, offload::host::StackSize::default()),
        timed: false,
        modest: true,
        threads,
        helpers,
    })
}
