//! Calls that were open when somebody had waited long enough.

use std::fmt;
use std::time::Duration;

/// Lanes whose calls have arrived and are not answered: those of one message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenCall {
    /// The service.
    pub service: String,
    /// The port that the message came through.
    pub port: u32,
    /// The lanes of the wave that wait, as a mask. Of a handler that a serving thread is in, all lanes of its message:
    /// some may have been handled.
    pub lanes: u64,
    /// How long the message has been open. For a handler that a serving thread is in, how long it was seen there while
    /// somebody waited.
    pub open_for: Duration,
}

impl fmt::Display for OpenCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, port, lanes, open_for } = self;
        let service = service.replacen("__", "::", 1);
        write!(f, "{service} of {} (port {port}), open for {open_for:.1?}", Lanes(*lanes))
    }
}

/// The lanes of a mask: "lanes 0-3, 7".
struct Lanes(u64);

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_power_of_two() { "lane " } else { "lanes " })?;
        let (mut rest, mut separator) = (self.0, "");
        while rest != 0 {
            let first = rest.trailing_zeros();
            let run = (rest >> first).trailing_ones();
            write!(f, "{separator}{first}")?;
            if run > 1 {
                write!(f, "-{}", first + run - 1)?;
            }
            rest &= u64::MAX.checked_shl(first + run).unwrap_or(0);
            separator = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_told_as_runs() {
        for (mask, text) in [(1, "lane 0"), (0x8f, "lanes 0-3, 7"), (u64::MAX, "lanes 0-63"), (1 << 63 | 1, "lanes 0, 63")] {
            assert_eq!(Lanes(mask).to_string(), text);
        }
        let call = OpenCall { service: "Host__add42".into(), port: 3, lanes: 2, open_for: Duration::from_millis(1500) };
        assert_eq!(call.to_string(), "Host::add42 of lane 1 (port 3), open for 1.5s");
    }
}
