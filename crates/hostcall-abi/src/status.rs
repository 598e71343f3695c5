//! How a call ended.

use core::fmt;

/// A status as it crosses the wire. A number, not an enum: a status that this version does not know
/// survives and is shown as such.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Status(pub u16);

// By hand, as `CallError`'s: what `derive` makes of an enumeration is 75 KB of PTX in every kernel that unwraps a call.
impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or("UNKNOWN"))
    }
}

macro_rules! statuses {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:literal),+ $(,)?) => {
        impl Status {
            $($(#[doc = $doc])+ pub const $name: Status = Status($number);)+

            /// The constant's name, if this version has one for the number.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 { $($number => Some(stringify!($name)),)+ _ => None }
            }
        }
    };
}

statuses! {
    /// The handler ran and its result follows.
    OK = 0,
    /// Nobody registered the service (or it was unregistered).
    UNKNOWN_SERVICE = 1,
    /// The policy does not allow it; detail: which limit, as an errno-like number.
    REFUSED = 2,
    /// The handler returned an error; detail: the code it gave.
    HANDLER_FAILED = 3,
    /// The handler panicked; message and backtrace are with the host.
    HANDLER_PANICKED = 4,
    /// Request or reply does not fit; detail: the most bytes one lane can send.
    TOO_LARGE = 5,
    /// The server shut down or was dropped.
    SERVER_GONE = 6,
    /// No reply within the time the caller allowed.
    TIMEOUT = 7,
    /// The server could not make sense of the message.
    MALFORMED = 8,
    /// The service was once-only, or finished, and takes no more calls.
    FINISHED = 9,
    /// The port buffer was deregistered while the call waited.
    DETACHED = 10,
    /// The kernel is being ended (a lane panicked or called `exit`); the lane must end as well.
    KERNEL_ENDED = 11,
    /// Every port or staging slot is held and the call may not wait for one.
    BUSY = 12,
}

/// Why a call has no result.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallError {
    /// Nobody registered the service with the server this program is attached to.
    UnknownService,
    /// The host's policy does not allow this call. `code` says which limit.
    Refused {
        /// Errno-like number of the limit.
        code: u32,
    },
    /// The handler returned an error.
    HandlerFailed {
        /// The code that the handler gave.
        code: u32,
    },
    /// The handler panicked; the host keeps message and backtrace.
    HandlerPanicked,
    /// Arguments or results do not fit into one call.
    TooLarge {
        /// The most bytes of strings and slices that one lane can pass in one call.
        max: u32,
    },
    /// The server shut down.
    ServerGone,
    /// No reply in the time allowed.
    Timeout,
    /// The server could not make sense of the request.
    Malformed,
    /// The service was once-only or is finished.
    Finished,
    /// The port buffer was deregistered while the call waited.
    Detached,
    /// All ports or staging slots are held and this call may not wait for one.
    Busy,
    /// A status that this version of hostcall does not know.
    Other(Status),
}

impl CallError {
    /// The error for a status that is not [`Status::OK`], with the reply's first payload unit.
    pub const fn from_status(status: Status, detail: u32) -> Self {
        match status {
            Status::UNKNOWN_SERVICE => Self::UnknownService,
            Status::REFUSED => Self::Refused { code: detail },
            Status::HANDLER_FAILED => Self::HandlerFailed { code: detail },
            Status::HANDLER_PANICKED => Self::HandlerPanicked,
            Status::TOO_LARGE => Self::TooLarge { max: detail },
            Status::SERVER_GONE => Self::ServerGone,
            Status::TIMEOUT => Self::Timeout,
            Status::MALFORMED => Self::Malformed,
            Status::FINISHED => Self::Finished,
            Status::DETACHED => Self::Detached,
            Status::BUSY => Self::Busy,
            other => Self::Other(other),
        }
    }

    /// The status and detail that this error travels as.
    pub const fn to_status(self) -> (Status, u32) {
        match self {
            Self::UnknownService => (Status::UNKNOWN_SERVICE, 0),
            Self::Refused { code } => (Status::REFUSED, code),
            Self::HandlerFailed { code } => (Status::HANDLER_FAILED, code),
            Self::HandlerPanicked => (Status::HANDLER_PANICKED, 0),
            Self::TooLarge { max } => (Status::TOO_LARGE, max),
            Self::ServerGone => (Status::SERVER_GONE, 0),
            Self::Timeout => (Status::TIMEOUT, 0),
            Self::Malformed => (Status::MALFORMED, 0),
            Self::Finished => (Status::FINISHED, 0),
            Self::Detached => (Status::DETACHED, 0),
            Self::Busy => (Status::BUSY, 0),
            Self::Other(status) => (status, 0),
        }
    }
}

/// The same text as [`fmt::Display`]'s: it is what a kernel shows that unwraps a call.
impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownService => f.write_str("unknown service: register it with the server before the kernel is launched"),
            Self::Refused { code } => write!(f, "refused by the host's policy (code {code})"),
            Self::HandlerFailed { code } => write!(f, "the handler failed with code {code}"),
            Self::HandlerPanicked => f.write_str("the handler panicked; its message is in the host's report"),
            Self::TooLarge { max } => write!(f, "too large: one call carries at most {max} bytes per lane"),
            Self::ServerGone => f.write_str("the server is gone"),
            Self::Timeout => f.write_str("no reply in the time allowed"),
            Self::Malformed => {
                f.write_str("the server could not decode the request; kernel and host may be built from different service definitions")
            }
            Self::Finished => f.write_str("the service takes no more calls"),
            Self::Detached => f.write_str("the port buffer was deregistered"),
            Self::Busy => {
                f.write_str("no port is free that may be kept; call without keeping one, or raise their number on the server's builder")
            }
            Self::Other(Status(number)) => write!(f, "status {number}, unknown to this version of hostcall"),
        }
    }
}

impl core::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_status_comes_back_as_itself() {
        for n in 1..=12 {
            let s = Status(n);
            assert!(s.name().is_some());
            assert_eq!(CallError::from_status(s, 5).to_status().0, s);
        }
        assert_eq!(CallError::from_status(Status(999), 0), CallError::Other(Status(999)));
    }
}
