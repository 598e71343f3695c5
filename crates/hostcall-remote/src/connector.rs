//! Where to connect to, and as whom.

#[cfg(feature = "nats")]
use std::path::PathBuf;

use hostcall::Origin;

use crate::errors::RemoteError;
#[cfg(feature = "nats")]
use crate::transport::{Access, Broker};
use crate::transport::{Ear, Hub, Transport};

/// Where callers and workers meet, and as whom: a broker, or this process. Clones of one that [`local`] made are the
/// same place.
#[derive(Clone, Debug)]
pub struct Connector {
    place: Place,
    name: Option<String>,
    threads: usize,
}

#[derive(Clone, Debug)]
enum Place {
    Local(Hub),
    #[cfg(feature = "nats")]
    Nats(Broker),
}

/// Callers and workers within this process: no broker, the same encoding. For tests, and for programs that are to be
/// spread later.
pub fn local() -> Connector {
    Connector { place: Place::Local(Hub::default()), name: None, threads: 2 }
}

/// Through a NATS server: `nats://HOST:PORT`, `tls://HOST:PORT`, or several of a cluster with commas between.
///
/// Secrets come from files, see [`Connector::credentials_file`] and its neighbours. Those in an address are used, and
/// never shown.
#[cfg(feature = "nats")]
pub fn nats(url: impl Into<String>) -> Connector {
    Connector { place: Place::Nats(Broker { url: url.into(), access: Access::default() }), name: None, threads: 2 }
}

impl Connector {
    /// As the environment says: the broker is `HOSTCALL_REMOTE`; `HOSTCALL_REMOTE_CREDENTIALS`, `…_NKEY`, `…_PASSWORD`,
    /// `…_ROOTS` are files, as in the methods of this type; `…_NAME` is the name.
    ///
    /// # Errors
    /// When `HOSTCALL_REMOTE` is not set.
    #[cfg(feature = "nats")]
    pub fn from_env() -> Result<Self, RemoteError> {
        const NAME: &str = "HOSTCALL_REMOTE";
        let url = std::env::var(NAME).map_err(|_| RemoteError::Environment { name: NAME })?;
        let mut connector = nats(url);
        let file = |what: &str| std::env::var_os(format!("{NAME}_{what}")).map(PathBuf::from);
        if let Place::Nats(Broker { access, .. }) = &mut connector.place {
            access.credentials = file("CREDENTIALS");
            access.nkey = file("NKEY");
            access.password = file("PASSWORD");
            access.roots = file("ROOTS");
        }
        connector.name = std::env::var(format!("{NAME}_NAME")).ok();
        Ok(connector)
    }

    #[cfg(feature = "nats")]
    fn access(mut self, set: impl FnOnce(&mut Access)) -> Self {
        if let Place::Nats(Broker { access, .. }) = &mut self.place {
            set(access);
        }
        self
    }

    /// A file of NATS credentials, as `nsc` writes them: a JWT and a seed. Of no use within the process.
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn credentials_file(self, path: impl Into<PathBuf>) -> Self {
        self.access(|access| access.credentials = Some(path.into()))
    }

    /// A file with the seed of an NKEY (`SU…`).
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn nkey_file(self, path: impl Into<PathBuf>) -> Self {
        self.access(|access| access.nkey = Some(path.into()))
    }

    /// A file with one line, `USER:PASSWORD`.
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn password_file(self, path: impl Into<PathBuf>) -> Self {
        self.access(|access| access.password = Some(path.into()))
    }

    /// A file of certificates (PEM) of those who may sign the server's, besides the system's.
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn root_certificates(self, path: impl Into<PathBuf>) -> Self {
        self.access(|access| access.roots = Some(path.into()))
    }

    /// Our own certificate and its key (PEM), where the server wants to see one.
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn client_certificate(self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.access(|access| access.certificate = Some((certificate.into(), key.into())))
    }

    /// Connects only if the server speaks TLS. So does an address that begins with `tls://`.
    #[cfg(feature = "nats")]
    #[must_use]
    pub fn require_tls(self) -> Self {
        self.access(|access| access.require_tls = true)
    }

    /// What this process is called, by the broker and in traces of others. Default: host and process number.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Threads of the connection. Handlers of workers that are inline run on them. Default: 2.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// What this process is called.
    pub(crate) fn called(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            let host = if host.trim().is_empty() { "host" } else { host.trim() };
            format!("{host}-{}", std::process::id())
        })
    }

    /// Threads of the connection.
    pub(crate) fn thread_count(&self) -> usize {
        self.threads
    }

    pub(crate) fn runtime(&self) -> Result<tokio::runtime::Runtime, RemoteError> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        hostcall::__private::for_handlers(builder.worker_threads(self.threads).thread_name("hostcall-remote"));
        builder.enable_all().build().map_err(RemoteError::Thread)
    }

    /// Connects. `waiting`: messages that may wait to be looked at.
    pub(crate) async fn transport(&self, ear: Option<Ear>, waiting: usize) -> Result<Transport, RemoteError> {
        #[cfg(not(feature = "nats"))]
        let _ = waiting;
        match &self.place {
            Place::Local(hub) => Ok(Transport::Local(hub.link(ear))),
            #[cfg(feature = "nats")]
            Place::Nats(broker) => broker.connect(&self.called(), ear, waiting).await.map(|link| Transport::Nats(Box::new(link))),
        }
    }
}

/// A runtime that ends without waiting for what runs on it, so that it may be dropped anywhere.
#[derive(Debug)]
pub(crate) struct Running(Option<tokio::runtime::Runtime>, Origin);

impl Running {
    pub(crate) fn new(runtime: tokio::runtime::Runtime) -> Self {
        Self(Some(runtime), Origin::here())
    }

    /// Whether this is the process in which it was made.
    pub(crate) fn is_here(&self) -> bool {
        self.1.is_here()
    }

    pub(crate) fn handle(&self) -> &tokio::runtime::Handle {
        self.0.as_ref().expect("it is there until it is dropped").handle()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(runtime) = self.0.take() else { return };
        if self.1.is_here() {
            runtime.shutdown_background();
        } else {
            // A forked child's copy: the threads are its parent's.
            std::mem::forget(runtime);
        }
    }
}
