//! Services that only programs with Rust's `std` call: standard input, entropy, what POSIX has of files, and sockets.
//!
//! [`hostcall_abi::std_services`] defines them. None of them blocks a serving thread. Calls that wait for the network
//! hold no thread at all: they are in the [`reactor`].

pub(super) mod address;
mod changes;
mod contents;
mod input;
mod links;
mod names;
mod notices;
mod opens;
mod options;
pub(super) mod reactor;
mod sockets;
mod stat;
mod streams;
mod system;
mod waiting;
mod watching;

use std::sync::Arc;

use super::console::Console;
use super::context::Context;
use super::table::FileTable;
use crate::policy::Policy;
use crate::service::Service;
use crate::tenant::{Keeper, Tenant};

pub use input::Input;
pub(super) use input::Source;

/// What these services share.
#[derive(Clone, Debug)]
pub(super) struct Standard {
    input: Arc<input::Source>,
    reactor: Arc<reactor::Reactor>,
}

impl Standard {
    /// With at most so many things for which a program's calls wait.
    pub(super) fn new(waits: usize) -> Self {
        Self { input: Arc::default(), reactor: Arc::new(reactor::Reactor::new(waits)) }
    }

    /// Standard input.
    pub(super) fn source(&self) -> &Source {
        &self.input
    }

    /// Opens standard input.
    pub(super) fn open_input(&mut self, input: Input) -> std::io::Result<()> {
        self.input = Arc::new(input::Source::open(input)?);
        Ok(())
    }

    pub(super) fn services(&self, context: &Context, policy: &Arc<Policy>, files: &Arc<FileTable>, console: &Arc<Console>) -> Vec<Service> {
        let mut all = system::services(context, policy, &self.input);
        all.extend(streams::services(context, files, &self.input, console));
        // As for other services of files.
        let mut of_files = stat::services(context, policy, files);
        of_files.extend(opens::services(context, policy, files));
        of_files.extend(links::services(context, policy));
        of_files.extend(changes::services(context, policy, files));
        of_files.extend(contents::services(context, files));
        of_files.extend(notices::services(context, policy, files));
        all.extend(of_files.into_iter().map(Service::brief));
        all.extend(sockets::services(context, policy, files));
        all.extend(options::services(context, policy, files));
        all.extend(names::services(context, policy));
        all.extend(waiting::services(context, files, &self.input, console, &self.reactor));
        all.extend(watching::services(context, files, &self.input, &self.reactor));
        all
    }
}

impl Keeper for Standard {
    fn let_go(&self, tenant: &Tenant) {
        self.reactor.let_go(tenant);
    }
}
