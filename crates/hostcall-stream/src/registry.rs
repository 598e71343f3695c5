//! The streams that somebody listens to, by number.

use std::sync::atomic::{AtomicU64, Ordering};

use hostcall_abi::stream::Policy;

use crate::handler::Chain;
use crate::schema::Schema;

/// A stream that somebody listens to.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) schema: Schema,
    /// What messages do when their ring is full.
    pub(crate) policy: Policy,
    pub(crate) timed: bool,
    pub(crate) chain: Box<dyn Chain>,
    pub(crate) messages: AtomicU64,
    pub(crate) values: AtomicU64,
}

impl Registered {
    /// Adds what a thread has received.
    pub(crate) fn count(&self, messages: u64, values: u64) {
        // Relaxed: who waits for messages sees the counts by `Progress::advance`, which comes after.
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.values.fetch_add(values, Ordering::Relaxed);
    }
}

/// All of them. A stream's number is its place, from 1.
#[derive(Debug, Default)]
pub(crate) struct Registry(pub(crate) Vec<Registered>);

impl Registry {
    pub(crate) fn get(&self, number: u32) -> Option<&Registered> {
        self.0.get((number as usize).wrapping_sub(1))
    }

    /// Number and stream of each.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u32, &Registered)> {
        (1..).zip(&self.0)
    }
}
