//! Signals, and the thread that calls handlers.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use offload::hsa::sys::*;

use crate::queues::Ring;
use crate::world::{TIMESTAMP_HZ, lock, world};

/// A signal.
#[derive(Default)]
pub(crate) struct Signal {
    /// Sequentially consistent throughout: this is a stand-in, and shall hide nothing behind its own ordering but the
    /// order of events.
    value: AtomicI64,
    /// Whether a handler waits for it.
    watched: AtomicBool,
    sleep: Mutex<()>,
    changed: Condvar,
    /// Begin and end of the packet that decremented it, plus 1; 0 where nobody noted them.
    times: [AtomicU64; 2],
    /// The queue whose doorbell it is.
    pub(crate) doorbell: OnceLock<Weak<Ring>>,
}

static SIGNALS: OnceLock<RwLock<HashMap<u64, Arc<Signal>>>> = OnceLock::new();
static NEXT: AtomicU64 = AtomicU64::new(0x5160_0000_0001);

fn signals() -> &'static RwLock<HashMap<u64, Arc<Signal>>> {
    SIGNALS.get_or_init(RwLock::default)
}

/// The signal of a handle.
pub(crate) fn find(handle: hsa_signal_t) -> Option<Arc<Signal>> {
    signals().read().unwrap_or_else(PoisonError::into_inner).get(&handle.handle).cloned()
}

fn known(handle: hsa_signal_t) -> Arc<Signal> {
    find(handle).unwrap_or_else(|| crate::misuse(&format!("{:#x} is no signal", handle.handle)))
}

/// A new signal.
pub(crate) fn make(value: i64) -> (hsa_signal_t, Arc<Signal>) {
    let handle = NEXT.fetch_add(1, Ordering::SeqCst);
    let signal = Arc::new(Signal { value: AtomicI64::new(value), ..Signal::default() });
    signals().write().unwrap_or_else(PoisonError::into_inner).insert(handle, signal.clone());
    (hsa_signal_t { handle }, signal)
}

/// Forgets a signal.
pub(crate) fn forget(handle: hsa_signal_t) -> bool {
    signals().write().unwrap_or_else(PoisonError::into_inner).remove(&handle.handle).is_some()
}

impl Signal {
    pub(crate) fn load(&self) -> i64 {
        self.value.load(Ordering::SeqCst)
    }

    pub(crate) fn store(&self, value: i64) {
        self.value.store(value, Ordering::SeqCst);
        self.tell();
    }

    pub(crate) fn add(&self, value: i64) {
        self.value.fetch_add(value, Ordering::SeqCst);
        self.tell();
    }

    pub(crate) fn subtract(&self, value: i64) {
        self.value.fetch_sub(value, Ordering::SeqCst);
        self.tell();
    }

    /// Notes when a packet ran, before it is told that it has.
    pub(crate) fn note(&self, begin: u64, end: u64) {
        self.times[0].store(begin + 1, Ordering::SeqCst);
        self.times[1].store(end + 1, Ordering::SeqCst);
    }

    fn tell(&self) {
        drop(lock(&self.sleep));
        self.changed.notify_all();
        if self.watched.load(Ordering::SeqCst) {
            HANDLERS.look();
        }
    }

    /// Sleeps until the condition may hold, or for a while.
    pub(crate) fn wait(&self, holds: impl Fn(i64) -> bool, limit: Duration) -> i64 {
        let until = Instant::now() + limit;
        let mut sleep = lock(&self.sleep);
        loop {
            let value = self.load();
            let now = Instant::now();
            if holds(value) || now >= until {
                return value;
            }
            sleep = self.changed.wait_timeout(sleep, until - now).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// `hsa_signal_create`.
///
/// # Safety
/// `signal` is a place for a handle, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_signal_create(
    value: i64,
    count: u32,
    consumers: *const hsa_agent_t,
    signal: *mut hsa_signal_t,
) -> hsa_status_t {
    if signal.is_null() || (count > 0 && consumers.is_null()) {
        return hsa_status_t::INVALID_ARGUMENT;
    }
    // SAFETY: the caller's.
    unsafe { signal.write(make(value).0) };
    hsa_status_t::SUCCESS
}

/// `hsa_signal_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    if forget(signal) { hsa_status_t::SUCCESS } else { hsa_status_t::INVALID_SIGNAL }
}

/// `hsa_signal_store_screlease`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_store_screlease(signal: hsa_signal_t, value: i64) {
    let signal = known(signal);
    match signal.doorbell.get() {
        Some(ring) => {
            if let Some(ring) = ring.upgrade() {
                ring.ring(value as u64);
            }
        }
        None => signal.store(value),
    }
}

/// `hsa_signal_subtract_screlease`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_subtract_screlease(signal: hsa_signal_t, value: i64) {
    known(signal).subtract(value);
}

/// `hsa_signal_add_screlease`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_add_screlease(signal: hsa_signal_t, value: i64) {
    known(signal).add(value);
}

/// The older name of `hsa_signal_add_screlease`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_add_release(signal: hsa_signal_t, value: i64) {
    hsa_signal_add_screlease(signal, value);
}

/// `hsa_signal_load_scacquire`.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_load_scacquire(signal: hsa_signal_t) -> i64 {
    known(signal).load()
}

fn holds(condition: u32, value: i64, compare: i64) -> bool {
    match condition {
        0 => value == compare,
        1 => value != compare,
        CONDITION_LT => value < compare,
        3 => value >= compare,
        _ => crate::misuse(&format!("{condition} is no condition")),
    }
}

/// `hsa_signal_wait_scacquire`. Every fifth wait returns at once, whatever the value.
#[unsafe(no_mangle)]
pub extern "C" fn hsa_signal_wait_scacquire(signal: hsa_signal_t, condition: u32, value: i64, timeout: u64, _how: u32) -> i64 {
    static WAITS: AtomicU64 = AtomicU64::new(0);
    let signal = known(signal);
    if WAITS.fetch_add(1, Ordering::SeqCst) % 5 == 4 {
        return signal.load();
    }
    let nanoseconds = u128::from(timeout) * 1_000_000_000 / u128::from(TIMESTAMP_HZ);
    let limit = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)).min(Duration::from_secs(3600));
    signal.wait(|now| holds(condition, now, value), limit)
}

/// A handler that waits.
struct Waiting {
    signal: Arc<Signal>,
    condition: u32,
    value: i64,
    handler: SignalHandler,
    data: usize,
}

/// Handlers, and the thread that calls them.
struct Handlers {
    state: Mutex<HandlerState>,
    changed: Condvar,
}

struct HandlerState {
    list: Vec<Waiting>,
    started: bool,
    /// Changes that the thread has not looked at.
    changes: u64,
}

static HANDLERS: Handlers =
    Handlers { state: Mutex::new(HandlerState { list: Vec::new(), started: false, changes: 0 }), changed: Condvar::new() };

impl Handlers {
    fn look(&self) {
        lock(&self.state).changes += 1;
        self.changed.notify_all();
    }

    fn work(&self) {
        let mut state = lock(&self.state);
        loop {
            state.changes = 0;
            // Last come, first served: handlers may be called in any order.
            let next = state.list.iter().rposition(|w| holds(w.condition, w.signal.load(), w.value));
            match next {
                Some(at) => {
                    let waiting = state.list.remove(at);
                    drop(state);
                    // SAFETY: whoever registered it promised that it takes this data.
                    let again = unsafe { (waiting.handler)(waiting.signal.load(), waiting.data as *mut c_void) };
                    state = lock(&self.state);
                    if again {
                        state.list.push(waiting);
                    }
                }
                None if state.changes == 0 => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                None => {}
            }
        }
    }
}

/// `hsa_amd_signal_async_handler`.
///
/// # Safety
/// `handler` takes `data`, on another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_signal_async_handler(
    signal: hsa_signal_t,
    condition: u32,
    value: i64,
    handler: SignalHandler,
    data: *mut c_void,
) -> hsa_status_t {
    let Some(signal) = find(signal) else { return hsa_status_t::INVALID_SIGNAL };
    signal.watched.store(true, Ordering::SeqCst);
    let mut state = lock(&HANDLERS.state);
    state.list.push(Waiting { signal, condition, value, handler, data: data.expose_provenance() });
    state.changes += 1;
    if !state.started {
        state.started = true;
        std::thread::Builder::new().name("hsa-handlers".into()).spawn(|| HANDLERS.work()).expect("a thread");
    }
    drop(state);
    HANDLERS.changed.notify_all();
    hsa_status_t::SUCCESS
}

/// `hsa_amd_profiling_get_dispatch_time`.
///
/// # Safety
/// `time` is a place for the result, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hsa_amd_profiling_get_dispatch_time(
    agent: hsa_agent_t,
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_dispatch_time_t,
) -> hsa_status_t {
    if world().gpu(agent).is_none() {
        return hsa_status_t::INVALID_AGENT;
    }
    let Some(signal) = find(signal) else { return hsa_status_t::INVALID_SIGNAL };
    let [start, end] = [&signal.times[0], &signal.times[1]].map(|time| time.load(Ordering::SeqCst));
    if start == 0 || end == 0 || time.is_null() {
        return hsa_status_t::ERROR;
    }
    // SAFETY: the caller's.
    unsafe { time.write(hsa_amd_profiling_dispatch_time_t { start: start - 1, end: end - 1 }) };
    hsa_status_t::SUCCESS
}
