//! What an open device and everything made from it share: the runtime, the agent, and two facts.
//!
//! *Is it lost?* If a kernel traps, the runtime calls the queue's error callback. After a wild access it calls the
//! process's fault handler. After either the signals of queued work never fire. So the first such report marks the
//! context as lost, every launch in flight is counted as ended, and each wait looks at that mark now and then.
//!
//! *May it be called?* Completions run on the runtime's one thread for them, which must not wait for the device. So
//! calls from that thread are refused.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::discover::Found;
use super::fault;
use super::flight::{self, Outstanding};
use super::kernarg::Slabs;
use super::runtime::{Failed, Runtime};
use super::sys::*;
use crate::device::DeviceInfo;
use crate::error::Error;

/// Every context there is, for the runtime's callbacks.
static KNOWN: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());
static NUMBERS: AtomicU64 = AtomicU64::new(1);

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// See the module's documentation.
pub(super) struct Context {
    /// Its own among all contexts of the process: what callbacks know it by.
    pub(super) number: u64,
    pub(super) runtime: &'static Runtime,
    pub(super) found: Found,
    pub(super) info: DeviceInfo,
    /// For errors: `hsa:0 (AMD Instinct MI300X)`.
    pub(super) name: String,
    /// Ticks a second of time-outs and profiling times.
    pub(super) timestamp_hz: u64,
    /// Whether copies are done by engines beside the kernels. Without them a copy is a kernel of the runtime's.
    pub(super) engines: bool,
    /// Bytes of stack that kernels get whose need cannot be known beforehand. Relaxed: a setting; a launch sees the old
    /// or the new one.
    pub(super) stack: AtomicU32,
    pub(super) outstanding: Outstanding,
    pub(super) slabs: Mutex<Slabs>,
    /// Signals that nobody uses.
    pub(super) signals: Mutex<Vec<hsa_signal_t>>,
    loss: OnceLock<String>,
}

/// The variable with which ROCr is told not to copy by engines.
const ENGINES_VARIABLE: &str = "HSA_ENABLE_SDMA";

impl Context {
    pub(super) fn new(runtime: &'static Runtime, found: Found, info: DeviceInfo, timestamp_hz: u64) -> Arc<Context> {
        let name = format!("hsa:{} ({})", info.ordinal, info.name);
        let stack = default_stack(&info);
        let context = Arc::new(Context {
            // Relaxed: a number, nothing else.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            runtime,
            found,
            info,
            name,
            timestamp_hz,
            engines: std::env::var_os(ENGINES_VARIABLE).is_none_or(|value| value != "0"),
            stack: AtomicU32::new(stack),
            outstanding: Outstanding::default(),
            slabs: Mutex::default(),
            signals: Mutex::default(),
            loss: OnceLock::new(),
        });
        handle_faults(runtime);
        let mut known = lock(&KNOWN);
        known.retain(|context| context.strong_count() > 0);
        known.push(Arc::downgrade(&context));
        context
    }

    /// The context of this number, if it still exists.
    pub(super) fn find(number: u64) -> Option<Arc<Context>> {
        lock(&KNOWN).iter().filter_map(Weak::upgrade).find(|context| context.number == number)
    }

    /// Refuses what cannot work: calls of a lost device, and calls from a completion.
    pub(super) fn usable(&self) -> Result<(), Error> {
        if flight::in_completion() {
            return Err(fault::in_completion(&self.name));
        }
        self.good()
    }

    /// Refuses if the device is lost.
    pub(super) fn good(&self) -> Result<(), Error> {
        self.loss.get().map_or(Ok(()), |what| Err(fault::lost(&self.name, what)))
    }

    pub(super) fn is_lost(&self) -> bool {
        self.loss.get().is_some()
    }

    /// Marks the device as lost, and counts everything in flight as ended. The first reason is kept.
    pub(super) fn lose(&self, what: impl FnOnce() -> String) {
        let mut first = false;
        self.loss.get_or_init(|| {
            first = true;
            what()
        });
        if first {
            tracing::error!(device = self.name, reason = self.loss.get().map_or("", |text| text), "the device is lost");
        }
        self.outstanding.settle();
    }

    /// A call's failure as an error.
    pub(super) fn error(&self, failed: &Failed) -> Error {
        // A call that fails because the device is lost says so.
        self.good().err().unwrap_or_else(|| fault::call(self.runtime, failed))
    }

    pub(super) fn check(&self, result: Result<(), Failed>) -> Result<(), Error> {
        result.map_err(|failed| self.error(&failed))
    }

    /// For what cannot be reported: releasing.
    pub(super) fn ignore(&self, result: Result<(), Failed>) {
        if let Err(Failed { call, status }) = result {
            tracing::debug!(device = self.name, call, status = status.0, "ignored");
        }
    }

    /// Bytes of stack of a lane whose need cannot be known beforehand.
    pub(super) fn stack_bytes(&self) -> u32 {
        self.stack.load(Ordering::Relaxed)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // A lost device may still write to them: they are left to the process's end.
        if self.is_lost() {
            return;
        }
        for signal in std::mem::take(self.signals.get_mut().unwrap_or_else(PoisonError::into_inner)) {
            // SAFETY: made by this context, and nobody uses it any more.
            self.ignore(unsafe { self.runtime.hsa_signal_destroy(signal) });
        }
        for slab in self.slabs.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: allocated by this context; every launch that read it has ended, for each kept the context.
            self.ignore(unsafe { self.runtime.hsa_amd_memory_pool_free(slab as *mut c_void) });
        }
    }
}

/// Stack of lanes whose need nobody can tell, where memory allows it. The runtime allocates so much for every lane that
/// can be resident.
const STACK_BYTES: u64 = 4 << 10;

/// [`STACK_BYTES`], or less where that is more than a 32nd of memory; a multiple of 16.
fn default_stack(info: &DeviceInfo) -> u32 {
    let lanes = u64::from(info.resident_waves) * u64::from(info.wave_size);
    let affordable = info.memory_bytes / 32 / lanes.max(1);
    (affordable.clamp(1 << 10, STACK_BYTES) & !15) as u32
}

/// Asks to be told of memory faults. Without that the runtime prints them and aborts the process.
fn handle_faults(runtime: &'static Runtime) {
    static ASKED: OnceLock<()> = OnceLock::new();
    ASKED.get_or_init(|| {
        // SAFETY: the handler is a function that lives for ever and needs no data.
        if let Err(Failed { status, .. }) = unsafe { runtime.hsa_amd_register_system_event_handler(faulted, std::ptr::null_mut()) } {
            // Somebody else in this process (HIP) was first, and decides what happens.
            tracing::warn!(status = status.0, "memory faults of AMD GPUs are handled by somebody else in this process, who may abort it");
        }
    });
}

/// The runtime's report of a fault: `event` is valid during the call.
unsafe extern "C" fn faulted(event: *const hsa_amd_event_t, _: *mut c_void) -> hsa_status_t {
    // SAFETY: the runtime's event.
    let event = unsafe { &*event };
    let known: Vec<Arc<Context>> = lock(&KNOWN).iter().filter_map(Weak::upgrade).filter(|c| c.found.agent == event.agent).collect();
    for context in &known {
        context.lose(|| fault::event(event));
    }
    // Success keeps the runtime from aborting, and is right only if somebody was told.
    if known.is_empty() { hsa_status_t::ERROR } else { hsa_status_t::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceKind;

    fn info(memory_bytes: u64, resident_waves: u32) -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Hsa,
            ordinal: 0,
            name: String::new(),
            driver: String::new(),
            arch: "gfx942".into(),
            pci_bus_id: None,
            wave_size: 64,
            sms: 304,
            resident_waves,
            memory_bytes,
            max_group_size: 1024,
        }
    }

    #[test]
    fn stacks_of_all_lanes_take_at_most_a_32nd_of_memory_but_each_has_a_kibibyte() {
        assert_eq!(default_stack(&info(192 << 30, 304 * 32)), 4096);
        let small = default_stack(&info(8 << 30, 64 * 32));
        assert!((1024..4096).contains(&small) && small.is_multiple_of(16), "{small}");
        assert_eq!(default_stack(&info(1 << 20, 10_000)), 1024);
        assert_eq!(default_stack(&info(1 << 30, 0)), 4096);
    }
}
