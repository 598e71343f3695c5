//! What a kernel may touch. A kernel is an untrusted guest. By default it gets standard output, standard error and the
//! clock, and nothing else.
//!
//! Directories are granted under guest names, as if they were mounted in a tree of the guest's. [`paths`](self) says
//! how a guest's path finds what it names, and with which rights.

mod clock;
mod commands;
mod denials;
pub(crate) mod errno;
mod grant;
mod limits;
mod net;
mod paths;
mod quoted;

use std::ffi::{OsStr, OsString};

pub use denials::Denial;
pub use grant::{Access, DirGrant, GrantError};
pub use limits::Limits;
pub use net::{NetGrant, NetGrantError};

pub(crate) use commands::Commands;
pub(crate) use net::Net;
pub(crate) use paths::{Entry, Mounts, Place, by_descriptor};

/// Everything granted to the programs of one server.
#[derive(Debug, Default)]
pub struct Policy {
    pub(crate) mounts: Mounts,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) limits: Limits,
    pub(crate) net: Net,
    pub(crate) commands: Commands,
}

impl Policy {
    /// Nothing but standard output, standard error and the clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Grants a directory, which must exist.
    ///
    /// # Errors
    /// When it cannot be opened, its guest name has `..` or is granted already.
    pub fn dir(&mut self, grant: &DirGrant) -> Result<&mut Self, GrantError> {
        self.mounts.add(grant)?;
        Ok(self)
    }

    /// The directory, by its guest name, in which a program starts: there its relative paths begin. The root unless
    /// this says another.
    pub fn current_dir(&mut self, guest: impl AsRef<OsStr>) -> &mut Self {
        self.mounts.start_in(guest.as_ref());
        self
    }

    /// Grants an environment variable with a value, which need not be the host's.
    pub fn env(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        let name = name.into();
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    /// Grants the whole network.
    pub fn net(&mut self) -> &mut Self {
        self.net.allow_all();
        self
    }

    /// Grants a place in the network.
    pub fn net_allow(&mut self, grant: NetGrant) -> &mut Self {
        self.net.allow(grant);
        self
    }

    /// Grants commands of the host's shell: everything that its user may do.
    pub fn commands(&mut self) -> &mut Self {
        self.commands.allow();
        self
    }

    /// What programs asked for and were not granted, since this was last asked.
    pub fn denials(&self) -> Vec<Denial> {
        let mut all = self.mounts.denials.take();
        all.extend(self.net.denials.take());
        all.extend(self.commands.denials.take());
        all
    }

    /// Caps what programs may use.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_granted_again_has_its_new_value_and_the_others_stay() {
        let mut policy = Policy::new();
        policy.env("A", "1").env("B", "2").env("A", "3");
        let granted: Vec<_> = policy.variables.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        assert_eq!(granted, [("B", "2"), ("A", "3")]);
    }

    #[test]
    fn the_whole_network_is_granted_at_once() {
        let mut policy = Policy::new();
        assert!(policy.net.check_any().is_err());
        policy.net().arg("next");
        assert!(policy.net.check_any().is_ok() && policy.net.check_name("example.org").is_ok());
        assert_eq!(policy.arguments, ["next"], "it is the same policy");
    }
}
