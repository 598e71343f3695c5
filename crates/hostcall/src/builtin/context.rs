//! What every built-in service is made with: how it runs, whose call it is, and how it answers.

use std::sync::Arc;

use hostcall_abi::codec::Fixed;

use super::errno;
use crate::policy::Budget;
use crate::record::Report;
use crate::service::Completion;
use crate::service::Invocation;
use crate::service::{Failure, HandlerResult, Service};

/// What tells the programs of a server apart: each has one port buffer, and each buffer one report.
pub(super) fn owner_of(report: &Report) -> usize {
    std::ptr::from_ref(report) as usize
}

/// What all built-in services are made with.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) budget: Arc<Budget>,
}

impl Context {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self { budget }
    }

    /// The service of a definition, whose handler decodes its arguments itself and never blocks.
    pub(super) fn inline<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        let budget = self.budget.clone();
        self.uncounted(defined, move |call| if budget.call() { handler(call) } else { Err(Failure::Refused { code: errno::EDQUOT }) })
    }

    /// As `inline`, for handlers that may block, on the blocking pool.
    pub(super) fn blocking<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        self.inline(defined, handler).blocking()
    }

    /// As `inline`, for handlers that mostly need not block: they say [`Failure::WouldBlock`] when they would and may not, and are run
    /// again on the blocking pool.
    pub(super) fn adaptive<F>(&self, defined: &Service, handler: F) -> Service
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
    pub(super) fn deferred<F>(&self, defined: &Service, handler: F) -> Service
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
    pub(super) fn uncounted<F>(&self, defined: &Service, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        Service::new(defined.definition().clone(), handler)
    }
}

/// Answers with a result whose error is an errno number.
pub(super) fn answer<T>(call: &mut Invocation<'_>, result: Result<T, u32>) -> HandlerResult
where
    Result<T, u32>: Fixed,
{
    call.reply(&result, &[]);
    Ok(())
}
