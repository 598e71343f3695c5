//! Calls that kernels make to the host while they run.
//!
//! This crate knows how to find out that a program makes such calls, when its kernels run, and when somebody waits for
//! them. Who answers the calls is not its business: a library that has a server provides one ([`HostCalls`], through
//! [`Library`](super::Library)'s parameter).

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use hostcall_abi::descriptor::DESCRIPTOR_SYMBOL;
use hostcall_abi::llvm_rpc::CLIENT_SYMBOL;

use super::error::{fail, of_device};
use super::session::{PLATFORM_COUNT, Platform};
use crate::runtime::Error;
use crate::sys::{ol_errc_t, ol_platform_rpc_cb_t};

/// Attaches programs: gives them a server for their calls.
pub trait HostCalls: Send + Sync {
    /// Attaches a program that was loaded just now. `callback` is asked for the services of the program that the server
    /// does not have.
    ///
    /// # Errors
    /// Why the program cannot be loaded.
    fn attach(&self, program: &offload::Program, callback: RpcCallback) -> Result<Box<dyn Attached>, Refusal>;
}

/// A program with its server. Dropping it ends the server.
pub trait Attached: Send + Sync {
    /// Has the server look for calls until the result is dropped: from before a kernel's launch until it has ended.
    fn awake(&self) -> Box<dyn Send>;

    /// Somebody has waited for kernels of the program. Waits until what they posted is handled.
    ///
    /// # Errors
    /// What kernels and handlers reported, as text.
    fn collect(&self) -> Result<(), String>;
}

/// Why a program is not attached.
#[derive(Debug)]
pub enum Refusal {
    /// The program does not go with the server: it was built with another version, or another definition of a service.
    Mismatch(String),
    /// What the environment grants to kernels cannot be granted.
    Environment(String),
    /// The system has no threads left.
    System(String),
    /// The device failed.
    Device(offload::Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        match refusal {
            Refusal::Mismatch(text) => Error::new(ol_errc_t::OL_ERRC_INVALID_BINARY, text),
            Refusal::Environment(text) => Error::new(ol_errc_t::OL_ERRC_INVALID_VALUE, text),
            Refusal::System(text) => Error::new(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, text),
            Refusal::Device(error) => of_device(error),
        }
    }
}

/// What the first `olInit` brought.
static PROVIDED: OnceLock<&'static dyn HostCalls> = OnceLock::new();

/// Remembers who attaches programs. The first one stays.
pub(super) fn provide(calls: Option<&'static dyn HostCalls>) {
    if let Some(calls) = calls {
        PROVIDED.get_or_init(|| calls);
    }
}

/// The callback of each platform: null or a function.
static CALLBACKS: [AtomicPtr<()>; PLATFORM_COUNT] = [const { AtomicPtr::new(std::ptr::null_mut()) }; PLATFORM_COUNT];

/// What `olPlatformRegisterRPCCallback` was given for a platform, now and later.
#[derive(Clone, Copy, Debug)]
pub struct RpcCallback(usize);

impl RpcCallback {
    /// Calls the function, if there is one, with a port of `lanes` lanes; what it returns.
    ///
    /// # Safety
    /// `port` is what the function expects of the server, and lives until it returns.
    pub unsafe fn call(self, port: *mut c_void, lanes: u32) -> Option<u32> {
        // Acquire: pairs with the store in `register`; the function may use what its registration was preceded by.
        let callback = CALLBACKS[self.0].load(Ordering::Acquire);
        // SAFETY: stored by `register`, from such a value; null is `None`.
        let callback = unsafe { std::mem::transmute::<*mut (), ol_platform_rpc_cb_t>(callback) };
        // SAFETY: the caller's; whoever registered the function says that it may be called from any thread.
        callback.map(|callback| unsafe { callback(port, lanes) })
    }
}

/// Has a function answer the calls of a platform's kernels that the server does not know; null takes it back.
pub(super) fn register(platform: &Platform, callback: ol_platform_rpc_cb_t) -> Result<(), Error> {
    if PROVIDED.get().is_none() {
        let text = format!("kernels of {} cannot call the host: this library was made without a server", platform.driver.name());
        return fail(ol_errc_t::OL_ERRC_UNSUPPORTED, text);
    }
    let callback = callback.map_or(std::ptr::null_mut(), |callback| callback as *mut ());
    // Release: pairs with the load in `call`.
    CALLBACKS[platform.index()].store(callback, Ordering::Release);
    Ok(())
}

/// Forgets all callbacks: a session ends.
pub(super) fn end() {
    // Release: pairs with the load in `call`, as in `register`.
    CALLBACKS.iter().for_each(|callback| callback.store(std::ptr::null_mut(), Ordering::Release));
}

/// A program that is attached.
pub(super) struct Calls(Box<dyn Attached>);

impl Calls {
    pub(super) fn awake(&self) -> Box<dyn Send> {
        self.0.awake()
    }

    /// What waiting for its kernels comes to: the device's failure, or what they reported.
    pub(super) fn collected(&self, waited: Result<(), Error>) -> Result<(), Error> {
        let collected = self.0.collect();
        match (waited, collected) {
            (Ok(()), Ok(())) => Ok(()),
            (Ok(()), Err(report)) => fail(ol_errc_t::OL_ERRC_BACKEND_FAILURE, report),
            (Err(error), Ok(())) => Err(error),
            (Err(error), Err(report)) => fail(error.code, format!("{}\n{report}", error.details())),
        }
    }
}

/// Attaches a program, if it makes calls and there is a server. Without one the calls of its kernels fail.
pub(super) fn attach(platform: usize, program: &offload::Program) -> Result<Option<Arc<Calls>>, Error> {
    let has = |symbol| Ok::<_, Error>(program.find_global(symbol).map_err(of_device)?.is_some());
    let makes_calls = has(DESCRIPTOR_SYMBOL)? || has(CLIENT_SYMBOL)?;
    match PROVIDED.get() {
        Some(provided) if makes_calls => Ok(Some(Arc::new(Calls(provided.attach(program, RpcCallback(platform))?)))),
        _ => {
            program.without_server();
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_added_to_the_failure_of_the_device() {
        struct Failing;
        impl Attached for Failing {
            fn awake(&self) -> Box<dyn Send> {
                Box::new(())
            }
            fn collect(&self) -> Result<(), String> {
                Err("a lane panicked".into())
            }
        }
        let calls = Calls(Box::new(Failing));
        let error = calls.collected(Ok(())).unwrap_err();
        assert_eq!((error.code, &*error.details()), (ol_errc_t::OL_ERRC_BACKEND_FAILURE, "a lane panicked"));
        let error = calls.collected(fail(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, "no memory")).unwrap_err();
        assert_eq!((error.code, &*error.details()), (ol_errc_t::OL_ERRC_OUT_OF_RESOURCES, "no memory\na lane panicked"));
    }
}
