//! The built-in services: what the device library's `print`, `fs`, `time`, `env` and `process` call.
//!
//! They are ordinary services, made from the one table in [`hostcall_abi::services`]; what they allow is the [`Policy`].

mod clock;
mod console;
mod environment;
mod errno;
mod files;
mod process;
mod standard;
mod table;
mod transfer;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::completion::Completion;
use crate::invocation::Invocation;
use crate::policy::{Budget, Policy};
use crate::report::Report;
use crate::service::{Failure, HandlerResult, Service};

pub use console::{Console, ConsoleError, Sink};
pub use standard::Input;

/// The host side of the built-in services' traits. Only their definitions are used: handlers are written against the invocation, so
/// that files are read into staging directly, and answers may be shorter than what was asked for.
mod define {
    hostcall_abi::builtin_services!(hostcall_macros::service(side = "host", krate = crate));
    hostcall_abi::std_services!(hostcall_macros::service(side = "host", krate = crate));
}

/// The built-in services of one server, and the state they share.
#[derive(Debug)]
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
        Self { policy: Arc::new(policy), context: Context { budget }, console: Arc::new(console), files, standard }
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
        all.extend(files::services(&self.context, &self.policy, &self.files));
        all.extend(transfer::services(&self.context, &self.files));
        all.extend(clock::services(&self.context));
        all.extend(environment::services(&self.context, &self.policy));
        all.extend(process::services(&self.context));
        all.extend(self.standard.services(&self.context, &self.policy, &self.files));
        all
    }

    /// Waits until everything printed is written.
    ///
    /// # Errors
    /// When something could not be written, such as to a closed pipe; each such failure is reported once.
    pub fn flush(&self) -> Result<(), ConsoleError> {
        self.console.flush()
    }

    /// Closes the files of a port buffer that is gone, given by its report.
    pub(crate) fn forget(&self, report: &Report) {
        self.files.forget(owner_of(report));
    }
}

/// What tells the programs of a server apart: each has one port buffer, and each buffer one report.
fn owner_of(report: &Report) -> usize {
    std::ptr::from_ref(report) as usize
}

/// What all built-in services are made with.
#[derive(Clone, Debug)]
struct Context {
    budget: Arc<Budget>,
}

impl Context {
    /// The service of a definition, whose handler decodes its arguments itself and never blocks.
    fn inline<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        let budget = self.budget.clone();
        self.uncounted(defined, move |call| if budget.call() { handler(call) } else { Err(Failure::Refused { code: errno::EDQUOT }) })
    }

    /// As `inline`, for handlers that may block, on the blocking pool.
    fn blocking<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        self.inline(defined, handler).blocking()
    }

    /// As `inline`, for handlers that mostly need not block: they say [`Failure::WouldBlock`] when they would and may not, and are run
    /// again on the blocking pool.
    fn adaptive<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        let budget = self.budget.clone();
        let counted = move |call: &mut Invocation<'_>| {
            // A call that goes on in the blocking pool has been counted.
            if call.may_block() || budget.call() { handler(call) } else { Err(Failure::Refused { code: errno::EDQUOT }) }
        };
        self.uncounted(defined, counted).blocking_if_needed()
    }

    /// A service that answers later.
    fn deferred<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>, Completion) -> Result<(), (Completion, Failure)> + Send + Sync + 'static,
    {
        let budget = self.budget.clone();
        Service::deferred(defined.definition().clone(), move |call, done| {
            if !budget.call() {
                return done.fail(Failure::Refused { code: errno::EDQUOT });
            }
            if let Err((done, failure)) = handler(call, done) {
                done.fail(failure);
            }
        })
    }

    /// As `inline`, not counted against the cap on calls.
    fn uncounted<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        Service::new(defined.definition().clone(), handler)
    }
}
