//! What a mock of the API is made of: hooks, and faults.

use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::Error;
use crate::sys::ol_errc_t;

type Before<A> = Arc<dyn Fn(&mut A) + Send + Sync>;
type Replace<A> = Arc<dyn Fn(&A) -> Result<(), Error> + Send + Sync>;
type After<A> = Arc<dyn Fn(&A, &mut Result<(), Error>) + Send + Sync>;

/// What happens at a function's calls, whose arguments are an `A`. Hooks can be set at any time, also from hooks; calls
/// under way keep the old ones.
pub struct Hook<A>(RwLock<Set<A>>);

struct Set<A> {
    before: Option<Before<A>>,
    replace: Option<Replace<A>>,
    after: Option<After<A>>,
}

impl<A> Clone for Set<A> {
    fn clone(&self) -> Self {
        Set { before: self.before.clone(), replace: self.replace.clone(), after: self.after.clone() }
    }
}

impl<A> Default for Hook<A> {
    fn default() -> Self {
        Hook(RwLock::new(Set { before: None, replace: None, after: None }))
    }
}

impl<A> fmt::Debug for Hook<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = self.get();
        let (before, replace, after) = (set.before.is_some(), set.replace.is_some(), set.after.is_some());
        f.debug_struct("Hook").field("before", &before).field("replace", &replace).field("after", &after).finish()
    }
}

impl<A> Hook<A> {
    /// Calls `f` first; it may change the arguments.
    pub fn before(&self, f: impl Fn(&mut A) + Send + Sync + 'static) {
        self.set(|set| set.before = Some(Arc::new(f)));
    }

    /// Calls `f` instead of what the mock does by itself.
    pub fn replace(&self, f: impl Fn(&A) -> Result<(), Error> + Send + Sync + 'static) {
        self.set(|set| set.replace = Some(Arc::new(f)));
    }

    /// Calls `f` last; it may change the result.
    pub fn after(&self, f: impl Fn(&A, &mut Result<(), Error>) + Send + Sync + 'static) {
        self.set(|set| set.after = Some(Arc::new(f)));
    }

    /// Takes all three away.
    pub fn clear(&self) {
        self.set(|set| *set = Set { before: None, replace: None, after: None });
    }

    /// Does one call.
    pub(crate) fn run(&self, name: &str, faults: &Faults, mut call: A, default: impl FnOnce(&A) -> Result<(), Error>) -> Result<(), Error> {
        let hooks = self.get();
        if let Some(before) = &hooks.before {
            before(&mut call);
        }
        let mut result = match (faults.next(name), &hooks.replace) {
            (Some(error), _) => Err(error),
            (None, Some(replace)) => replace(&call),
            (None, None) => default(&call),
        };
        if let Some(after) = &hooks.after {
            after(&call, &mut result);
        }
        result
    }

    fn get(&self) -> Set<A> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, change: impl FnOnce(&mut Set<A>)) {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Calls that fail without being made.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<Fault>>);

#[derive(Debug)]
struct Fault {
    function: String,
    /// How many calls come before the one that fails.
    left: u64,
    code: ol_errc_t,
}

/// Why a list of faults cannot be read.
#[derive(PartialEq, Eq)]
pub struct FaultError(String);

hostcall_error::readable!(FaultError);

impl fmt::Display for FaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no fault; write FUNCTION:NUMBER:CODE, such as olMemAlloc:3:OL_ERRC_OUT_OF_RESOURCES", self.0)
    }
}

impl std::error::Error for FaultError {}

impl Faults {
    /// Lets the `nth` call (from 1, counted from now) of a function fail.
    pub fn fail(&self, function: &str, nth: u64, code: ol_errc_t) {
        let fault = Fault { function: function.to_owned(), left: nth.saturating_sub(1), code };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// Adds a list of faults: `olMemAlloc:3:OL_ERRC_OUT_OF_RESOURCES,…`.
    ///
    /// # Errors
    ///
    /// The first that cannot be read. Those before it are added.
    pub fn add(&self, list: &str) -> Result<(), FaultError> {
        for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (function, nth, code) = parse(item).ok_or_else(|| FaultError(item.to_owned()))?;
            self.fail(function, nth, code);
        }
        Ok(())
    }

    /// The faults that `OFFLOAD_MOCK_FAIL` lists. What is wrong with it is said on standard error.
    pub fn from_environment() -> Faults {
        let faults = Faults::default();
        if let Err(error) = faults.add(&std::env::var("OFFLOAD_MOCK_FAIL").unwrap_or_default()) {
            eprintln!("offload: OFFLOAD_MOCK_FAIL: {error}");
        }
        faults
    }

    fn next(&self, function: &str) -> Option<Error> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = None;
        faults.retain_mut(|fault| {
            let is_due = fault.function == function && fault.left == 0;
            if is_due && due.is_none() {
                due = Some(Error::new(fault.code, "this fault was injected"));
                return false;
            }
            if fault.function == function {
                fault.left = fault.left.saturating_sub(1);
            }
            true
        });
        due
    }
}

fn parse(item: &str) -> Option<(&str, u64, ol_errc_t)> {
    let (function, rest) = item.split_once(':')?;
    let (nth, code) = rest.split_once(':')?;
    let nth = nth.parse().ok().filter(|nth| *nth > 0)?;
    let code = ol_errc_t::ALL.iter().find(|known| known.to_string() == code)?;
    Some((function, nth, *code))
}

/// An address that no other handle of a mock has. Nothing is there.
pub fn new_address() -> *mut c_void {
    /// Nothing is published by it, so its order against other memory does not matter.
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    ptr::without_provenance_mut(NEXT.fetch_add(0x10, Ordering::Relaxed))
}

/// The result of destroying a handle: another thread may have done it since it was checked.
pub fn destroyed(was_live: bool) -> Result<(), Error> {
    if was_live { Ok(()) } else { Err(Error::new(ol_errc_t::OL_ERRC_INVALID_ARGUMENT, "the handle has been destroyed by another thread")) }
}

/// Fills `count` values with zeros, if there are any.
///
/// # Safety
///
/// `to` is null or points to as many values, and zeros are one.
pub unsafe fn zero<T>(to: *mut T, count: usize) {
    if !to.is_null() {
        // SAFETY: the caller says so.
        unsafe { to.write_bytes(0, count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(hook: &Hook<u32>, faults: &Faults) -> Result<(), Error> {
        hook.run("olX", faults, 1, |call| if *call == 1 { Ok(()) } else { Err(Error::new(ol_errc_t::OL_ERRC_INVALID_VALUE, "changed")) })
    }

    #[test]
    fn hooks_see_the_call_change_it_and_change_its_result() {
        let hook = Hook::default();
        let faults = Faults::default();
        assert_eq!(run(&hook, &faults), Ok(()));
        hook.before(|call| *call = 2);
        assert_eq!(run(&hook, &faults).unwrap_err().details(), "changed");
        hook.replace(|call| Err(Error::new(ol_errc_t::OL_ERRC_UNKNOWN, format!("replaced {call}"))));
        assert_eq!(run(&hook, &faults).unwrap_err().details(), "replaced 2");
        hook.after(|_, result| *result = Ok(()));
        assert_eq!(run(&hook, &faults), Ok(()));
        hook.clear();
        assert_eq!(run(&hook, &faults), Ok(()));
    }

    #[test]
    fn the_nth_call_fails_and_only_that() {
        let (hook, faults) = (Hook::default(), Faults::default());
        faults.add("olX:2:OL_ERRC_OUT_OF_RESOURCES, olY:1:OL_ERRC_UNKNOWN").unwrap();
        let codes: Vec<_> = (0..4).map(|_| run(&hook, &faults).err().map(|error| error.code)).collect();
        assert_eq!(codes, [None, Some(ol_errc_t::OL_ERRC_OUT_OF_RESOURCES), None, None]);
        assert_eq!(faults.add("olX:0:OL_ERRC_UNKNOWN"), Err(FaultError("olX:0:OL_ERRC_UNKNOWN".into())));
        assert!(faults.add("olX:1:OL_ERRC_NO_SUCH").is_err() && faults.add("olX").is_err());
    }
}
