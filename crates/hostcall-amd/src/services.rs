//! Services: which handler answers which number, which functions a kernel may have called, and what happens if there is
//! none.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int, c_void};
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{self, Error};
use crate::layout::{LANES, QWORDS};
use crate::rocm;

/// The service that answers what nothing else does.
pub(crate) const DEFAULT: u32 = 0;
/// The service that calls a function of the host.
pub(crate) const FUNCTION_CALL: u32 = 1;

/// A handler: its state, the service, and one lane's eight words in and out. Anything but 0 is a failure.
pub type ServiceHandler = unsafe extern "C-unwind" fn(*mut c_void, u32, *mut u64) -> c_int;
/// A handler of v0, which cannot fail.
pub type ServiceHandlerV0 = unsafe extern "C-unwind" fn(*mut c_void, u32, *mut u64);
/// Told of an error before the process ends: its state, and the error.
pub type ErrorHandler = unsafe extern "C-unwind" fn(*mut c_void, c_int);
/// The same in v0, with its parameters in another order.
pub type ErrorHandlerV0 = unsafe extern "C-unwind" fn(c_int, *mut c_void);
/// What service 1 calls: two words out, seven words in.
pub type Callable = unsafe extern "C-unwind" fn(*mut u64, *const u64);

/// A pointer of the client's, which is only ever handed back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State(pub(crate) *mut c_void);
// SAFETY: it is not dereferenced here; handlers must be fit for other threads, as the interface says.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

/// Who answers a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handler {
    V1(ServiceHandler, State),
    V0(ServiceHandlerV0, State),
    FunctionCall,
    /// Those of ROCm's device libraries.
    Printf,
    Memory(&'static rocm::Memory),
    Sanitizer,
}

/// Who is told of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnError {
    V1(ErrorHandler, State),
    V0(ErrorHandlerV0, State),
}

/// Numbers of services and addresses, looked up for each packet. The keys are the application's, so nobody can make
/// them collide, and a multiplication spreads them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }
    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio; the upper half has the most of it.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

type Spreading = BuildHasherDefault<Spread>;
/// Addresses that service 1 may call.
pub(crate) type Allowed = HashSet<u64, Spreading>;

/// Handlers of a process, or of one consumer of v0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Services {
    pub(crate) handlers: HashMap<u32, Handler, Spreading>,
    pub(crate) on_error: Option<OnError>,
    /// Addresses that service 1 may call.
    pub(crate) allowed: Allowed,
}

/// How a lane's call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Refused,
}

/// Whether a variable is set to something other than nothing and 0.
fn switch(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether service 1 calls any pointer, as AMD's library does.
fn unchecked() -> bool {
    static UNCHECKED: OnceLock<bool> = OnceLock::new();
    *UNCHECKED.get_or_init(|| switch("HOSTCALL_AMD_UNCHECKED"))
}

/// Whether a missing or failing handler refuses the packet instead of ending the process.
fn goes_on() -> bool {
    static GOES_ON: OnceLock<bool> = OnceLock::new();
    *GOES_ON.get_or_init(|| switch("HOSTCALL_AMD_NO_HALT"))
}

/// Whether calls of one consumer are made one after another, whatever blocks.
pub(crate) fn serial() -> bool {
    static SERIAL: OnceLock<bool> = OnceLock::new();
    *SERIAL.get_or_init(|| switch("HOSTCALL_AMD_SERIAL"))
}

static DEBUG: AtomicBool = AtomicBool::new(false);

/// Turns debug messages on.
pub(crate) fn enable_debug() {
    // Relaxed: nothing else depends on it.
    DEBUG.store(true, Ordering::Relaxed);
}

/// Writes a debug message to standard output, if they are on.
pub(crate) fn debug(message: impl FnOnce() -> String) {
    if DEBUG.load(Ordering::Relaxed) {
        // Nobody can be told that standard output is closed.
        let _ = writeln!(std::io::stdout(), "hostcall: {}", message());
    }
}

impl Handler {
    /// Answers the lanes of a mask, each with its words; whether one of them was refused. `failed` is told what a
    /// handler returned that failed, and says whether that refuses the lane, if the process goes on at all.
    pub(crate) fn call(
        self,
        service: u32,
        mask: u64,
        lanes: &mut [[u64; QWORDS]; LANES],
        allowed: &Allowed,
        failed: impl Fn(c_int) -> Outcome,
    ) -> bool {
        // Lanes that were not begun, and whether one was refused, for when a handler panics: they are written for each
        // lane and read then.
        let (left, refused) = (Cell::new(mask), Cell::new(false));
        // One guard for all lanes; after a panic another for those that are left.
        while left.get() != 0 {
            let run = || match self {
                Handler::V1(function, state) => each(&left, &refused, lanes, |words| {
                    // SAFETY: the client registered it as a handler of this type, with this state.
                    match unsafe { function(state.0, service, words) } {
                        0 => Outcome::Done,
                        code => failed(code),
                    }
                }),
                Handler::V0(function, state) => each(&left, &refused, lanes, |words| {
                    // SAFETY: as above.
                    unsafe { function(state.0, service, words) };
                    Outcome::Done
                }),
                Handler::FunctionCall => each(&left, &refused, lanes, |words| function_call(words, allowed)),
                Handler::Printf => each(&left, &refused, lanes, |words| {
                    // SAFETY: eight words, which nobody else refers to meanwhile.
                    rocm::printf(unsafe { &mut *words.cast() });
                    Outcome::Done
                }),
                Handler::Memory(memory) => each(&left, &refused, lanes, |words| {
                    // SAFETY: as above.
                    memory.call(unsafe { &mut *words.cast() })
                }),
                Handler::Sanitizer => {
                    // One report for the wave.
                    let mask = left.replace(0);
                    if rocm::report(mask, lanes) && failed(Error::Internal as c_int) == Outcome::Refused {
                        refused.set(true);
                    }
                }
            };
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                say(&format!("hostcall: a handler for service {service} panicked; the wave's call is refused"));
                refused.set(true);
            }
        }
        refused.get()
    }
}

/// Calls `one` with the words of each lane in `left`, which then has those behind it, so that a panic loses no lane.
#[inline]
fn each(left: &Cell<u64>, refused: &Cell<bool>, lanes: &mut [[u64; QWORDS]; LANES], one: impl Fn(*mut u64) -> Outcome) {
    let mut mask = left.get();
    while mask != 0 {
        let words = lanes[mask.trailing_zeros() as usize].as_mut_ptr();
        mask &= mask - 1;
        left.set(mask);
        if one(words) == Outcome::Refused {
            refused.set(true);
        }
    }
}

/// Service 1.
fn function_call(words: *mut u64, allowed: &Allowed) -> Outcome {
    // SAFETY: the eight words of a lane, which nobody else refers to meanwhile.
    let (address, input) = unsafe { (*words, words.add(1)) };
    if address == 0 || !(allowed.contains(&address) || unchecked()) {
        static TOLD: AtomicBool = AtomicBool::new(false);
        // Relaxed: one of several may tell.
        if !TOLD.swap(true, Ordering::Relaxed) {
            say(&format!(
                "hostcall: a kernel asked to call {address:#x}, which is refused: allow it by hostcall_amd_allow_call, or every address by \
                 HOSTCALL_AMD_UNCHECKED=1"
            ));
        }
        return Outcome::Refused;
    }
    let mut output = [0; 2];
    // SAFETY: the client allowed this address as a function of this type, or every address by its own wish.
    unsafe {
        let function = std::mem::transmute::<*const (), Callable>(std::ptr::with_exposed_provenance(address as usize));
        function(output.as_mut_ptr(), input);
        words.write(output[0]);
        words.add(1).write(output[1]);
    }
    Outcome::Done
}

impl Services {
    /// The handler of a service, or the default one.
    pub(crate) fn find(&self, service: u32) -> Option<Handler> {
        self.handlers.get(&service).or_else(|| self.handlers.get(&DEFAULT)).copied()
    }
}

/// Writes a line to standard error.
pub(crate) fn say(message: &str) {
    // Nobody can be told that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{message}");
}

unsafe extern "C" {
    fn quick_exit(status: c_int) -> !;
}

/// A packet's service has no handler. Ends the process, unless the user wants to go on.
pub(crate) fn no_handler(service: u32, on_error: Option<OnError>) -> Outcome {
    say(&format!("\nhostcall fatal error: no handler found for service {service}"));
    halt(Error::ServiceUnknown as c_int, on_error)
}

/// A handler failed. Ends the process, unless the user wants to go on.
pub(crate) fn handler_failed(service: u32, code: c_int, on_error: Option<OnError>) -> Outcome {
    let name = error::name(code).to_string_lossy();
    say(&format!("\nhostcall fatal error: handler for service {service} returned failure\n{name}({code})"));
    halt(code, on_error)
}

fn halt(code: c_int, on_error: Option<OnError>) -> Outcome {
    let told = catch_unwind(|| match on_error {
        // SAFETY: the client registered it as a function of this type, with this state.
        Some(OnError::V1(function, state)) => unsafe { function(state.0, code) },
        // SAFETY: as above.
        Some(OnError::V0(function, state)) => unsafe { function(code, state.0) },
        None => {}
    });
    if told.is_err() {
        say("hostcall: the error handler panicked");
    }
    if goes_on() {
        return Outcome::Refused;
    }
    let _ = std::io::stdout().flush();
    // SAFETY: ends the process, without destructors that would run beside this library's threads.
    unsafe { quick_exit(libc::EXIT_FAILURE) }
}

/// The name of an error.
pub(crate) fn name(error: Error) -> &'static str {
    error::name(error as c_int).to_str().unwrap_or_default()
}

/// The C string of an error.
pub(crate) fn error_string(code: c_int) -> &'static CStr {
    error::name(code)
}
