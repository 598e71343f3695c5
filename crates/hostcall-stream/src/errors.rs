//! What can go wrong with streams.

use std::path::PathBuf;
use std::sync::LazyLock;

use hostcall_abi::stream::Policy;
use hostcall_abi::stream::header::MAX_STREAM;
use hostcall_abi::stream::rings::RINGS_SYMBOL;

use crate::counts::Summary;
use crate::file::RecordError;
use crate::schema::Schema;
use crate::sink::SinkError;

/// Why streams did not start.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Two types have one name.
    #[error("two types are called `{name}`: {one} and {other}; a stream's name is that of its type, so rename one of them")]
    Name {
        /// The name.
        name: String,
        /// One type.
        one: Box<Schema>,
        /// The other.
        other: Box<Schema>,
    },
    /// More streams than there are numbers.
    #[error("{count} streams, and there are numbers for {MAX_STREAM}: use fewer types")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// A policy that the host cannot choose.
    #[error(
        "the policy of {stream} cannot be `{}`: a stream is `latest` if its definition says `#[hostcall::stream(policy = \"latest\")]`, and then nothing else",
        wanted.name()
    )]
    Latest {
        /// The stream.
        stream: String,
        /// The policy that was wanted.
        wanted: Policy,
    },
    /// The system gave no thread.
    #[error("cannot start a thread that reads streams: {0}")]
    Thread(#[source] std::io::Error),
    /// The recording cannot be written.
    #[error("cannot record to `{}`: {source}; give the path of a file in a directory that can be written", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

hostcall_error::readable!(StartError);

/// Why a program's messages are not received.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The streams belong to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] hostcall_error::Forked),
    /// It sends nothing: it has no rings' descriptor.
    #[error("program `{program}` has no `{RINGS_SYMBOL}`: it was not built with this version of hostcall")]
    NoRings {
        /// The program's name.
        program: String,
    },
    /// Somebody receives its messages already.
    #[error("program `{program}` sends to other streams already: drop them first, or load the program once more")]
    Attached {
        /// The program's name.
        program: String,
    },
    /// It was built with another definition of a stream.
    #[error(
        "program `{program}` was built with another definition of stream `{stream}`: `{theirs}` there, `{ours}` here; rebuild both sides from the same source"
    )]
    Definition {
        /// The program's name.
        program: String,
        /// The stream.
        stream: String,
        /// The program's definition.
        theirs: String,
        /// The host's.
        ours: String,
    },
    /// A stream that is to be recorded has a definition that is none.
    #[error("program `{program}` says of stream `{stream}` what is no definition: it was not built with this version of hostcall")]
    NoDefinition {
        /// The program's name.
        program: String,
        /// The stream.
        stream: String,
    },
    /// More streams are to be recorded than there are numbers.
    #[error("there is no number left for stream `{stream}` of program `{program}`, of {MAX_STREAM}: record fewer programs at a time")]
    TooManyStreams {
        /// The program's name.
        program: String,
        /// The stream.
        stream: String,
    },
    /// A recording has no numbers left for the program's rings, or no room to describe it.
    #[error("the recording `{}` has no room for the rings of program `{program}`: begin another recording", path.display())]
    RecordingFull {
        /// The program's name.
        program: String,
        /// The file.
        path: PathBuf,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

hostcall_error::readable!(AttachError);

/// Why [`Streams::wait`](crate::Streams::wait) is not a success. What was counted comes along.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The streams belong to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] hostcall_error::Forked),
    /// The device failed. Of each ring what stood before the first message that is not whole has been received.
    #[error("{source}\n{summary}")]
    Device {
        /// The device's error.
        source: offload::Error,
        /// What was counted.
        summary: Box<Summary>,
    },
    /// Messages are lost that no policy allowed to be, or a handler panicked.
    #[error("messages are lost:\n{0}")]
    Incomplete(Summary),
    /// All messages were received, and not all could be recorded.
    #[error("{source}\n{summary}")]
    Record {
        /// Why not.
        source: RecordError,
        /// What was counted.
        summary: Box<Summary>,
    },
    /// All messages were received, and a sink could not keep all of them.
    #[error("{source}\n{summary}")]
    Sink {
        /// Why not.
        source: SinkError,
        /// What was counted.
        summary: Box<Summary>,
    },
}

hostcall_error::readable!(WaitError);

impl WaitError {
    /// What was counted: nothing is known in a forked child.
    pub fn summary(&self) -> &Summary {
        static NOTHING: LazyLock<Summary> = LazyLock::new(|| Summary { end_unknown: true, ..Summary::default() });
        match self {
            Self::Forked(_) => &NOTHING,
            Self::Device { summary, .. } | Self::Record { summary, .. } | Self::Sink { summary, .. } => summary,
            Self::Incomplete(summary) => summary,
        }
    }
}

/// Why [`Streams::set_filter`](crate::Streams::set_filter) did nothing.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The streams belong to the process that this one was forked from.
    #[error(transparent)]
    Forked(#[from] hostcall_error::Forked),
    /// Its messages do not ask.
    #[error(
        "the messages of `{stream}` do not ask whether they are wanted: give it a filter before `start`, `StreamsBuilder::filter::<{stream}>(Filter::all())`"
    )]
    NotLive {
        /// The stream.
        stream: String,
    },
    /// A device failed.
    #[error(transparent)]
    Device(#[from] offload::Error),
}

hostcall_error::readable!(FilterError);
