//! Through a NATS server.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy};
use async_nats::jetstream::{self, AckKind, message::PublishMessage};
use async_nats::{Client, ConnectOptions, Event, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};

use super::{Ear, Heard, MOST_BYTES, Request, Unsent};
use crate::errors::RemoteError;

/// What a message takes besides its body, of what the server lets a message have: headers, should there be some.
const HEADERS: usize = 512;
/// For how long kept messages are known, so that one that is offered again is kept once.
const KNOWN: Duration = Duration::from_secs(120);
/// How long the server waits for a worker to say that a kept message was handled, before it gives it to another one.
const HANDLED: Duration = Duration::from_secs(30);
/// Kept messages that workers have and have not handled.
const TAKEN: i64 = 64;
/// How long the server may take to do what a worker asks of it when it starts.
const SETTLED: Duration = Duration::from_secs(10);
/// Bytes that are kept of a subject.
const KEPT_BYTES: i64 = 1 << 30;

/// Who we are.
#[derive(Clone, Default)]
pub(crate) struct Access {
    pub(crate) credentials: Option<PathBuf>,
    pub(crate) nkey: Option<PathBuf>,
    pub(crate) password: Option<PathBuf>,
    pub(crate) roots: Option<PathBuf>,
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    pub(crate) require_tls: bool,
}

/// A server, or several of a cluster, and who we are there.
#[derive(Clone)]
pub(crate) struct Broker {
    pub(crate) url: String,
    pub(crate) access: Access,
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nats").field(&self.place()).finish()
    }
}

fn read(path: &PathBuf) -> Result<String, RemoteError> {
    std::fs::read_to_string(path).map_err(|source| RemoteError::File { path: path.clone(), source })
}

impl Broker {
    /// The addresses without what may be secret.
    pub(crate) fn place(&self) -> String {
        let shown = |url: &str| {
            let host = url.rsplit_once('@').map_or(url, |(_, host)| host);
            host.rsplit_once("://").map_or(host, |(_, host)| host).trim().to_owned()
        };
        self.url.split(',').map(shown).collect::<Vec<_>>().join(", ")
    }

    async fn options(&self) -> Result<ConnectOptions, RemoteError> {
        let Access { credentials, nkey, password, roots, certificate, require_tls } = &self.access;
        let mut options = ConnectOptions::new().require_tls(*require_tls);
        if let Some(path) = credentials {
            let wrong = |_| RemoteError::Credentials { path: path.clone(), expected: "file of NATS credentials (a JWT and a seed)" };
            options = options.credentials(&read(path)?).map_err(wrong)?;
        }
        if let Some(path) = nkey {
            options = options.nkey(read(path)?.trim().to_owned());
        }
        if let Some(path) = password {
            let text = read(path)?;
            let wrong = || RemoteError::Credentials { path: path.clone(), expected: "line of the form USER:PASSWORD" };
            let (user, password) = text.trim_end_matches(['\r', '\n']).split_once(':').ok_or_else(wrong)?;
            options = options.user_and_password(user.to_owned(), password.to_owned());
        }
        for path in roots.iter().chain(certificate.iter().flat_map(|(certificate, key)| [certificate, key])) {
            // So that it is this file that is named.
            read(path)?;
        }
        if let Some(path) = roots {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        Ok(options)
    }

    /// Connects. `waiting`: messages of one subscription that may wait to be looked at.
    pub(crate) async fn connect(&self, name: &str, ear: Option<Ear>, waiting: usize) -> Result<Link, RemoteError> {
        let place = self.place();
        let wrong = |error: &dyn Error| RemoteError::Broker {
            place: place.clone(),
            reason: told(error),
            fix: "check that `nats-server` runs there, and that it knows us",
        };
        let told_place = place.clone();
        let options = self.options().await?.name(name).subscription_capacity(waiting).event_callback(move |event| {
            match event {
                Event::SlowConsumer(_) => {
                    tracing::warn!(place = told_place, "requests came faster than they were looked at: some are lost")
                }
                Event::ServerError(error) => tracing::warn!(place = told_place, %error, "NATS says"),
                event => tracing::info!(place = told_place, %event, "connection to NATS"),
            }
            async {}
        });
        let addresses: Vec<&str> = self.url.split(',').map(str::trim).collect();
        let client = options.connect(addresses).await.map_err(|error| wrong(&error))?;
        let context = jetstream::context::ContextBuilder::new().timeout(Duration::from_secs(5)).build(client.clone());
        let mut inbox = String::new();
        if let Some(ear) = ear {
            inbox = client.new_inbox();
            let answers = client.subscribe(format!("{inbox}.*")).await.map_err(|error| wrong(&error))?;
            tokio::spawn(hear(answers, ear));
        }
        Ok(Link { client, context, inbox, place })
    }
}

/// Passes on what comes to an inbox.
async fn hear(mut answers: Subscriber, ear: Ear) {
    while let Some(message) = answers.next().await {
        let Some(number) = message.subject.rsplit('.').next().and_then(|number| number.parse().ok()) else { continue };
        let heard = match message.status {
            Some(StatusCode::NO_RESPONDERS) => Heard::Nobody,
            _ => Heard::Answer(message.payload),
        };
        ear(number, heard);
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

fn unsent(error: impl Error) -> Unsent {
    Unsent(told(&error))
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Link {
    client: Client,
    context: jetstream::Context,
    inbox: String,
    place: String,
}

impl Link {
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    pub(super) fn most_bytes(&self) -> usize {
        self.client.max_payload().saturating_sub(HEADERS).min(MOST_BYTES)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    pub(super) async fn send(&self, subject: &str, number: u64, body: Bytes) -> Result<(), Unsent> {
        self.client.publish_with_reply(subject.to_owned(), format!("{}.{number}", self.inbox), body).await.map_err(unsent)
    }

    pub(super) fn try_send(&self, subject: &str, number: u64, body: Bytes) -> Option<Result<(), Unsent>> {
        // Dropped where it would wait, it has sent nothing.
        self.send(subject, number, body).now_or_never()
    }

    /// Waits until the server has done all that was asked of it: a message to ourselves comes back behind it.
    pub(super) async fn settle(&self) -> Result<(), RemoteError> {
        const FIX: &str = "allow it to publish and subscribe to `_INBOX.>`";
        let inbox = self.client.new_inbox();
        let mut echo = self.client.subscribe(inbox.clone()).await.map_err(|error| self.wrong(&error, FIX))?;
        self.client.publish(inbox, Bytes::new()).await.map_err(|error| self.wrong(&error, FIX))?;
        match tokio::time::timeout(SETTLED, echo.next()).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) | Err(_) => {
                let reason = format!("it did not answer within {} s", SETTLED.as_secs());
                Err(RemoteError::Broker { place: self.place.clone(), reason, fix: FIX })
            }
        }
    }

    pub(super) async fn flush(&self) {
        // An error: the connection is gone, and with it what was sent.
        let _ = self.client.flush().await;
    }

    fn wrong(&self, error: &dyn Error, fix: &'static str) -> RemoteError {
        RemoteError::Broker { place: self.place.clone(), reason: told(error), fix }
    }

    /// The JetStream stream that keeps a subject.
    async fn stream(&self, subject: &str) -> Result<jetstream::stream::Stream, jetstream::context::CreateStreamError> {
        let name: String = subject.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let config = Config {
            name,
            subjects: vec![subject.to_owned()],
            retention: RetentionPolicy::WorkQueue,
            // Otherwise the oldest would go, and nobody would hear of it.
            discard: DiscardPolicy::New,
            max_bytes: KEPT_BYTES,
            duplicate_window: KNOWN,
            description: Some("posts of kernels (hostcall)".into()),
            ..Config::default()
        };
        self.context.get_or_create_stream(config).await
    }

    pub(super) async fn keep(&self, subject: &str, id: &str, body: Bytes) -> Result<(), Unsent> {
        let publish = async || {
            let message = PublishMessage::build().payload(body.clone()).message_id(id);
            self.context.send_publish(subject.to_owned(), message).await?.await
        };
        match publish().await {
            Err(error) if error.kind() == jetstream::context::PublishErrorKind::StreamNotFound => {
                self.stream(subject).await.map_err(unsent)?;
                publish().await.map(drop).map_err(unsent)
            }
            kept => kept.map(drop).map_err(unsent),
        }
    }

    pub(super) async fn listen(&self, subject: &str, group: &str) -> Result<Requests, RemoteError> {
        const FIX: &str = "allow this worker to subscribe to `hostcall.>`";
        let subscriber =
            self.client.queue_subscribe(subject.to_owned(), group.to_owned()).await.map_err(|error| self.wrong(&error, FIX))?;
        Ok(Requests { subscriber, client: self.client.clone() })
    }

    pub(super) async fn take_kept(&self, subject: &str) -> Result<Kept, RemoteError> {
        const FIX: &str = "start the server with `--jetstream`, and allow this worker to make streams and consumers";
        let stream = self.stream(subject).await.map_err(|error| self.wrong(&error, FIX))?;
        let config = pull::Config {
            durable_name: Some("hostcall".into()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: HANDLED,
            max_ack_pending: TAKEN,
            ..pull::Config::default()
        };
        let consumer: PullConsumer = stream.get_or_create_consumer("hostcall", config).await.map_err(|error| self.wrong(&error, FIX))?;
        let messages = consumer.stream().max_messages_per_batch(8).messages().await.map_err(|error| self.wrong(&error, FIX))?;
        Ok(Kept { messages })
    }
}

/// Requests of one subject.
#[derive(Debug)]
pub(crate) struct Requests {
    subscriber: Subscriber,
    client: Client,
}

impl Requests {
    pub(super) async fn next(&mut self) -> Option<Request> {
        loop {
            let message = self.subscriber.next().await?;
            // Whoever wants no answer sent no request.
            if let Some(subject) = message.reply {
                let back = Back { client: self.client.clone(), subject };
                return Some(Request { body: message.payload, back: super::Back::Nats(back) });
            }
        }
    }

    pub(super) async fn end(&mut self) {
        // An error: the connection is gone, and the stream ends as well.
        let _ = self.subscriber.drain().await;
    }
}

/// The way back.
#[derive(Debug)]
pub(crate) struct Back {
    client: Client,
    subject: async_nats::Subject,
}

impl Back {
    /// Where answers to all requests of the connection go.
    pub(super) fn inbox(&self) -> &str {
        self.subject.rsplit_once('.').map_or(&*self.subject, |(inbox, _)| inbox)
    }

    pub(super) async fn answer(&self, body: Bytes) -> Result<(), Unsent> {
        self.client.publish(self.subject.clone(), body).await.map_err(unsent)
    }
}

/// What JetStream keeps of one subject.
pub(crate) struct Kept {
    messages: pull::Stream,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl Kept {
    pub(super) async fn next(&mut self) -> Option<Request> {
        loop {
            match self.messages.next().await? {
                Ok(message) => {
                    let (message, acker) = message.split();
                    return Some(Request { body: message.payload, back: super::Back::NatsKept(KeptOne(acker)) });
                }
                // It asks again by itself; a server that has begun anew takes a moment.
                Err(error) => {
                    tracing::warn!(error = told(&error), "kept posts");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
            }
        }
    }
}

/// One that was taken. If it is not said to be handled, the server gives it to another worker.
pub(crate) struct KeptOne(jetstream::message::Acker);

impl fmt::Debug for KeptOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptOne").finish_non_exhaustive()
    }
}

impl KeptOne {
    pub(super) async fn handled(&self) -> Result<(), Unsent> {
        self.0.ack_with(AckKind::Ack).await.map_err(|error| Unsent(error.to_string()))
    }
}
