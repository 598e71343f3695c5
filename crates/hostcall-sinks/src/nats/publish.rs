//! Offering tables to a server until it has them.

use std::error::Error;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use async_nats::connection::State;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectOptions};
use bytes::Bytes;
use hostcall_stream::sink::SinkError;

use super::SLACK;
use crate::errors::OpenError;
use crate::intake::{Account, Keeper, Piece};
use crate::retry::Offers;
use crate::sites::{self, Written};

/// How long an offer is waited for.
const ACKNOWLEDGED: Duration = Duration::from_secs(5);

/// A server, and the stream on it.
pub(super) struct Server {
    runtime: tokio::runtime::Runtime,
    client: Client,
    context: jetstream::Context,
    config: Config,
    place: String,
    prefix: String,
    retry: Duration,
    /// Bytes of a message at most, if not by what the server says.
    most: usize,
    /// The places in the source that the stream has.
    places: Mutex<Written>,
}

impl Server {
    /// Connects, and makes the stream if it is not there.
    pub(super) fn connect(
        address: &str,
        prefix: String,
        options: ConnectOptions,
        config: Config,
        most: Option<usize>,
        retry: Duration,
    ) -> Result<Self, OpenError> {
        // Without what may be secret.
        let shown = address.rsplit_once('@').map_or(address, |(_, host)| host);
        let place = format!("`{prefix}.>` of NATS at {}", shown.rsplit_once("://").map_or(shown, |(_, host)| host));
        let wrong = |reason: String, fix| OpenError::Nats { place: place.clone(), reason, fix };
        // Two threads: what one of the sink's waits for must not wait for another's.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(OpenError::Thread)?;
        let client = runtime.block_on(options.connect(address));
        let client = client.map_err(|error| wrong(told(&error), "check that it runs there (`nats-server --jetstream`) and knows us"))?;
        let context = {
            // It starts a task.
            let _inside = runtime.enter();
            jetstream::context::ContextBuilder::new().timeout(ACKNOWLEDGED).build(client.clone())
        };
        let stream = runtime.block_on(context.get_or_create_stream(config.clone()));
        let stream =
            stream.map_err(|error| wrong(told(&error), "start it with `--jetstream`, and allow us to make streams, or make it before"))?;
        let there = stream.cached_info().config.clone();
        if !there.subjects.iter().any(|pattern| covers(pattern, &prefix)) {
            let reason = format!("its stream `{}` takes `{}`", there.name, there.subjects.join("`, `"));
            return Err(wrong(reason, "choose another stream with `jetstream`, or another prefix"));
        }
        if retry.saturating_add(SLACK) > there.duplicate_window {
            let (stream, window) = (there.name, there.duplicate_window);
            return Err(OpenError::Doubles { stream, window, retry, longest: window.saturating_sub(SLACK) });
        }
        let streams = usize::try_from(there.max_message_size).ok().filter(|most| *most > 0);
        let most = [most, streams].into_iter().flatten().min().unwrap_or(usize::MAX);
        Ok(Self { runtime, client, context, config, place, prefix, retry, most, places: Mutex::default() })
    }

    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Bytes of a table at most: the server counts headers, too.
    fn room(&self, id: &str) -> usize {
        let headers = 128 + id.len() + self.config.name.len();
        self.client.server_info().max_payload.min(self.most).saturating_sub(headers)
    }

    /// Offers a message once.
    async fn offer(&self, subject: &str, id: &str, payload: Bytes) -> Result<(), Refusal> {
        if self.client.connection_state() != State::Connected {
            return Err(Refusal::NotConnected);
        }
        let message = jetstream::message::PublishMessage::build().payload(payload).message_id(id).expected_stream(&self.config.name);
        match self.context.send_publish(subject.to_owned(), message).await {
            Ok(acknowledged) => acknowledged.await.map(drop).map_err(Refusal::Publish),
            Err(error) => Err(Refusal::Publish(error)),
        }
    }

    /// Offers a message until it is acknowledged.
    fn publish(&self, subject: &str, id: &str, payload: Vec<u8>, account: &Account) -> Result<(), SinkError> {
        let payload = Bytes::from(payload);
        let mut offers = Offers::new(self.retry);
        loop {
            let Err(refusal) = self.runtime.block_on(self.offer(subject, id, payload.clone())) else { return Ok(()) };
            let (kind, lasting, fix) = refusal.meaning();
            let error = refusal.to_string();
            if lasting {
                return Err(account.error(kind, error, fix));
            }
            let Some(pause) = offers.pause(account) else {
                return Err(account.error(kind, format!("{error} ({})", offers.tried()), fix));
            };
            tracing::warn!(%error, id, ?pause, "NATS does not take a message; it is offered again");
            std::thread::sleep(pause);
            if refusal.is_without_stream() {
                // Somebody removed it, or it was in the memory of a server that began anew. An error: the next offer
                // fails, too, and says why.
                let _ = self.runtime.block_on(self.context.get_or_create_stream(self.config.clone()));
            }
        }
    }
}

/// Whether a pattern of subjects takes all those that a prefix and one more word make.
fn covers(pattern: &str, prefix: &str) -> bool {
    let mut words = prefix.split('.');
    let mut patterns = pattern.split('.').peekable();
    while let Some(pattern) = patterns.next() {
        match (pattern, words.next()) {
            (">", _) => return true,
            ("*", Some(_)) => {}
            // The name of a stream, which is the last word.
            ("*", None) => return patterns.peek().is_none(),
            (pattern, Some(word)) if pattern == word => {}
            _ => return false,
        }
    }
    false
}

/// Why the server did not take a message.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("there is no connection to the server")]
    NotConnected,
    #[error("{}", told(.0))]
    Publish(PublishError),
}

impl Refusal {
    /// What it means, whether it lasts, and what helps.
    fn meaning(&self) -> (ErrorKind, bool, &'static str) {
        const AGAIN: &str = "check that the server can be reached, or give it longer with `retry`";
        match self {
            Self::NotConnected => (ErrorKind::NotConnected, false, AGAIN),
            Self::Publish(error) => match error.kind() {
                PublishErrorKind::TimedOut => (ErrorKind::TimedOut, false, AGAIN),
                PublishErrorKind::StreamNotFound => {
                    (ErrorKind::NotFound, false, "check that the server has JetStream, and allow us to make streams")
                }
                PublishErrorKind::MaxPayloadExceeded => (ErrorKind::InvalidInput, true, "give `message_bytes` what the server takes"),
                _ if self.code() == Some(ErrorCode::STREAM_STORE_FAILED) => {
                    (ErrorKind::StorageFull, false, "let the stream be larger (`max_bytes`), or take messages from it")
                }
                _ => (ErrorKind::Other, false, AGAIN),
            },
        }
    }

    /// The server's number of the error.
    fn code(&self) -> Option<ErrorCode> {
        let Self::Publish(error) = self else { return None };
        let mut cause = error.source();
        while let Some(inner) = cause {
            if let Some(error) = inner.downcast_ref::<jetstream::Error>() {
                return Some(error.error_code());
            }
            cause = inner.source();
        }
        None
    }

    fn is_without_stream(&self) -> bool {
        matches!(self, Self::Publish(error) if error.kind() == PublishErrorKind::StreamNotFound)
    }
}

/// An error with its causes, each once.
fn told(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}

/// One thread's messages.
pub(super) struct Publisher {
    server: std::sync::Arc<Server>,
    /// What their numbers begin with: no other thread's or run's do.
    name: String,
    sequence: u64,
    /// Messages of the table that is being sent, which are not acknowledged.
    entering: u64,
}

impl Publisher {
    pub(super) fn new(server: std::sync::Arc<Server>, name: String) -> Self {
        Self { server, name, sequence: 0, entering: 0 }
    }

    fn id(&mut self) -> String {
        self.sequence += 1;
        format!("{}-{}", self.name, self.sequence)
    }

    /// Sends the table of places, if the stream has not got it.
    fn put_places(&mut self, account: &Account) -> Result<(), SinkError> {
        let id = self.id();
        let server = &*self.server;
        // Held meanwhile: others wait until it is there.
        let mut written = server.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(places) = written.news(account).filter(|places| !places.is_empty()) else { return Ok(()) };
        let subject = format!("{}.{}", server.prefix, sites::NAME);
        let payload = sites::to_arrow(&places, Vec::new()).map_err(|error| wrong(account, &error))?;
        server.publish(&subject, &id, payload, account)?;
        written.set(places);
        Ok(())
    }
}

fn wrong(account: &Account, error: &ArrowError) -> SinkError {
    account.error(ErrorKind::Other, error.to_string(), "report it: it is a fault of the writer")
}

/// A table in Arrow's streaming format.
fn encode(rows: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema())?;
    writer.write(rows)?;
    writer.into_inner()
}

/// The rows from `first` to `end` in so many parts, the last one first; where it can be, messages are not cut, which
/// end before the rows `ends`.
fn parts(first: usize, end: usize, count: usize, ends: &[usize]) -> Vec<(usize, usize)> {
    let (mut all, mut begin) = (Vec::new(), first);
    for part in 1..=count {
        let wanted = first + (end - first) * part / count;
        let before = ends[..ends.partition_point(|at| *at <= wanted)].last().copied().filter(|at| *at > begin);
        let stop = if part == count { end } else { before.unwrap_or(wanted) };
        if stop > begin {
            all.push((begin, stop));
            begin = stop;
        }
    }
    all.reverse();
    all
}

impl Keeper for Publisher {
    fn put(&mut self, piece: Piece, account: &Account) -> Result<(), SinkError> {
        let Piece { stream, device, table } = piece;
        self.entering = table.messages();
        self.put_places(account)?;
        let mut ends = Vec::with_capacity(table.runs.len());
        ends.extend(table.runs.iter().scan(0, |rows, run| {
            *rows += run.values as usize;
            Some(*rows)
        }));
        let rows = table.into_batch(stream.arrow.clone(), device);
        let subject = format!("{}.{}", self.server.prefix, stream.label);
        let mut waiting = vec![(0, rows.num_rows())];
        while let Some((first, end)) = waiting.pop() {
            let id = self.id();
            let room = self.server.room(&id);
            let payload = encode(&rows.slice(first, end - first)).map_err(|error| wrong(account, &error))?;
            let bytes = payload.len();
            if bytes > room {
                if end - first == 1 {
                    let message = format!("a value of `{}` takes {bytes} bytes, and the server takes {room}", stream.schema.name);
                    return Err(account.error(ErrorKind::InvalidInput, message, "let the server take larger messages (`max_payload`)"));
                }
                waiting.extend(parts(first, end, bytes.div_ceil(room.max(1)).clamp(2, end - first), &ends));
                continue;
            }
            self.server.publish(&subject, &id, payload, account)?;
            // Those whose last value is there.
            let whole = ends.partition_point(|at| *at <= end) - ends.partition_point(|at| *at <= first);
            account.kept(whole as u64, (end - first) as u64, bytes as u64);
            self.entering -= whole as u64;
        }
        // Those without values, if there are any.
        account.kept(std::mem::take(&mut self.entering), 0, 0);
        Ok(())
    }

    fn flush(&mut self, account: &Account) -> Result<(), SinkError> {
        self.put_places(account)
    }

    fn roll(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self, _: &Account) -> Result<(), SinkError> {
        Ok(())
    }

    fn abandon(&mut self) -> u64 {
        std::mem::take(&mut self.entering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_covers_a_prefix_if_it_takes_all_that_stands_behind() {
        for (pattern, prefix, does) in [
            ("lab.>", "lab", true),
            (">", "lab", true),
            ("lab.*", "lab", true),
            ("*.run7.*", "lab.run7", true),
            ("lab.run7.>", "lab.run7", true),
            ("lab.>", "lab.run7", true),
            ("lab", "lab", false),
            ("lab.run7", "lab", false),
            ("lab.run7", "lab.run7", false),
            ("lab.*.>", "lab", false),
            ("lab.*.x", "lab", false),
            ("other.>", "lab", false),
            ("lab.*", "lab.run7", false),
        ] {
            assert_eq!(covers(pattern, prefix), does, "{pattern} {prefix}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_all_rows_once_in_order(lengths in prop::collection::vec(1..9usize, 1..40), count in 1..30usize) {
            let mut sum = 0;
            let ends: Vec<usize> = lengths.iter().map(|length| { sum += length; sum }).collect();
            let mut all = parts(0, sum, count, &ends);
            all.reverse();
            prop_assert_eq!((all[0].0, all[all.len() - 1].1), (0, sum));
            prop_assert!(all.iter().all(|(first, end)| first < end) && all.windows(2).all(|two| two[0].1 == two[1].0));
            prop_assert!(count == 1 || sum == 1 || count > sum || all.len() > 1 || lengths.len() == 1, "{:?}", all);
        }
    }
}
