//! What is shown. All counts are since the server or the streams were started; two views make a rate.
//!
//! Fields are added, and none is taken away or changes its meaning: who reads ignores what it does not know, and takes
//! what is missing for nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A process at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// Its number.
    pub pid: u32,
    /// Its program's file name.
    pub command: String,
    /// Seconds since it began to show itself, by its monotonic clock.
    pub seconds: f64,
    /// Its servers, the oldest first.
    pub servers: Vec<Server>,
    /// Its streams, the oldest first.
    pub streams: Vec<Streams>,
}

/// A server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// What tells it from the other servers of the process.
    pub number: u64,
    /// The device's name; empty if the server knows of none.
    pub device: String,
    /// Serving threads.
    pub threads: u64,
    /// Threads of handlers that may block.
    pub pool: Pool,
    /// The programs that it serves: one for each port buffer.
    pub programs: Vec<Program>,
    /// Its services, by number.
    pub services: Vec<Service>,
    /// Calls that have arrived and are not answered. Those that are open longest come first, and those that are not
    /// listed are counted in `waiting_unlisted`.
    pub waiting: Vec<Waiting>,
    /// Open calls that are not listed.
    pub waiting_unlisted: u64,
}

/// The threads on which a server's blocking handlers run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pool {
    /// Threads there are.
    pub threads: u64,
    /// Handlers that run.
    pub running: u64,
    /// Jobs that wait for a thread, or for their program's turn.
    pub queued: u64,
    /// The most handlers of one program that run at a time.
    pub most: u64,
}

/// The owner of a port buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// What tells it from every other program of the process.
    pub number: u64,
    /// The programs' names, if they are known; several may share a port buffer.
    pub names: Vec<String>,
    /// Ports it has.
    pub ports: u64,
    /// Ports whose calls other threads answer: open calls.
    pub open: u64,
    /// Posts that have arrived and are not handled.
    pub posts: u64,
    /// The bytes that those keep.
    pub post_bytes: u64,
    /// The most of such posts before kernels wait.
    pub most_posts: u64,
    /// Descriptors of the system that it has.
    pub descriptors: u64,
    /// Things that its calls wait for.
    pub waits: u64,
    /// Bytes that it has printed and that are not written.
    pub printed: u64,
}

/// A service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Its name on the wire.
    pub name: String,
    /// Its number; 0: the default handler.
    pub number: u16,
    /// Messages: calls that lanes of one wave made together count once.
    pub messages: u64,
    /// Calls, one for each lane.
    pub calls: u64,
    /// Calls that did not end well.
    pub failed: u64,
    /// Bytes that came.
    pub bytes_in: u64,
    /// Bytes that went back.
    pub bytes_out: u64,
    /// How long calls took on the host, from the sweep that found them to their answer.
    pub times: Times,
}

/// Calls that have arrived and are not answered: those of one message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// The service's name on the wire.
    pub service: String,
    /// The port.
    pub port: u32,
    /// The lanes of the wave that wait, as a mask.
    pub lanes: u64,
    /// Seconds since the message came. Of a handler that a serving thread is in: since it was seen there first, by
    /// whoever looks at this process.
    pub seconds: f64,
}

/// Streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Streams {
    /// What tells them from others of the process.
    pub number: u64,
    /// Threads that read.
    pub threads: u64,
    /// Those that somebody listens to, that are recorded, or that a sink keeps.
    pub streams: Vec<Stream>,
    /// Messages that never became whole.
    pub torn: u64,
    /// Granules with which no message began.
    pub malformed: u64,
    /// Batches at which a handler panicked.
    pub handler_panics: u64,
}

/// A stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stream {
    /// Its name.
    pub name: String,
    /// Messages received.
    pub messages: u64,
    /// Values received.
    pub values: u64,
    /// Messages that nobody handled.
    pub unhandled: u64,
    /// Messages dropped on the device. As `waited`, it is known since somebody last waited for the streams.
    pub dropped: u64,
    /// Messages that waited for room.
    pub waited: u64,
}

/// How often something took how long: pairs of nanoseconds (two digits of them are exact) and a count, the shortest
/// first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(pub Vec<(u64, u64)>);

impl Times {
    /// How often something was counted.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// What was counted since an earlier view.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut before = earlier.0.iter().peekable();
        let left = self.0.iter().filter_map(|&(time, count)| {
            while before.next_if(|(earlier, _)| *earlier < time).is_some() {}
            let known = before.next_if(|(earlier, _)| *earlier == time).map_or(0, |(_, count)| *count);
            let more = count.saturating_sub(known);
            (more > 0).then_some((time, more))
        });
        Self(left.collect())
    }

    /// The time within which this share (0 to 1) of all was done; `None`: nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let all = self.count();
        // (A number of calls has at most as many digits as are exact here.)
        let wanted = ((all as f64 * share).ceil() as u64).clamp(1, all.max(1));
        let mut seen = 0u64;
        self.0.iter().find_map(|&(time, count)| {
            seen = seen.saturating_add(count);
            (seen >= wanted).then(|| Duration::from_nanos(time))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_what_was_counted_since() {
        let earlier = Times(vec![(100, 5), (200, 3)]);
        let now = Times(vec![(50, 1), (100, 5), (200, 101), (9000, 1)]);
        let since = now.since(&earlier);
        assert_eq!(since.0, [(50, 1), (200, 98), (9000, 1)]);
        assert_eq!(since.count(), 100);
        let at = |share| since.quantile(share).map(|time| time.as_nanos());
        assert_eq!(
            [at(0.0), at(0.01), at(0.02), at(0.99), at(0.999), at(1.0)],
            [Some(50), Some(50), Some(200), Some(200), Some(9000), Some(9000)]
        );
        assert_eq!(Times::default().quantile(0.5), None);
        assert_eq!(earlier.since(&now), Times::default(), "a server that began anew counts nothing less than nothing");
    }

    #[test]
    fn a_view_of_another_version_is_read_as_far_as_it_is_known() {
        let text = r#"{"pid":7,"servers":[{"number":1,"colour":"red","services":[{"name":"a","times":[[5,2]]}]}],"more":[1]}"#;
        let view: View = serde_json::from_str(text).expect("a view");
        assert_eq!((view.pid, view.servers[0].services[0].times.count(), view.streams.len()), (7, 2, 0));
    }
}
