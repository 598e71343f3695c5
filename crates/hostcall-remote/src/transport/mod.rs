//! How requests get to workers and answers back: through NATS, or within the process.

mod local;
#[cfg(feature = "nats")]
mod nats;

use std::sync::Arc;

use bytes::Bytes;

pub(crate) use local::Hub;
#[cfg(feature = "nats")]
pub(crate) use nats::{Access, Broker};

use crate::callers::Name;
use crate::errors::RemoteError;

/// Bytes of a request or answer at most, whatever the broker takes.
pub(crate) const MOST_BYTES: usize = 512 << 10;

/// What a caller hears, with the number of the request.
#[derive(Debug)]
pub(crate) enum Heard {
    Answer(Bytes),
    /// Nobody serves it.
    Nobody,
}

/// Who is told of a caller's answers, with the number of the request. It takes long for nothing.
pub(crate) type Ear = Arc<dyn Fn(u64, Heard) + Send + Sync>;

/// Why something was not sent.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unsent(pub(crate) String);

/// One connection.
#[derive(Debug)]
pub(crate) enum Transport {
    Local(local::Link),
    #[cfg(feature = "nats")]
    Nats(Box<nats::Link>),
}

impl Transport {
    /// Where it leads, without secrets.
    pub(crate) fn place(&self) -> &str {
        match self {
            Self::Local(_) => "this process",
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.place(),
        }
    }

    /// Bytes of a message at most.
    pub(crate) fn most_bytes(&self) -> usize {
        match self {
            Self::Local(_) => MOST_BYTES,
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.most_bytes(),
        }
    }

    /// Whether what is sent now has a way to go.
    pub(crate) fn is_connected(&self) -> bool {
        match self {
            Self::Local(_) => true,
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.is_connected(),
        }
    }

    /// Sends a request to one of those who listen. What is answered goes to the connection's ear.
    pub(crate) async fn send(&self, subject: &str, number: u64, body: Bytes) -> Result<(), Unsent> {
        match self {
            Self::Local(link) => {
                link.send(subject, number, body);
                Ok(())
            }
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.send(subject, number, body).await,
        }
    }

    /// The same without waiting; `None`: the connection takes nothing at the moment.
    pub(crate) fn try_send(&self, subject: &str, number: u64, body: Bytes) -> Option<Result<(), Unsent>> {
        match self {
            Self::Local(link) => {
                link.send(subject, number, body);
                Some(Ok(()))
            }
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.try_send(subject, number, body),
        }
    }

    /// Gives a message to whoever keeps it until a worker has handled it. With the same `id` it is kept once.
    pub(crate) async fn keep(&self, subject: &str, id: &str, body: Bytes) -> Result<(), Unsent> {
        #[cfg(not(feature = "nats"))]
        let _ = id;
        match self {
            Self::Local(link) => {
                link.keep(subject, body);
                Ok(())
            }
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.keep(subject, id, body).await,
        }
    }

    /// Takes requests, together with others of the group.
    pub(crate) async fn listen(&self, subject: &str, group: &str) -> Result<Requests, RemoteError> {
        #[cfg(not(feature = "nats"))]
        let _ = group;
        match self {
            Self::Local(link) => Ok(Requests::Local(link.listen(subject))),
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.listen(subject, group).await.map(Requests::Nats),
        }
    }

    /// Takes what is kept.
    pub(crate) async fn take_kept(&self, subject: &str) -> Result<Requests, RemoteError> {
        match self {
            Self::Local(link) => Ok(Requests::LocalKept(link.take_kept(subject))),
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.take_kept(subject).await.map(|taken| Requests::NatsKept(Box::new(taken))),
        }
    }

    /// Whoever sends to what we listen to finds us from now on.
    pub(crate) async fn settle(&self) -> Result<(), RemoteError> {
        match self {
            Self::Local(_) => Ok(()),
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.settle().await,
        }
    }

    /// All that was sent has left.
    pub(crate) async fn flush(&self) {
        match self {
            Self::Local(_) => {}
            #[cfg(feature = "nats")]
            Self::Nats(link) => link.flush().await,
        }
    }
}

/// Requests as they come.
#[derive(Debug)]
pub(crate) enum Requests {
    Local(local::Requests),
    LocalKept(local::Kept),
    #[cfg(feature = "nats")]
    Nats(nats::Requests),
    #[cfg(feature = "nats")]
    NatsKept(Box<nats::Kept>),
}

impl Requests {
    /// The next one; `None`: there will be no more.
    pub(crate) async fn next(&mut self) -> Option<Request> {
        match self {
            Self::Local(requests) => requests.next().await,
            Self::LocalKept(kept) => Some(kept.next().await),
            #[cfg(feature = "nats")]
            Self::Nats(requests) => requests.next().await,
            #[cfg(feature = "nats")]
            Self::NatsKept(kept) => kept.next().await,
        }
    }

    /// No more are wanted: those that are on their way still come, then `None`.
    pub(crate) async fn end(&mut self) {
        match self {
            Self::Local(requests) => requests.end(),
            Self::LocalKept(_) => {}
            #[cfg(feature = "nats")]
            Self::Nats(requests) => requests.end().await,
            #[cfg(feature = "nats")]
            Self::NatsKept(_) => {}
        }
    }
}

/// A request, and the way back.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) body: Bytes,
    pub(crate) back: Back,
}

/// The way back of a request.
#[derive(Debug)]
pub(crate) enum Back {
    Local(local::Back),
    /// Nobody waits; it is kept until it is said to be handled.
    LocalKept(local::KeptOne),
    #[cfg(feature = "nats")]
    Nats(nats::Back),
    #[cfg(feature = "nats")]
    NatsKept(nats::KeptOne),
}

impl Back {
    /// Whether answers go nowhere.
    pub(crate) fn is_kept(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::LocalKept(_) => true,
            #[cfg(feature = "nats")]
            Self::Nats(_) => false,
            #[cfg(feature = "nats")]
            Self::NatsKept(_) => true,
        }
    }

    /// Whose request it is.
    pub(crate) fn caller(&self) -> Name {
        match self {
            Self::Local(back) => Name::Local(back.caller()),
            #[cfg(feature = "nats")]
            Self::Nats(back) => Name::Inbox(back.inbox().into()),
            Self::LocalKept(_) => Name::Keeper,
            #[cfg(feature = "nats")]
            Self::NatsKept(_) => Name::Keeper,
        }
    }

    /// Answers.
    pub(crate) async fn answer(&self, body: Bytes) -> Result<(), Unsent> {
        match self {
            Self::Local(back) => {
                back.answer(body);
                Ok(())
            }
            #[cfg(feature = "nats")]
            Self::Nats(back) => back.answer(body).await,
            Self::LocalKept(_) => Ok(()),
            #[cfg(feature = "nats")]
            Self::NatsKept(_) => Ok(()),
        }
    }

    /// What was kept has been handled: it need not be kept any longer.
    pub(crate) async fn handled(&self) -> Result<(), Unsent> {
        match self {
            Self::Local(_) => Ok(()),
            Self::LocalKept(one) => {
                one.handled();
                Ok(())
            }
            #[cfg(feature = "nats")]
            Self::Nats(_) => Ok(()),
            #[cfg(feature = "nats")]
            Self::NatsKept(one) => one.handled().await,
        }
    }
}
