//! What every built-in service is made with: how it runs, whose call it is, and how it answers.

use hostcall_abi::codec::Fixed;

use super::errno;
use crate::policy::Limits;
use crate::service::Completion;
use crate::service::Invocation;
use crate::service::{Definition, Failure, HandlerResult, Service};

/// What all built-in services are made with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// What each program may use.
    pub(super) limits: Limits,
}

impl Context {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// The service of a definition, whose handler decodes its arguments itself and never blocks.
    pub(super) fn inline<F>(&self, definition: Definition, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        let limits = self.limits;
        self.uncounted(
            definition,
            move |call| if limits.call(call.tenant()) { handler(call) } else { Err(Failure::Refused { code: errno::EDQUOT }) },
        )
    }

    /// As `inline`, for handlers that may block, on the blocking pool.
    pub(super) fn blocking<F>(&self, definition: Definition, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        self.inline(definition, handler).blocking()
    }

    /// As `inline`, for handlers that mostly need not block: they say [`Failure::WouldBlock`] when they would and may
    /// not, and are run again on the blocking pool.
    pub(super) fn adaptive<F>(&self, definition: Definition, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        let limits = self.limits;
        let counted = move |call: &mut Invocation<'_>| {
            // A call that goes on in the blocking pool has been counted.
            if call.may_block() || limits.call(call.tenant()) { handler(call) } else { Err(Failure::Refused { code: errno::EDQUOT }) }
        };
        self.uncounted(definition, counted).blocking_if_needed()
    }

    /// A service that answers later.
    pub(super) fn deferred<F>(&self, definition: Definition, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>, Completion) -> Result<(), (Completion, Failure)> + Send + Sync + 'static,
    {
        let limits = self.limits;
        Service::deferred(definition, move |call, done| {
            if !limits.call(call.tenant()) {
                return done.fail(Failure::Refused { code: errno::EDQUOT });
            }
            if let Err((done, failure)) = handler(call, done) {
                done.fail(failure);
            }
        })
    }

    /// As `inline`, not counted against the cap on calls.
    pub(super) fn uncounted<F>(&self, definition: Definition, handler: F) -> Service
    where
        F: Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync + 'static,
    {
        // One loop over lanes is compiled for all of these services, not one for each: they wait for the system.
        let handler: Box<dyn Fn(&mut Invocation<'_>) -> HandlerResult + Send + Sync> = Box::new(handler);
        Service::new(definition, handler)
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
