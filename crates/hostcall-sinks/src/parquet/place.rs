//! Where files go, and how often that is tried.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hostcall_stream::sink::SinkError;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

use crate::errors::OpenError;
use crate::intake::Account;
use crate::part;
use crate::retry::Offers;

/// A store, and a path in it.
#[derive(Debug)]
pub(super) struct Place {
    store: Arc<dyn ObjectStore>,
    prefix: Key,
    name: String,
    retry: Duration,
    runtime: tokio::runtime::Runtime,
}

/// Names the parts of this run, so that they are no other's.
pub(crate) fn run() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_nanos(), std::process::id())
}

impl Place {
    pub(super) fn directory(path: &Path, retry: Duration) -> Result<Self, OpenError> {
        let wrong = |source| OpenError::Path { path: path.into(), source };
        part::writable(path)?;
        let store = LocalFileSystem::new_with_prefix(path).map_err(|error| wrong(io::Error::other(error.to_string())))?;
        Self::new(Arc::new(store), Key::default(), format!("`{}`", path.display()), retry)
    }

    pub(super) fn store(store: Arc<dyn ObjectStore>, prefix: Key, retry: Duration) -> Result<Self, OpenError> {
        let name = format!("`{prefix}` of {store}");
        Self::new(store, prefix, name, retry)
    }

    pub(super) fn url(url: &str, retry: Duration) -> Result<Self, OpenError> {
        let wrong = |reason: String| OpenError::Url { url: url.into(), reason };
        let parsed = url.parse().map_err(|error| wrong(format!("{error}")))?;
        let environment = std::env::vars().map(|(key, value)| (key.to_ascii_lowercase(), value));
        let (store, prefix) = object_store::parse_url_opts(&parsed, environment).map_err(|error| wrong(error.to_string()))?;
        Self::new(store.into(), prefix, format!("`{url}`"), retry)
    }

    fn new(store: Arc<dyn ObjectStore>, prefix: Key, name: String, retry: Duration) -> Result<Self, OpenError> {
        // Two threads: what one of the sink's waits for must not wait for another's.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(OpenError::Thread)?;
        Ok(Self { store, prefix, name, retry, runtime })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Fails if there are streams already.
    pub(super) fn must_be_empty(&self) -> Result<(), OpenError> {
        let prefix = Some(&self.prefix).filter(|prefix| !prefix.as_ref().is_empty());
        let list = self.runtime.block_on(self.store.list_with_delimiter(prefix));
        let list = list.map_err(|source| OpenError::Store { place: self.name.clone(), source })?;
        let stream = list.common_prefixes.iter().filter_map(Key::filename).find(|name| name.starts_with("stream="));
        match stream {
            Some(found) => Err(OpenError::NotEmpty { place: self.name.clone(), found: found.into() }),
            None => Ok(()),
        }
    }

    /// Puts a file there. It appears whole or not at all.
    pub(super) fn put(&self, key: &str, file: Vec<u8>, account: &Account) -> Result<(), SinkError> {
        let key = key.split('/').fold(self.prefix.clone(), |key, part| key.join(part));
        let payload = PutPayload::from(file);
        let mut offers = Offers::new(self.retry);
        loop {
            let Err(error) = self.runtime.block_on(self.store.put(&key, payload.clone())) else { return Ok(()) };
            let (kind, lasting, fix) = meaning(&error);
            if lasting {
                return Err(account.error(kind, format!("`{key}`: {error}"), fix));
            }
            let Some(pause) = offers.pause(account) else {
                return Err(account.error(kind, format!("`{key}`: {error} ({})", offers.tried()), fix));
            };
            tracing::warn!(%error, %key, ?pause, "a store does not take a file; it is offered again");
            std::thread::sleep(pause);
        }
    }
}

/// What an error means, whether it lasts, and what helps.
fn meaning(error: &object_store::Error) -> (ErrorKind, bool, &'static str) {
    const ROOM: &str = "make room, or write to another place";
    const ACCESS: &str = "allow it, or write to another place";
    const AGAIN: &str = "check that the store can be reached, or give it longer with `retry`";
    use object_store::Error;
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => return (ErrorKind::PermissionDenied, true, ACCESS),
        Error::InvalidPath { .. } => return (ErrorKind::InvalidInput, true, "give another path"),
        Error::NotImplemented { .. } | Error::NotSupported { .. } => return (ErrorKind::Unsupported, true, "use another store"),
        _ => {}
    }
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return match io.kind() {
                kind @ (ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge) => (kind, true, ROOM),
                kind @ (ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory) => (kind, true, ACCESS),
                kind => (kind, false, AGAIN),
            };
        }
        cause = inner.source();
    }
    (ErrorKind::Other, false, AGAIN)
}
