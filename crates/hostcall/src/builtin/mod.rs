//! The built-in services: what the device library's `print`, `fs`, `time`, `env` and `process` call.
//!
//! They are ordinary services, made from the one table in [`hostcall_abi::services`]. The [`Policy`] decides what they
//! allow.

mod asserted;
mod clock;
mod console;
mod context;
mod counted;
mod define;
mod environment;
mod files;
mod listing;
pub(crate) mod llvm_libc;
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

use crate::policy::{Policy, errno};
use crate::rpc::Callback;
use crate::service::Service;
use crate::tenant::{Keeper, Tenant};
use context::Context;
use llvm_libc::handlers::Handlers;
use llvm_libc::recompiled::{self, Recompiled};

#[cfg(feature = "test-utils")]
pub(crate) use console::pieces_alone;
pub use console::{Console, ConsoleError, Sink};
pub use llvm_libc::handlers::RpcSession;
pub use standard::Input;

/// The built-in services of one server, and the state they share.
#[derive(Clone)]
pub struct Builtins {
    policy: Arc<Policy>,
    context: Context,
    console: Arc<Console>,
    files: Arc<table::FileTable>,
    standard: standard::Standard,
    /// Who is asked for opcodes of LLVM's wire that nobody here knows.
    rpc_callback: Option<Callback>,
    /// Those whose handlers the user has given.
    rpc_handlers: Handlers,
    /// Programs whose clients of LLVM's `rpc.h` were recompiled.
    recompiled: Arc<Recompiled>,
}

impl std::fmt::Debug for Builtins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { policy, context, console, files, standard, rpc_callback: _, rpc_handlers: _, recompiled: _ } = self;
        let mut shown = f.debug_struct("Builtins");
        shown.field("policy", policy).field("context", context).field("console", console).field("files", files);
        shown.field("standard", standard).finish_non_exhaustive()
    }
}

impl Builtins {
    /// The services that `policy` grants, with what kernels print going to `console`.
    pub fn new(policy: Policy, console: Console) -> Self {
        if !policy.mounts.is_empty() {
            counted::raise_file_limit();
        }
        let context = Context::new(policy.limits);
        let files = Arc::new(table::FileTable::new(policy.limits.open_files));
        let standard = standard::Standard::new(policy.limits.waits);
        let (policy, console, recompiled) = (Arc::new(policy), Arc::new(console), Arc::default());
        Self { policy, context, console, files, standard, rpc_callback: None, rpc_handlers: Handlers::default(), recompiled }
    }

    /// With handlers for opcodes of LLVM's wire.
    pub(crate) fn rpc_handlers(mut self, handlers: Handlers) -> Self {
        self.rpc_handlers = handlers;
        self
    }

    /// With somebody who is asked for opcodes of LLVM's wire that nobody here knows.
    pub(crate) fn rpc_callback(mut self, callback: Option<Callback>) -> Self {
        self.rpc_callback = callback;
        self
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
        all.extend(recompiled::services(&self.context, &self.recompiled));
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
}

impl Keeper for Builtins {
    /// Writes what a program has begun to print, closes what it has open, and ends its calls that wait.
    fn let_go(&self, tenant: &Tenant) {
        // First those that use the others.
        let keepers: [&dyn Keeper; 4] = [&*self.recompiled, &*self.console, &*self.files, &self.standard];
        keepers.into_iter().for_each(|keeper| keeper.let_go(tenant));
    }
}
