//! Which other machines a program may speak to.
//!
//! A grant names a host and a port. A program may connect and send to what is granted, and bind to it; a name that is granted may be resolved,
//! and the addresses that it resolved to count as the name does.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::{PoisonError, RwLock};

use hostcall_abi::services::errno;

use super::Denials;

/// A place in the network to grant. As text: `HOST:PORT`, where `HOST` is a name, an address (of version 6 in brackets) or `*`, and `PORT` a number or
/// `*`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NetGrant {
    host: Host,
    /// `None`: any.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    Any,
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

/// A text that is no grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not of the form HOST:PORT, where HOST is a name, an address (of version 6 in brackets) or *, and PORT a number or *")]
pub struct NetGrantError {
    /// The text.
    pub text: String,
}

impl FromStr for NetGrant {
    type Err = NetGrantError;

    fn from_str(text: &str) -> Result<Self, NetGrantError> {
        let malformed = || NetGrantError { text: text.into() };
        let (host, port) = text.rsplit_once(':').ok_or_else(malformed)?;
        let port = if port == "*" { None } else { Some(port.parse().map_err(|_| malformed())?) };
        let host = match host.strip_prefix('[') {
            Some(rest) => Host::Address(IpAddr::V6(rest.strip_suffix(']').and_then(|v6| v6.parse().ok()).ok_or_else(malformed)?)),
            None if host == "*" => Host::Any,
            None => match host.parse() {
                Ok(v4) => Host::Address(IpAddr::V4(v4)),
                Err(_) if host.is_empty() || host.contains([':', '/', ' ', '*', '\0']) => return Err(malformed()),
                Err(_) => Host::Name(host.to_ascii_lowercase()),
            },
        };
        Ok(Self { host, port })
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
            Some(port) => write!(f, ":{port}"),
            None => f.write_str(":*"),
        }
    }
}

/// What of the network is granted.
#[derive(Debug, Default)]
pub(crate) struct Net {
    all: bool,
    grants: Vec<NetGrant>,
    /// Addresses that granted names resolved to, and the ports granted for them.
    resolved: RwLock<HashMap<IpAddr, Vec<Option<u16>>>>,
    pub(crate) denials: Denials,
}

/// The address without the form that version 6 has for those of version 4.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn covers(granted: Option<u16>, port: u16) -> bool {
    granted.is_none_or(|granted| granted == port)
}

impl Net {
    pub(crate) fn allow_all(&mut self) {
        self.all = true;
    }

    pub(crate) fn allow(&mut self, grant: NetGrant) {
        self.grants.push(grant);
    }

    /// Whether anything is granted.
    pub(crate) fn any(&self) -> bool {
        self.all || !self.grants.is_empty()
    }

    /// Whether a program may speak to this place, or bind to it.
    pub(crate) fn allows(&self, place: SocketAddr) -> bool {
        let (address, port) = (plain(place.ip()), place.port());
        self.all
            || self.grants.iter().any(|grant| {
                covers(grant.port, port)
                    && match &grant.host {
                        Host::Any => true,
                        Host::Address(granted) => plain(*granted) == address,
                        Host::Name(_) => false,
                    }
            })
            || {
                let resolved = self.resolved.read().unwrap_or_else(PoisonError::into_inner);
                resolved.get(&address).is_some_and(|ports| ports.iter().any(|granted| covers(*granted, port)))
            }
    }

    /// As [`Net::allows`], and a denial is kept. `what`: `to connect to`.
    pub(crate) fn check(&self, what: &str, place: SocketAddr) -> Result<(), u32> {
        if self.allows(place) {
            return Ok(());
        }
        self.denials.note(format!("{what} {place}"), format!("--net-allow {place}"));
        Err(errno::EACCES)
    }

    /// Whether anything may be done with the network.
    pub(crate) fn check_any(&self) -> Result<(), u32> {
        if self.any() {
            return Ok(());
        }
        self.denials.note("for a socket", "--net");
        Err(errno::EACCES)
    }

    fn ports_of(&self, name: &str) -> Vec<Option<u16>> {
        let name = name.to_ascii_lowercase();
        self.grants
            .iter()
            .filter(|grant| grant.host == Host::Any || grant.host == Host::Name(name.clone()))
            .map(|grant| grant.port)
            .collect()
    }

    /// Whether a program may resolve a name.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), u32> {
        if self.all || !self.ports_of(name).is_empty() {
            return Ok(());
        }
        self.denials.note(format!("for the address of {name}"), format!("--net-allow {name}:*"));
        Err(errno::EACCES)
    }

    /// A name that may be resolved has these addresses.
    pub(crate) fn learn(&self, name: &str, addresses: &[IpAddr]) {
        if self.all {
            return;
        }
        let ports = self.ports_of(name);
        let mut resolved = self.resolved.write().unwrap_or_else(PoisonError::into_inner);
        for address in addresses {
            let known = resolved.entry(plain(*address)).or_default();
            known.extend(ports.iter().filter(|port| !known.contains(port)).copied().collect::<Vec<_>>());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(grants: &[&str]) -> Net {
        let mut net = Net::default();
        grants.iter().for_each(|grant| net.allow(grant.parse().unwrap()));
        net
    }

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn grants_are_read_and_written_as_host_and_port() {
        for text in ["example.org:80", "127.0.0.1:*", "[::1]:8080", "*:53", "*:*"] {
            assert_eq!(text.parse::<NetGrant>().unwrap().to_string(), text);
        }
        for text in ["", "80", "host", "host:", ":80", "host:99999", "::1:80", "[::1:80", "a b:1", "x*:1", "http://x:80"] {
            assert_eq!(text.parse::<NetGrant>(), Err(NetGrantError { text: text.into() }), "{text:?}");
        }
    }

    #[test]
    fn nothing_is_granted_by_default() {
        let net = net(&[]);
        assert_eq!(net.check("to connect to", at("127.0.0.1:80")), Err(errno::EACCES));
        assert_eq!(net.check_any(), Err(errno::EACCES));
        assert_eq!(net.check_name("localhost"), Err(errno::EACCES));
        let told: Vec<String> = net.denials.take().iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3);
        assert!(
            told.contains(
                &"the program asked to connect to 127.0.0.1:80, which is not granted: `--net-allow 127.0.0.1:80` grants it".into()
            ),
            "{told:?}"
        );
    }

    #[test]
    fn an_address_is_granted_with_its_port_only() {
        let net = net(&["127.0.0.1:80", "[::1]:*"]);
        assert!(net.allows(at("127.0.0.1:80")) && net.allows(at("[::1]:7")) && net.allows(at("[::ffff:127.0.0.1]:80")));
        assert!(!net.allows(at("127.0.0.1:81")) && !net.allows(at("127.0.0.2:80")));
    }

    #[test]
    fn a_granted_name_grants_the_addresses_it_resolved_to() {
        let net = net(&["Example.org:443"]);
        assert!(net.check_name("example.ORG").is_ok() && net.check_name("example.com").is_err());
        assert!(!net.allows(at("192.0.2.1:443")));
        net.learn("example.org", &["192.0.2.1".parse().unwrap()]);
        assert!(net.allows(at("192.0.2.1:443")) && !net.allows(at("192.0.2.1:80")));
    }

    #[test]
    fn a_name_that_is_not_granted_teaches_nothing() {
        let net = net(&["example.org:443"]);
        net.learn("evil.example", &["192.0.2.9".parse().unwrap()]);
        assert!(!net.allows(at("192.0.2.9:443")));
    }
}
