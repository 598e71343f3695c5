//! Why a sink cannot be opened, and why what it wrote cannot be read.

use std::path::PathBuf;

/// Why a sink does not begin.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system does not let a directory or a file be made.
    #[error("cannot write to `{}`: {source}; give a path in a directory that can be written", path.display())]
    Path {
        /// The directory or the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There are messages of another run.
    #[error("there is `{found}` in {place} already: give an empty directory, or add to it with `append`")]
    NotEmpty {
        /// The place.
        place: String,
        /// What is there.
        found: String,
    },
    /// The store does not answer, or does not know us.
    #[error("cannot use {place}: {source}; check its address and credentials")]
    Store {
        /// The place.
        place: String,
        /// The store's error.
        source: object_store::Error,
    },
    /// An address of a store that is none, or of a kind that this build does not know.
    #[error("cannot use the store `{url}`: {reason}; build with the feature `s3`, `gcs` or `azure`, or give a directory")]
    Url {
        /// The address.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// The server of NATS does not answer, does not know us, or has no stream for the messages.
    #[error("cannot use {place}: {reason}; {fix}")]
    Nats {
        /// The server and the subjects.
        place: String,
        /// What it says.
        reason: String,
        /// What helps.
        fix: &'static str,
    },
    /// What is to stand before the names of streams is no subject of NATS.
    #[error(
        "`{prefix}` cannot begin a subject: give words with dots between, like `lab.run7`, without blanks, `*` and `>`, as in nats://HOST/lab.run7"
    )]
    Subject {
        /// What was given.
        prefix: String,
    },
    /// A message that is offered again might be stored twice.
    #[error(
        "the JetStream stream `{stream}` knows doubles for {window:?} after the first, and messages are offered for {retry:?}: give `retry` at most \
         {longest:?}, or the stream a longer duplicate window"
    )]
    Doubles {
        /// The JetStream stream.
        stream: String,
        /// How long the server knows a message's number.
        window: std::time::Duration,
        /// How long messages are offered.
        retry: std::time::Duration,
        /// The longest time that is safe.
        longest: std::time::Duration,
    },
    /// The system gave no thread.
    #[error("cannot start a thread that writes: {0}")]
    Thread(#[source] std::io::Error),
}

hostcall_error::readable!(OpenError);

/// Why messages cannot be read back.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file or a directory cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// There is nothing of the stream.
    #[error("no messages of `{stream}` in `{}`, only of: {}; give the directory that a sink wrote, or one of its files", path.display(), names.join(", "))]
    NoStream {
        /// Where.
        path: PathBuf,
        /// The stream.
        stream: String,
        /// The streams that are there.
        names: Vec<String>,
    },
    /// It was written with another definition of the stream.
    #[error("`{}` was written with another definition of `{stream}`: `{theirs}` there, `{ours}` here; read it with the program that wrote it, or column by column", path.display())]
    Definition {
        /// The file.
        path: PathBuf,
        /// The stream.
        stream: String,
        /// The file's definition.
        theirs: String,
        /// The program's.
        ours: String,
    },
    /// A file is damaged, or something else.
    #[error("cannot understand `{}`: {reason}; write it again", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

hostcall_error::readable!(ReadError);
