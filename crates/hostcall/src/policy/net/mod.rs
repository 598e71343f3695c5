//! Which other machines a program may speak to.
//!
//! A grant names a host and a port. A program may connect to a granted place, send to it, and bind to it. It may look
//! up a granted name. For a while after that the name's addresses are granted as well, if the grant covers their
//! [range](range).

mod grant;
mod learnt;
mod range;

use std::net::{IpAddr, SocketAddr};

use hostcall_abi::services::errno;

pub use grant::{NetGrant, NetGrantError};

use super::clock::Clock;
use super::denials::Denials;
use super::quoted::quoted;
use grant::folded;
use learnt::{Found, Learnt};
use range::{Range, plain};

/// What of the network is granted.
#[derive(Debug, Default)]
pub(crate) struct Net {
    all: bool,
    grants: Vec<NetGrant>,
    learnt: Learnt,
    pub(crate) clock: Clock,
    pub(crate) denials: Denials,
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
            || self.grants.iter().any(|grant| grant.covers_port(port) && grant.covers_address(address))
            || self.learnt.allows(address, port, self.clock.now())
    }

    /// As [`Net::allows`], and a denial is kept. `what`: `to connect to`.
    pub(crate) fn check(&self, what: &str, place: SocketAddr) -> Result<(), u32> {
        if self.allows(place) {
            return Ok(());
        }
        // Without what grants know nothing of, such as the interface of an address of version 6.
        let place = SocketAddr::new(plain(place.ip()), place.port());
        match self.learnt.withheld(place.ip(), place.port(), self.clock.now()) {
            Some((Found { name, .. }, range)) => self.denials.note(format_args!("{what} {place}, a {range} address of {name}"), || {
                format!("--net-allow {name}:{}+{range}", place.port())
            }),
            None => self.denials.note(format_args!("{what} {place}"), || format!("--net-allow {place}")),
        }
        Err(errno::EACCES)
    }

    /// Whether a program may become a member of a multicast group: if it may speak to it, on whatever port. A denial is
    /// kept.
    pub(crate) fn check_group(&self, group: IpAddr) -> Result<(), u32> {
        let group = plain(group);
        let granted = self.all
            || self.grants.iter().any(|grant| grant.covers_address(group))
            || self.learnt.allows_some_port(group, self.clock.now());
        if granted {
            return Ok(());
        }
        let place = SocketAddr::new(group, 0).to_string();
        let host = place.strip_suffix(":0").unwrap_or(&place);
        self.denials.note(format_args!("to join the group {group}"), || format!("--net-allow {host}:*"));
        Err(errno::EACCES)
    }

    /// Whether anything may be done with the network.
    pub(crate) fn check_any(&self) -> Result<(), u32> {
        if self.any() {
            return Ok(());
        }
        self.denials.note("for a socket", || "--net".into());
        Err(errno::EACCES)
    }

    /// The grants of a folded name.
    fn grants_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a NetGrant> {
        self.grants.iter().filter(move |grant| grant.covers_name(name))
    }

    /// Whether a program may resolve a name. An address is its own name.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), u32> {
        let address = name.parse::<IpAddr>().ok();
        let covers = |grant: &NetGrant| match address {
            Some(address) => grant.covers_address(address),
            None => grant.covers_name(&folded(name)),
        };
        if self.all || self.grants.iter().any(covers) {
            return Ok(());
        }
        let shown = quoted(name.as_bytes());
        self.denials.note(format_args!("for the address of {shown}"), || {
            let host = match address {
                Some(IpAddr::V6(v6)) => format!("[{v6}]"),
                _ => name.to_owned(),
            };
            // What is no name that can be granted is granted with the whole network only.
            match format!("{host}:*").parse::<NetGrant>() {
                Ok(grant) if covers(&grant) && host != "*" && address.is_some() => format!("--net-allow {host}:*"),
                Ok(grant) if covers(&grant) && host != "*" => format!("--net-allow {shown}:*"),
                _ => "--net".into(),
            }
        });
        Err(errno::EACCES)
    }

    /// A name has been resolved to these addresses: they count as granted for a while, as far as the name's grants
    /// cover them.
    pub(crate) fn learn(&self, name: &str, addresses: &[IpAddr]) {
        if self.all {
            return;
        }
        let (name, now) = (folded(name), self.clock.now());
        for address in addresses.iter().copied().map(plain) {
            let range = Range::of(address);
            // A grant of `*` covers every address by itself.
            for grant in self.grants_of(&name).filter(|grant| !grant.covers_address(address)) {
                let missing = range.filter(|_| !grant.reach().cover(range));
                self.learnt.add(address, Found::new(name.clone(), grant.port, missing, now), now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
