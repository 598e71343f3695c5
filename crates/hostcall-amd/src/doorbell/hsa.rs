//! Signals of AMD's runtime as doorbells.
//!
//! The runtime is looked for in the process first, as AMD's library does; then it is opened.
//! `HOSTCALL_AMD_DOORBELL=own` keeps it out, `HOSTCALL_HSA_LIBRARY` names another library. Each function has an older
//! name in older runtimes, and either will do.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use hostcall_error::Origin;
use libloading::os::unix::Library;

use super::known::Known;
use crate::Error;
use crate::patience::Patience;

type Create = unsafe extern "C" fn(i64, u32, *const c_void, *mut u64) -> u32;
type Wait = unsafe extern "C" fn(u64, u32, i64, u64, u32) -> i64;
type Change = unsafe extern "C" fn(u64, i64);

/// `HSA_SIGNAL_CONDITION_NE`.
const DIFFERENT: u32 = 1;
/// `HSA_WAIT_STATE_BLOCKED`.
const BLOCKED: u32 = 0;
/// How long a consumer sleeps at most before it looks by itself: waves ring by the runtime, which wakes it.
const LONGEST: Duration = Duration::from_millis(100);
/// `HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY`.
const FREQUENCY: u32 = 3;
/// Ticks in a second where the runtime does not say it.
const USUAL_FREQUENCY: u64 = 100_000_000;
/// What our own wakes store: a value that ringing, which adds one, does not come to. The lower bits are left to
/// ringing.
const WAKE: i64 = 1 << 40;

/// The functions that are used.
pub(crate) struct Runtime {
    create: Create,
    wait: Wait,
    store: Change,
    add: Option<Change>,
    /// Ticks in a second.
    frequency: u64,
    origin: Origin,
    /// Never dropped: the runtime is a static's.
    _library: Library,
}

/// The first of some names that a library has.
///
/// # Safety
/// All of them are functions of type `T`.
unsafe fn first<T: Copy>(library: &Library, names: &[&str]) -> Option<T> {
    // SAFETY: the caller's.
    names.iter().find_map(|name| unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|symbol| *symbol))
}

impl Runtime {
    /// The runtime of this process, unless there is none that works.
    pub(crate) fn open() -> Option<Runtime> {
        let wanted = std::env::var_os("HOSTCALL_AMD_DOORBELL");
        if wanted.as_deref().is_some_and(|wanted| wanted == "own") {
            return None;
        }
        if let Some(runtime) = Self::resolve(Library::this()) {
            return Some(runtime);
        }
        let name = std::env::var_os("HOSTCALL_HSA_LIBRARY").unwrap_or_else(|| "libhsa-runtime64.so.1".into());
        // SAFETY: the library's constructors are those of AMD's runtime, or of what stands in for it.
        Self::resolve(unsafe { Library::new(name) }.ok()?)
    }

    fn resolve(library: Library) -> Option<Runtime> {
        // SAFETY: the types are the interface's; a status is a C enumeration of 32 bits.
        let (init, create, wait, store, add) = unsafe {
            (
                first::<unsafe extern "C" fn() -> u32>(&library, &["hsa_init"])?,
                first::<Create>(&library, &["hsa_signal_create"])?,
                first::<Wait>(&library, &["hsa_signal_wait_scacquire", "hsa_signal_wait_acquire"])?,
                first::<Change>(&library, &["hsa_signal_store_screlease", "hsa_signal_store_release"])?,
                first::<Change>(&library, &["hsa_signal_add_screlease", "hsa_signal_add_release"]),
            )
        };
        // SAFETY: it may be called any number of times; nothing here shuts the runtime down.
        let started = unsafe { init() } == 0;
        // SAFETY: as above.
        let info = unsafe { first::<unsafe extern "C" fn(u32, *mut c_void) -> u32>(&library, &["hsa_system_get_info"]) };
        let mut frequency = 0u64;
        // SAFETY: this number's value has 64 bits, for which there is a place.
        let known = started && info.is_some_and(|info| unsafe { info(FREQUENCY, (&raw mut frequency).cast()) } == 0);
        let frequency = if known && frequency != 0 { frequency } else { USUAL_FREQUENCY };
        started.then(|| Runtime { create, wait, store, add, frequency, origin: Origin::here(), _library: library })
    }

    /// The process that opened it: it does not survive `fork`.
    pub(crate) fn origin(&self) -> Origin {
        self.origin
    }
}

/// All signals that are doorbells.
static ALL: Known = Known::new();

/// A signal. Never destroyed.
#[derive(Clone, Copy)]
pub(crate) struct Signal {
    handle: u64,
    runtime: &'static Runtime,
    waker: &'static Waker,
}

/// What this library keeps of a signal.
struct Waker {
    /// What the next wake stores.
    next: AtomicI64,
    /// How long a consumer looks for what need not have rung before it sleeps.
    patience: Patience,
}

impl std::fmt::Debug for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signal({:#x})", self.handle)
    }
}

impl Signal {
    pub(crate) fn new(runtime: &'static Runtime) -> Result<Signal, Error> {
        let mut handle = 0;
        // SAFETY: no agents are named, and the handle has a place.
        let status = unsafe { (runtime.create)(0, 0, std::ptr::null(), &mut handle) };
        if status != 0 || handle == 0 {
            return Err(Error::Internal);
        }
        ALL.add(handle)?;
        Ok(Signal { handle, runtime, waker: Box::leak(Box::new(Waker { next: AtomicI64::new(WAKE), patience: Patience::new() })) })
    }

    pub(crate) fn handle(self) -> u64 {
        self.handle
    }

    pub(crate) fn wake(self) {
        // Relaxed: the numbers need only differ.
        let value = self.waker.next.fetch_add(WAKE, Ordering::Relaxed);
        // SAFETY: the signal is never destroyed.
        unsafe { (self.runtime.store)(self.handle, value) };
    }

    pub(crate) fn wait(self, seen: i64, limit: Option<Duration>, came: Option<impl FnMut() -> bool>) -> i64 {
        let in_vain = match came.map(|mut came| self.waker.patience.look(|| came().then_some(()))) {
            Some(Ok(())) => return seen,
            Some(Err(in_vain)) => Some(in_vain),
            None => None,
        };
        let ticks = ticks(limit.unwrap_or(LONGEST), self.runtime.frequency);
        // SAFETY: the signal is never destroyed.
        let value = unsafe { (self.runtime.wait)(self.handle, DIFFERENT, seen, ticks, BLOCKED) };
        if let Some(in_vain) = in_vain {
            self.waker.patience.slept(in_vain);
        }
        value
    }

    pub(crate) fn missed(self) {
        self.waker.patience.missed();
    }
}

/// A time as the runtime counts it.
fn ticks(time: Duration, frequency: u64) -> u64 {
    (time.as_nanos() * u128::from(frequency) / 1_000_000_000).max(1) as u64
}

/// Adds one to a signal.
pub(crate) fn ring(runtime: &Runtime, handle: u64) -> Result<(), Error> {
    if !ALL.has(handle) {
        return Err(Error::InvalidRequest);
    }
    let add = runtime.add.ok_or(Error::Internal)?;
    // SAFETY: it is a signal of this runtime, which is never destroyed.
    unsafe { add(handle, 1) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_the_runtime_s_own_ticks() {
        let (short, long) = (Duration::from_micros(100), Duration::from_millis(100));
        assert_eq!([ticks(short, 100_000_000), ticks(long, 100_000_000)], [10_000, 10_000_000]);
        assert_eq!([ticks(short, 1_000_000_000), ticks(long, 1_000_000_000)], [100_000, 100_000_000]);
        assert_eq!(ticks(short, 1), 1, "0 would be no wait at all");
    }
}
