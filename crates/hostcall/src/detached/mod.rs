//! Calls apart from the port that they came through: carried elsewhere, handled there, and answered here.
//!
//! A message of calls is made a [`Message`], which is data, by [`DeferredBatch::detach`](crate::DeferredBatch::detach).
//! Somebody takes it somewhere: to another thread, process or host. There a [`Runner`] has the same
//! [`Service`](crate::Service)s that a [`Server`](crate::Server) would have, and runs them on messages in the same
//! ways: inline, on a pool, deferred, async. What comes of it is [`Replies`], which is data too.
//! [`DeferredBatch::answer`](crate::DeferredBatch::answer) gives it to the lanes that wait. The crate `hostcall-remote`
//! does all this over a network.
//!
//! Neither side trusts the other: a [`Runner`] checks a message as a server checks what a device wrote, and a batch
//! checks replies.
//!
//! ```
//! use std::sync::mpsc;
//!
//! use hostcall::detached::{Message, Runner};
//! use hostcall::{Definition, Service};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = Definition::builder("Host__twice").argument("u32").result("u32").build()?;
//! let runner = Runner::new();
//! let twice = runner.add(Service::batch(definition, |batch| {
//!     let x = batch.rows().column::<u32>(0).expect("one u32");
//!     (0..batch.len()).for_each(|i| batch.reply(i, &(2 * x.get(i))));
//! }))?;
//! // Lanes 0 and 3 of a wave.
//! let message = Message { mask: 0b1001, units: vec![20, 21], room: 1, ..Message::default() };
//! let (give, replies) = mpsc::channel();
//! twice.run(message, move |replies| _ = give.send(replies))?;
//! assert_eq!(replies.recv()?.units, [40, 42]);
//! # Ok(())
//! # }
//! ```

mod apart;
mod message;
mod runner;
mod shared;

pub use hostcall_abi::ReplyHead;
pub use message::{Invalid, Message, Note, Replies};
pub use runner::{Callable, Caller, Runner};
