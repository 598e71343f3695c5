//! What was sent and what became of it.

use std::fmt;

use crate::file::Recorded;
use crate::name::Name;
use crate::sink::Sunk;

/// What was counted for one stream, since the [`Streams`](crate::Streams) were started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamCounts {
    /// The stream.
    pub name: Name,
    /// Messages received.
    pub messages: u64,
    /// Values received, those of all lanes of all messages.
    pub values: u64,
    /// Messages dropped on the device for want of room, as their policy says.
    pub dropped: u64,
    /// Messages that waited for room. If their policy is to be dropped, others had taken the room between the look and
    /// the reservation.
    pub waited: u64,
    /// Messages that were not wanted, by what the host said while kernels ran, or that were not chosen as samples.
    pub filtered: u64,
    /// Messages of [`Policy::Latest`](hostcall_abi::stream::Policy::Latest) that were sent and not received: others
    /// overwrote them before anybody asked.
    pub overwritten: u64,
    /// Of those received, messages that nobody handled: their stream has no handler, and is neither recorded nor kept
    /// by a sink; or a handler panicked at their batch, of which other handlers may have seen it.
    pub unhandled: u64,
}

/// What was counted, since the [`Streams`](crate::Streams) were started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The streams that somebody listens to, or that are recorded, by number from 1 on.
    pub streams: Vec<StreamCounts>,
    /// Messages that never became whole, although no kernel runs: those of waves that ended in between. There may be
    /// more: several that follow one another and whose lengths were never stored are one.
    pub torn: u64,
    /// Granules (64 bytes) of rings with which no message began.
    pub malformed: u64,
    /// Batches that a handler did not take, because it panicked.
    pub handler_panics: u64,
    /// A device was lost, or a kernel ran when all was [ended](crate::Streams::end): what was counted there, and what
    /// was on the way, is unknown.
    pub end_unknown: bool,
    /// What was recorded; `None`: nothing was to be.
    pub recording: Option<Box<Recorded>>,
    /// What sinks have kept, in the order in which they were given.
    pub sinks: Vec<Sunk>,
}

impl Summary {
    /// What was counted for a stream.
    pub fn stream(&self, name: &str) -> Option<&StreamCounts> {
        self.streams.iter().find(|stream| stream.name == name)
    }

    /// Whether every message that was sent has been received, but for those that were dropped by policy, and recorded
    /// and kept if it was to be.
    pub fn is_complete(&self) -> bool {
        let received = self.torn == 0 && self.malformed == 0 && self.handler_panics == 0 && !self.end_unknown;
        let kept = self.sinks.iter().all(|sunk| sunk.error.is_none());
        received && kept && self.recording.as_ref().is_none_or(|recording| recording.error.is_none())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, stream) in self.streams.iter().enumerate() {
            let StreamCounts { name, messages, values, dropped, waited, filtered, overwritten, unhandled } = stream;
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{name}: {messages} messages of {values} values")?;
            let more = [
                (dropped, "dropped"),
                (filtered, "filtered"),
                (overwritten, "overwritten"),
                (waited, "waited for room"),
                (unhandled, "handled by nobody"),
            ];
            for (count, what) in more {
                if *count > 0 {
                    write!(f, ", {count} {what}")?;
                }
            }
        }
        for (count, what) in [
            (self.torn, "messages never became whole"),
            (self.malformed, "granules were no message"),
            (self.handler_panics, "batches made a handler panic"),
        ] {
            if count > 0 {
                write!(f, "\n{count} {what}")?;
            }
        }
        if self.end_unknown {
            write!(f, "\nwhat was dropped, and what was on the way, is unknown: the device was lost, or a kernel was ended")?;
        }
        if let Some(recording) = &self.recording {
            write!(f, "\n{recording}")?;
        }
        self.sinks.iter().try_for_each(|sunk| write!(f, "\n{sunk}"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_what_is_not_zero() {
        let stream = StreamCounts { name: "Loss".into(), messages: 3, values: 96, dropped: 2, unhandled: 1, ..StreamCounts::default() };
        let summary = Summary { streams: vec![stream], torn: 1, ..Summary::default() };
        assert_eq!(summary.to_string(), "Loss: 3 messages of 96 values, 2 dropped, 1 handled by nobody\n1 messages never became whole");
        assert!(!summary.is_complete());
    }
}
