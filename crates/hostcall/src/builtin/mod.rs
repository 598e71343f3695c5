//! The built-in services: what the device library's `print`, `fs`, `time`, `env` and `process` call.
//!
//! They are ordinary services, made from the one table in [`hostcall_abi::services`]. The [`Policy`] decides what they
//! allow.

mod clock;
mod console;
mod context;
mod define;
mod environment;
mod files;
mod listing;
mod opening;
mod process;
mod socket;
mod standard;
mod table;
mod transfer;
mod watch;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::policy::{Budget, Policy, errno};
use crate::record::Report;
use crate::service::Service;
use context::{Context, owner_of};

#[cfg(feature = "test-utils")]
pub(crate) use console::pieces_alone;
pub use console::{Console, ConsoleError, Sink};
pub use standard::Input;

/// The built-in services of one server, and the state they share.
#[derive(Clone, Debug)]
pub struct Builtins {
    policy: Arc<Policy>,
    context: Context,
    console: Arc<Console>,
    files: Arc<table::FileTable>,
    standard: standard::Standard,
}

impl Builtins {
    /// The services that `policy` grants, with what kernels print going to `console`.
    pub fn new(policy: Policy, console: Console) -> Self {
        if !policy.mounts.is_empty() {
            table::raise_file_limit();
        }
        let budget = Arc::new(Budget::new(policy.limits));
        let files = Arc::new(table::FileTable::new(budget.open_files()));
        let standard = standard::Standard::new();
        Self { policy: Arc::new(policy), context: Context::new(budget), console: Arc::new(console), files, standard }
    }

    /// With standard input from there.
    ///
    /// # Errors
    /// When the system has no thread or file left for it.
    pub fn stdin(mut self, input: Input) -> std::io::Result<Self> {
        self.standard.open_input(input)?;
        Ok(self)
    }

    /// What programs asked for and were not granted, since this was last asked.
    pub fn denials(&self) -> Vec<crate::policy::Denial> {
        self.policy.denials()
    }

    /// All of them, for registration.
    pub fn services(&self) -> Vec<Service> {
        let mut all = console::services(&self.context, &self.console);
        // Files are opened so that none of them makes anybody wait for somebody else.
        all.extend(files::services(&self.context, &self.policy, &self.files).into_iter().map(Service::brief));
        all.extend(transfer::services(&self.context, &self.files).into_iter().map(Service::brief));
        all.extend(clock::services(&self.context));
        all.extend(environment::services(&self.context, &self.policy));
        all.extend(process::services(&self.context));
        all.extend(self.standard.services(&self.context, &self.policy, &self.files, &self.console));
        all
    }

    /// Waits until everything printed is written.
    ///
    /// # Errors
    /// When something could not be written, such as to a closed pipe; each such failure is reported once.
    pub fn flush(&self) -> Result<(), ConsoleError> {
        self.console.flush()
    }

    /// Closes the files of a port buffer that is gone, given by its report, and writes what it has begun to print.
    pub(crate) fn forget(&self, report: &Report) {
        self.console.forget(owner_of(report));
        self.files.forget(owner_of(report));
    }
}
