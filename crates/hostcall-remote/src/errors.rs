//! What can be wrong with a connection or a worker.

use std::io;
use std::path::PathBuf;

/// Why there is no connection, or no worker.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The system gave no thread.
    #[error("cannot start the threads of a connection: {0}")]
    Thread(#[source] io::Error),
    /// A file of credentials or certificates cannot be read.
    #[error("cannot read {path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of credentials is not what it should be. It is not shown.
    #[error("{path} is no {expected}")]
    Credentials {
        /// Which.
        path: PathBuf,
        /// What it should have.
        expected: &'static str,
    },
    /// The broker cannot be reached, or does not let us in.
    #[error("no connection to NATS at {place}: {reason}; {fix}")]
    Broker {
        /// Where, without what is secret.
        place: String,
        /// What it said.
        reason: String,
        /// What helps.
        fix: &'static str,
    },
    /// Two services of one worker have one name.
    #[error("the worker has service `{name}` twice")]
    Taken {
        /// The name.
        name: String,
    },
    /// A worker without services.
    #[error("the worker has no services: give it some with `service`")]
    Nothing,
    /// A service could not be made ready to run.
    #[error(transparent)]
    Service(#[from] hostcall::ServerError),
    /// The environment says nothing of a connection.
    #[error("the variable {name} is not set: it names the broker, such as `nats://127.0.0.1:4222`")]
    Environment {
        /// The variable.
        name: &'static str,
    },
}

hostcall_error::readable!(RemoteError);
