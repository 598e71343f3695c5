//! What a server's builder grants.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::ServerBuilder;
use crate::builtin::{Input, Sink};
use crate::policy::{Access, DirGrant, GrantError, Limits, NetGrant};

impl ServerBuilder {
    /// Grants kernels a directory of the host under the name `guest`.
    ///
    /// # Errors
    /// When it cannot be opened, or the name is granted already.
    pub fn dir(self, host: impl Into<PathBuf>, guest: impl Into<OsString>, access: Access) -> Result<Self, GrantError> {
        self.grant(&DirGrant::new(host, guest, access))
    }

    /// Grants kernels a directory, as parsed from `HOST[::GUEST][:ro][:special]`.
    ///
    /// # Errors
    /// As [`ServerBuilder::dir`].
    pub fn grant(mut self, grant: &DirGrant) -> Result<Self, GrantError> {
        self.policy.dir(grant)?;
        Ok(self)
    }

    /// The directory, by its guest name, in which a program starts: there its relative paths begin. Default: the root.
    pub fn current_dir(mut self, guest: impl AsRef<OsStr>) -> Self {
        self.policy.current_dir(guest);
        self
    }

    /// Grants kernels an environment variable with a value, which need not be the host's.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.policy.env(name, value);
        self
    }

    /// Adds an argument that kernels can read.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.policy.arg(argument);
        self
    }

    /// Registers no built-in services: kernels can call what is registered with the server, and nothing else. They
    /// cannot even print, and a panic ends them without a message.
    pub fn without_built_in(mut self) -> Self {
        self.no_built_in = true;
        self
    }

    /// Grants kernels the whole network.
    pub fn net(mut self) -> Self {
        self.policy.net();
        self
    }

    /// Grants kernels a place in the network, as parsed from `HOST:PORT[+RANGE…]`.
    pub fn net_allow(mut self, grant: NetGrant) -> Self {
        self.policy.net_allow(grant);
        self
    }

    /// Grants commands of the host's shell, which C's `system` runs: everything that the user of this process may do.
    pub fn commands(mut self) -> Self {
        self.policy.commands();
        self
    }

    /// Where programs' standard input comes from. Default: nowhere, which is at its end.
    pub fn stdin(mut self, input: Input) -> Self {
        self.stdin = input;
        self
    }

    /// Caps what each program may use of the built-in services.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.policy.limits(limits);
        self
    }

    /// Where kernels' standard output goes. Default: this process's.
    pub fn stdout(mut self, sink: Sink) -> Self {
        self.stdout = Some(sink);
        self
    }

    /// Where kernels' standard error goes. Default: this process's.
    pub fn stderr(mut self, sink: Sink) -> Self {
        self.stderr = Some(sink);
        self
    }
}
