//! `libhsa-runtime64`, opened while the program runs: every function of it that this plugin uses is one line of one
//! table.
//!
//! It is opened and initialised once, and stays. `hsa_init` counts its callers, so HIP or other users of HSA in the
//! same process do not matter, and nothing here ever calls `hsa_shut_down`. The runtime does not survive `fork`, so a
//! forked child is refused.

use std::ffi::{CStr, OsString, c_char, c_void};
use std::fmt;
use std::mem::transmute;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

use hostcall_error::Origin;
use libloading::Library;

use super::sys::*;
use crate::library::function;

/// A call that failed.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    /// The function, `hsa_queue_create`.
    pub(super) call: &'static str,
    pub(super) status: hsa_status_t,
}

/// Why there is no runtime to call.
#[derive(Debug)]
pub(super) enum OpenError {
    /// `dlopen` failed; which library, and its text.
    NoLibrary { library: String, text: String },
    /// The library lacks a function.
    NoSymbol { library: String, symbol: &'static str },
    /// `hsa_init` failed; what of the kernel driver is missing, if anything.
    Init { failed: Failed, driver: DriverState },
    /// This process was forked from one that had opened the runtime.
    Forked,
}

/// What `/dev/kfd`, the kernel driver's door, looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DriverState {
    /// It can be opened.
    Usable,
    /// There is none.
    Absent,
    /// It is there and cannot be opened; the system's words.
    Closed(String),
}

impl DriverState {
    pub(super) const DEVICE: &'static str = "/dev/kfd";

    pub(super) fn look() -> DriverState {
        Self::of(Path::new(Self::DEVICE))
    }

    fn of(path: &Path) -> DriverState {
        match std::fs::File::options().read(true).write(true).open(path) {
            Ok(_) => DriverState::Usable,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => DriverState::Absent,
            Err(error) => DriverState::Closed(error.to_string()),
        }
    }
}

/// The variable that names another library to open, for tests: an emulator, or this project's own on the simulator.
pub(super) const LIBRARY_VARIABLE: &str = "HOSTCALL_HSA_LIBRARY";
/// The library that is opened unless the variable names another.
pub(super) const LIBRARY: &str = "libhsa-runtime64.so.1";

/// Opens this library instead of the system's runtime, when the first device is opened: for tests. `false` if it was
/// opened before.
#[doc(hidden)]
pub fn use_library(path: impl Into<OsString>) -> bool {
    let path = path.into();
    *OTHER.get_or_init(|| path.clone()) == path
}

static OTHER: OnceLock<OsString> = OnceLock::new();

macro_rules! runtime_functions {
    (
        status { $($name:ident ( $($arg:ident : $ty:ty),* $(,)? );)* }
        value { $($vname:ident ( $($varg:ident : $vty:ty),* $(,)? ) -> $vret:ty;)* }
    ) => {
        /// The runtime: its functions, and the library that must outlive them.
        pub(super) struct Runtime {
            $($name: unsafe extern "C" fn($($ty),*) -> hsa_status_t,)*
            $($vname: unsafe extern "C" fn($($vty),*) -> $vret,)*
            /// The process that opened it.
            origin: Origin,
            /// Never dropped (the one `Runtime` is a static), and held to say so.
            _library: Library,
        }

        /// Every function that is looked up, for a test of what stands in for the runtime.
        #[doc(hidden)]
        pub const SYMBOLS: &[&str] = &[$(stringify!($name),)* $(stringify!($vname),)*];

        #[expect(clippy::too_many_arguments, reason = "the interface says how many")]
        impl Runtime {
            fn resolve(library: Library, name: &str) -> Result<Runtime, OpenError> {
                let find = |symbol, terminated: &str| {
                    let found = CStr::from_bytes_with_nul(terminated.as_bytes()).ok().and_then(|name| function(&library, name));
                    found.ok_or_else(|| OpenError::NoSymbol { library: name.to_owned(), symbol })
                };
                $(
                    // SAFETY: the type is the interface's for this symbol, with `hsa_status_t` (a C enum, 32 bits) read
                    // as an integer.
                    let $name = unsafe {
                        transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> hsa_status_t>(
                            find(stringify!($name), concat!(stringify!($name), "\0"))?
                        )
                    };
                )*
                $(
                    // SAFETY: the type is the interface's for this symbol.
                    let $vname = unsafe {
                        transmute::<NonNull<c_void>, unsafe extern "C" fn($($vty),*) -> $vret>(
                            find(stringify!($vname), concat!(stringify!($vname), "\0"))?
                        )
                    };
                )*
                Ok(Runtime { $($name,)* $($vname,)* origin: Origin::here(), _library: library })
            }

            $(
                /// The function of this name.
                ///
                /// # Safety
                /// As the interface says: handles live, pointers valid for what the function reads and writes.
                pub(super) unsafe fn $name(&self, $($arg: $ty),*) -> Result<(), Failed> {
                    // SAFETY: the caller's duty, and `resolve` gave the pointer its type.
                    match unsafe { (self.$name)($($arg),*) } {
                        // An iteration that its callback ended is no failure either.
                        hsa_status_t::SUCCESS | hsa_status_t::INFO_BREAK => Ok(()),
                        status => Err(Failed { call: stringify!($name), status }),
                    }
                }
            )*
            $(
                /// The function of this name.
                ///
                /// # Safety
                /// As the interface says: handles live.
                pub(super) unsafe fn $vname(&self, $($varg: $vty),*) -> $vret {
                    // SAFETY: the caller's duty, and `resolve` gave the pointer its type.
                    unsafe { (self.$vname)($($varg),*) }
                }
            )*
        }
    };
}

runtime_functions! {
    status {
        hsa_init();
        hsa_status_string(status: hsa_status_t, text: *mut *const c_char);
        hsa_system_get_info(attribute: u32, value: *mut c_void);
        hsa_iterate_agents(callback: AgentCallback, data: *mut c_void);
        hsa_agent_get_info(agent: hsa_agent_t, attribute: u32, value: *mut c_void);
        hsa_agent_iterate_isas(agent: hsa_agent_t, callback: IsaCallback, data: *mut c_void);
        hsa_isa_get_info_alt(isa: hsa_isa_t, attribute: u32, value: *mut c_void);
        hsa_amd_agent_iterate_memory_pools(agent: hsa_agent_t, callback: PoolCallback, data: *mut c_void);
        hsa_amd_memory_pool_get_info(pool: hsa_amd_memory_pool_t, attribute: u32, value: *mut c_void);
        hsa_amd_agent_memory_pool_get_info(agent: hsa_agent_t, pool: hsa_amd_memory_pool_t, attribute: u32, value: *mut c_void);
        hsa_amd_memory_pool_allocate(pool: hsa_amd_memory_pool_t, bytes: usize, flags: u32, pointer: *mut *mut c_void);
        hsa_amd_memory_pool_free(pointer: *mut c_void);
        hsa_amd_agents_allow_access(count: u32, agents: *const hsa_agent_t, flags: *const u32, pointer: *const c_void);
        hsa_amd_memory_lock(host: *mut c_void, bytes: usize, agents: *mut hsa_agent_t, count: i32, seen: *mut *mut c_void);
        hsa_amd_memory_unlock(host: *mut c_void);
        hsa_amd_memory_async_copy(
            to: *mut c_void, to_agent: hsa_agent_t, from: *const c_void, from_agent: hsa_agent_t, bytes: usize, waits: u32,
            wait_for: *const hsa_signal_t, done: hsa_signal_t,
        );
        hsa_amd_memory_fill(to: *mut c_void, value: u32, count: usize);
        hsa_code_object_reader_create_from_memory(code: *const c_void, bytes: usize, reader: *mut hsa_code_object_reader_t);
        hsa_code_object_reader_destroy(reader: hsa_code_object_reader_t);
        hsa_executable_create_alt(profile: u32, rounding: u32, options: *const c_char, executable: *mut hsa_executable_t);
        hsa_executable_load_agent_code_object(
            executable: hsa_executable_t, agent: hsa_agent_t, reader: hsa_code_object_reader_t, options: *const c_char,
            loaded: *mut hsa_loaded_code_object_t,
        );
        hsa_executable_freeze(executable: hsa_executable_t, options: *const c_char);
        hsa_executable_destroy(executable: hsa_executable_t);
        hsa_executable_get_symbol_by_name(
            executable: hsa_executable_t, name: *const c_char, agent: *const hsa_agent_t, symbol: *mut hsa_executable_symbol_t,
        );
        hsa_executable_symbol_get_info(symbol: hsa_executable_symbol_t, attribute: u32, value: *mut c_void);
        hsa_queue_create(
            agent: hsa_agent_t, size: u32, kind: u32, failed: QueueCallback, data: *mut c_void, private_bytes: u32, group_bytes: u32,
            queue: *mut *mut hsa_queue_t,
        );
        hsa_queue_destroy(queue: *mut hsa_queue_t);
        hsa_signal_create(value: i64, count: u32, consumers: *const hsa_agent_t, signal: *mut hsa_signal_t);
        hsa_signal_destroy(signal: hsa_signal_t);
        hsa_amd_signal_async_handler(signal: hsa_signal_t, condition: u32, value: i64, handler: SignalHandler, data: *mut c_void);
        hsa_amd_profiling_set_profiler_enabled(queue: *mut hsa_queue_t, enable: i32);
        hsa_amd_profiling_get_dispatch_time(
            agent: hsa_agent_t, signal: hsa_signal_t, time: *mut hsa_amd_profiling_dispatch_time_t,
        );
        hsa_amd_register_system_event_handler(handler: EventCallback, data: *mut c_void);
    }
    value {
        hsa_queue_add_write_index_screlease(queue: *const hsa_queue_t, count: u64) -> u64;
        hsa_queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64;
        hsa_signal_store_screlease(signal: hsa_signal_t, value: i64) -> ();
        hsa_signal_subtract_screlease(signal: hsa_signal_t, value: i64) -> ();
        hsa_signal_load_scacquire(signal: hsa_signal_t) -> i64;
        hsa_signal_wait_scacquire(signal: hsa_signal_t, condition: u32, value: i64, timeout: u64, how: u32) -> i64;
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Runtime")
    }
}

impl Runtime {
    /// The process's runtime, opened and initialised on first use. Only success is kept: a driver that appears between
    /// two attempts is found by the second.
    pub(super) fn get() -> Result<&'static Runtime, OpenError> {
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        static OPENING: Mutex<()> = Mutex::new(());
        let opened = match RUNTIME.get() {
            Some(runtime) => runtime,
            None => {
                let _one_at_a_time = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
                match RUNTIME.get() {
                    Some(runtime) => runtime,
                    None => {
                        let runtime = Runtime::open(OTHER.get().cloned().or_else(|| std::env::var_os(LIBRARY_VARIABLE)))?;
                        RUNTIME.get_or_init(|| runtime)
                    }
                }
            }
        };
        if opened.origin.is_here() { Ok(opened) } else { Err(OpenError::Forked) }
    }

    fn open(other: Option<OsString>) -> Result<Runtime, OpenError> {
        let name = other.unwrap_or_else(|| LIBRARY.into());
        let text = name.to_string_lossy().into_owned();
        // SAFETY: the runtime's initialisers are the vendor's, and expect to be run by `dlopen`; another library was
        // named by the user.
        let library = unsafe { Library::new(&name) }.map_err(|error| OpenError::NoLibrary {
            library: text.clone(),
            text: std::error::Error::source(&error).unwrap_or(&error).to_string(),
        })?;
        let runtime = Runtime::resolve(library, &text)?;
        // SAFETY: no requirement; what is initialised is never shut down.
        unsafe { runtime.hsa_init() }.map_err(|failed| OpenError::Init { failed, driver: DriverState::look() })?;
        Ok(runtime)
    }

    /// The runtime's sentence about a code.
    pub(super) fn describe(&self, status: hsa_status_t) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: an out parameter; any integer may be asked about.
        match unsafe { self.hsa_status_string(status, &mut text) } {
            // SAFETY: on success the runtime points it at a static C string.
            Ok(()) if !text.is_null() => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            _ => format!("status {:#x}", status.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_is_named() {
        let error = Runtime::open(Some("/nowhere/libhsa.so".into())).unwrap_err();
        assert!(matches!(&error, OpenError::NoLibrary { library, .. } if library == "/nowhere/libhsa.so"), "{error:?}");
        let error = Runtime::open(Some("libc.so.6".into())).unwrap_err();
        assert!(matches!(&error, OpenError::NoSymbol { symbol: "hsa_init", .. }), "{error:?}");
    }

    #[test]
    fn the_kernel_drivers_door_is_absent_closed_or_usable() {
        assert_eq!(DriverState::of(Path::new("/nowhere/kfd")), DriverState::Absent);
        // A directory cannot be opened for writing by anybody.
        assert!(matches!(DriverState::of(Path::new("/proc")), DriverState::Closed(_)));
        assert_eq!(DriverState::of(Path::new("/dev/null")), DriverState::Usable);
    }

    #[test]
    fn no_function_is_listed_twice() {
        let mut names = SYMBOLS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SYMBOLS.len());
        assert!(names.iter().all(|name| name.starts_with("hsa_")));
    }
}
