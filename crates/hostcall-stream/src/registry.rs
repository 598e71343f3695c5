//! The streams that somebody listens to, or that are recorded, by number.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use hostcall_abi::stream::Policy;
use hostcall_abi::stream::header::MAX_STREAM;

use crate::filter::Filter;
use crate::handler::{Chain, Part};
use crate::schema::Schema;
use crate::sink::{self, Sink};

/// A stream that somebody listens to, or that is recorded.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) schema: Schema,
    /// What messages do when their ring is full.
    pub(crate) policy: Policy,
    pub(crate) timed: bool,
    /// Whether messages ask whether they are wanted.
    pub(crate) live: bool,
    pub(crate) filter: Mutex<Filter>,
    /// Its handlers; `None`: it is only kept.
    pub(crate) chain: Option<Box<dyn Chain>>,
    /// The sinks that keep it.
    pub(crate) sinks: Vec<Arc<dyn Sink>>,
    pub(crate) messages: AtomicU64,
    pub(crate) values: AtomicU64,
    pub(crate) unhandled: AtomicU64,
}

impl Registered {
    /// A stream that is only recorded, or kept by sinks.
    pub(crate) fn recorded(schema: Schema, sinks: &[Arc<dyn Sink>]) -> Self {
        let sinks = sink::of_stream(sinks, &schema);
        Self {
            policy: schema.policy,
            schema,
            timed: true,
            live: false,
            filter: Mutex::default(),
            chain: None,
            sinks,
            messages: AtomicU64::new(0),
            values: AtomicU64::new(0),
            unhandled: AtomicU64::new(0),
        }
    }

    /// Which of its messages are wanted.
    pub(crate) fn filter(&self) -> MutexGuard<'_, Filter> {
        self.filter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread has of its sinks and handlers; `None`: there are neither.
    pub(crate) fn part(&self) -> Option<Box<dyn Part>> {
        sink::part(&self.schema, &self.sinks, self.chain.as_deref())
    }

    /// Whether a handler or a sink takes its messages.
    pub(crate) fn is_taken(&self) -> bool {
        !self.sinks.is_empty() || self.chain.as_ref().is_some_and(|chain| !chain.is_empty())
    }

    /// Adds what a thread has received, and how many messages of it nobody has handled.
    pub(crate) fn count(&self, messages: u64, values: u64, unhandled: u64) {
        // Relaxed: who waits for messages sees the counts by `Progress::advance`, which comes after.
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.values.fetch_add(values, Ordering::Relaxed);
        self.unhandled.fetch_add(unhandled, Ordering::Relaxed);
    }
}

/// All of them. A stream's number is its place, from 1. Some may come later, none goes.
#[derive(Debug, Default)]
pub(crate) struct Registry(RwLock<Vec<Arc<Registered>>>);

impl Registry {
    pub(crate) fn new(streams: impl Iterator<Item = Registered>) -> Self {
        Self(RwLock::new(streams.map(Arc::new).collect()))
    }

    /// All there are now, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<Arc<Registered>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The streams to be recorded, or to be kept by sinks, whose definitions are not there yet get numbers. The
    /// definition for which there is none left, if there is one.
    pub(crate) fn learn(
        &self,
        schemas: impl IntoIterator<Item = Schema>,
        sinks: &[Arc<dyn Sink>],
        filters: &[(String, Filter)],
    ) -> Option<Schema> {
        let mut streams = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for schema in schemas {
            if streams.iter().any(|stream| stream.schema == schema) {
                continue;
            }
            if streams.len() >= MAX_STREAM as usize {
                return Some(schema);
            }
            let filter = filters.iter().rfind(|(name, _)| *name == schema.name).map(|(_, filter)| *filter);
            let stream = Registered::recorded(schema, sinks);
            streams.push(Arc::new(Registered { live: filter.is_some(), filter: Mutex::new(filter.unwrap_or_default()), ..stream }));
        }
        None
    }
}

/// Number and stream of each.
pub(crate) fn numbered(streams: &[Arc<Registered>]) -> impl Iterator<Item = (u32, &Registered)> {
    (1..).zip(streams.iter().map(|stream| &**stream))
}
