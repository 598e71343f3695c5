//! A place in the network, as it is granted.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::range::{Range, Ranges, plain};

/// A place in the network to grant. As text: `HOST:PORT[+RANGE…]`, where `HOST` is a name, an address (of version 6 in
/// brackets) or `*`, and `PORT` a number or `*`.
///
/// A name stands for what it resolves to, as far as that lies in the public network. Other addresses it stands for only
/// if the grant names their range: `+loopback`, `+link-local`, `+private`, `+unspecified`, `+multicast`, or `+any` for
/// all of them. (`intranet.example:443+private`.) The name `localhost`, and names below it, stand for this machine
/// without more words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NetGrant {
    pub(super) host: Host,
    /// `None`: any.
    pub(super) port: Option<u16>,
    /// Of a name: what it may resolve to besides public addresses.
    pub(super) ranges: Ranges,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Host {
    Any,
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

/// A text that is no grant.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not of the form HOST:PORT[+RANGE…], where HOST is a name, an address (of version 6 in brackets) or *, PORT a number or *, and \
     RANGE, after a name only, one of loopback, link-local, private, unspecified, multicast and any"
)]
pub struct NetGrantError {
    /// The text.
    pub text: String,
}

hostcall_error::readable!(NetGrantError);

/// A name as it is compared: without regard to case, and to the dot that may end it.
pub(super) fn folded(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Whether the name means this machine by itself (RFC 6761).
fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

fn parse(text: &str) -> Option<NetGrant> {
    let (host, rest) = text.rsplit_once(':')?;
    let mut words = rest.split('+');
    let port = match words.next()? {
        "*" => None,
        // There is no sign, which `u16` would take: a range begins at it.
        digits => Some(digits.parse().ok()?),
    };
    let ranges = words.try_fold(Ranges::default(), Ranges::with_word)?;
    let host = match host.strip_prefix('[') {
        Some(rest) => Host::Address(IpAddr::V6(rest.strip_suffix(']')?.parse().ok()?)),
        None if host == "*" => Host::Any,
        None => match host.parse() {
            Ok(v4) => Host::Address(IpAddr::V4(v4)),
            Err(_) if host.contains([':', '/', '*', '+', '\0']) || host.contains(char::is_whitespace) => return None,
            Err(_) => Host::Name(Some(folded(host)).filter(|name| !name.is_empty())?),
        },
    };
    // An address and `*` mean what they say.
    (ranges == Ranges::default() || matches!(host, Host::Name(_))).then_some(NetGrant { host, port, ranges })
}

impl FromStr for NetGrant {
    type Err = NetGrantError;

    fn from_str(text: &str) -> Result<Self, NetGrantError> {
        parse(text).ok_or_else(|| NetGrantError { text: text.into() })
    }
}

impl fmt::Display for NetGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Any => f.write_str("*")?,
            Host::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]")?,
            Host::Address(v4) => write!(f, "{v4}")?,
            Host::Name(name) => f.write_str(name)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}")?,
            None => f.write_str(":*")?,
        }
        write!(f, "{}", self.ranges)
    }
}

impl NetGrant {
    pub(super) fn covers_port(&self, port: u16) -> bool {
        self.port.is_none_or(|granted| granted == port)
    }

    /// Whether it grants this address itself, without a name.
    pub(super) fn covers_address(&self, address: IpAddr) -> bool {
        match &self.host {
            Host::Any => true,
            Host::Address(granted) => plain(*granted) == plain(address),
            Host::Name(_) => false,
        }
    }

    /// Whether this name may be resolved. `name` is folded.
    pub(super) fn covers_name(&self, name: &str) -> bool {
        match &self.host {
            Host::Any => true,
            Host::Address(_) => false,
            Host::Name(granted) => granted == name,
        }
    }

    /// What its name may resolve to besides public addresses.
    pub(super) fn reach(&self) -> Ranges {
        match &self.host {
            Host::Name(name) if is_localhost(name) => self.ranges.with(Range::Loopback),
            _ => self.ranges,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn grants_are_read_and_written_as_host_and_port() {
        for text in [
            "example.org:80",
            "127.0.0.1:*",
            "[::1]:8080",
            "*:53",
            "*:*",
            "intranet.example:443+private",
            "box:*+loopback+link-local",
            "mdns:5353+multicast",
            "x:1+unspecified",
            "x:*+any",
        ] {
            assert_eq!(text.parse::<NetGrant>().unwrap().to_string(), text);
        }
        let every = "x:1+multicast+private+loopback+unspecified+link-local".parse::<NetGrant>().unwrap();
        assert_eq!(every.to_string(), "x:1+any");
        assert_eq!("x:1+private+private".parse::<NetGrant>().unwrap().to_string(), "x:1+private");
        assert_eq!("Example.ORG.:80".parse::<NetGrant>().unwrap().to_string(), "example.org:80");
    }

    #[test]
    fn what_is_no_grant_is_refused_with_its_text() {
        for text in [
            "",
            "80",
            "host",
            "host:",
            ":80",
            ".:80",
            "host:99999",
            "host:+80",
            "::1:80",
            "[::1:80",
            "a b:1",
            "x*:1",
            "http://x:80",
            "x:1+",
            "x:1+lan",
            "x:1++any",
            "x+any:1",
            "127.0.0.1:80+loopback",
            "[::1]:80+any",
            "*:80+private",
        ] {
            assert_eq!(text.parse::<NetGrant>(), Err(NetGrantError { text: text.into() }), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_read_as_a_grant_that_is_written_otherwise(text in "[a-z0-9.:*+\\[\\]/ \u{e9}-]{0,24}") {
            if let Ok(grant) = text.parse::<NetGrant>() {
                prop_assert_eq!(grant.to_string().parse::<NetGrant>(), Ok(grant));
            }
        }

        #[test]
        fn every_grant_is_read_back_as_it_was_written(
            host in prop_oneof![Just("*".to_owned()), any::<std::net::Ipv4Addr>().prop_map(|v4| v4.to_string()),
                any::<std::net::Ipv6Addr>().prop_map(|v6| format!("[{v6}]"))],
            port in prop_oneof![Just("*".to_owned()), any::<u16>().prop_map(|port| port.to_string())],
        ) {
            let text = format!("{host}:{port}");
            prop_assert_eq!(text.parse::<NetGrant>().unwrap().to_string(), text);
        }
    }
}
