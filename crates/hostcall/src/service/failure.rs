//! Why one lane's call has no result, and what handlers may return.

use hostcall_abi::codec::DecodeError;
use hostcall_abi::{CallError, Status};

/// The error a handler returns: the lane gets [`CallError::HandlerFailed`] with the code, the host's report the
/// message.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct HandlerError {
    /// What the calling lane gets to see.
    pub code: u32,
    /// What the host's report shows.
    pub message: String,
}

hostcall_error::readable!(HandlerError);

impl HandlerError {
    /// An error with a code for the lane and a message for the host.
    pub fn new(code: u32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Why one lane's call has no result.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The handler returned an error.
    #[error("the handler failed with code {code}: {message}")]
    HandlerFailed {
        /// What the lane gets to see.
        code: u32,
        /// What the host's report shows.
        message: String,
    },
    /// The policy does not allow it.
    #[error("refused by the policy with code {code}")]
    Refused {
        /// Errno-like number of the limit.
        code: u32,
    },
    /// The result and the slices asked for do not fit into a reply.
    #[error("the reply does not fit: {max} bytes at most")]
    TooLarge {
        /// The most bytes that one lane's reply carries.
        max: u32,
    },
    /// The payload is not what the service takes.
    #[error("malformed arguments: {0}")]
    Decode(#[from] DecodeError),
    /// The handler panicked. (The panic is kept in the report; nobody but the server makes this.)
    #[error("the handler panicked")]
    Panicked,
    /// The handler would block and may not, see [`Service::blocking_if_needed`](crate::Service::blocking_if_needed).
    #[error("it would block")]
    WouldBlock,
    /// Any other status, for services that decide it themselves.
    #[error("{0}")]
    Status(CallError),
}

hostcall_error::readable!(Failure);

impl Failure {
    /// That of a posted call which was taken and will not be handled, because what ends with this status goes.
    pub(crate) fn given_up(status: Status) -> Self {
        let message = format!("posted, and not handled in time: {}", CallError::from_status(status, 0));
        Self::HandlerFailed { code: status.0.into(), message }
    }

    /// The status and detail that the lane gets.
    pub fn to_status(&self) -> (Status, u32) {
        match self {
            Self::HandlerFailed { code, .. } => (Status::HANDLER_FAILED, *code),
            Self::Refused { code } => (Status::REFUSED, *code),
            Self::TooLarge { max } => (Status::TOO_LARGE, *max),
            Self::Decode(_) => (Status::MALFORMED, 0),
            Self::Panicked => (Status::HANDLER_PANICKED, 0),
            Self::WouldBlock => (Status::BUSY, 0),
            Self::Status(error) => error.to_status(),
        }
    }
}

impl From<HandlerError> for Failure {
    fn from(e: HandlerError) -> Self {
        Self::HandlerFailed { code: e.code, message: e.message }
    }
}

/// What the glue around a handler returns. The result itself was given to
/// [`Invocation::reply`](crate::Invocation::reply).
pub type HandlerResult = Result<(), Failure>;

/// What a handler of a service with result `R` may return: an `R`, or a `Result` of one.
#[diagnostic::on_unimplemented(
    message = "a handler of this service must return `{R}` or `Result<{R}, HandlerError>`, not `{Self}`",
    label = "not the service's result"
)]
pub trait IntoReply<R> {
    /// The result, or why there is none.
    ///
    /// # Errors
    /// What the handler returned as an error.
    fn into_reply(self) -> Result<R, Failure>;
}

impl<R> IntoReply<R> for R {
    fn into_reply(self) -> Result<R, Failure> {
        Ok(self)
    }
}

impl<R> IntoReply<R> for Result<R, HandlerError> {
    fn into_reply(self) -> Result<R, Failure> {
        self.map_err(Failure::from)
    }
}
