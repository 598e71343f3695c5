//! libcuda, opened while the program runs: every driver function that this plugin uses is one line of one table.
//!
//! What can wait for a device needs a proof that it may ([`super::quiet`]): a `MayWait`, that no device waits for this
//! thread; a `Quiet`, that no stream has work, for what waits for the whole device with the driver's lock held. Copies
//! that begin or end in pageable memory of the host may wait for the work before them in their stream, and are the
//! caller's choice.
//!
//! No crate that binds `cuda.h` is used for it, for three reasons:
//!
//! * cudarc panics when the library or a symbol is missing. A missing driver must be an error with a remedy.
//! * cudarc's functions return `CUresult` as a Rust enum. A driver newer than the enum would make an invalid value of
//!   it: several device-loss codes are younger than CUDA 12.4.
//! * What cudarc offers depends on the CUDA version that is chosen for the whole build, and there can be one such
//!   choice only. It is left to those who use cudarc.
//!
//! [`Status`] is an integer: unknown codes survive and keep the driver's own name.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::sys;
use libloading::Library;

use super::flat::Location;
use super::quiet::{MayWait, Quiet};
use crate::library::function;

/// What a driver function returned: an integer, not an enum, so that codes of newer drivers survive.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(pub(super) u32);

impl Status {
    pub(super) const SUCCESS: Status = Status(0);
    pub(super) const INVALID_VALUE: Status = Status(1);
    pub(super) const OUT_OF_MEMORY: Status = Status(2);
    pub(super) const DEVICE_UNAVAILABLE: Status = Status(46);
    pub(super) const NO_DEVICE: Status = Status(100);
    pub(super) const INVALID_IMAGE: Status = Status(200);
    pub(super) const INVALID_CONTEXT: Status = Status(201);
    pub(super) const NO_BINARY_FOR_GPU: Status = Status(209);
    pub(super) const INVALID_PTX: Status = Status(218);
    pub(super) const JIT_COMPILER_NOT_FOUND: Status = Status(221);
    pub(super) const UNSUPPORTED_PTX_VERSION: Status = Status(222);
    pub(super) const INVALID_HANDLE: Status = Status(400);
    pub(super) const NOT_FOUND: Status = Status(500);
    pub(super) const NOT_READY: Status = Status(600);
    pub(super) const LAUNCH_OUT_OF_RESOURCES: Status = Status(701);
    pub(super) const LAUNCH_TIMEOUT: Status = Status(702);
    pub(super) const CONTEXT_IS_DESTROYED: Status = Status(709);
    pub(super) const SYSTEM_DRIVER_MISMATCH: Status = Status(803);

    /// The codes after which the context is dead: the driver documents each of them as leaving "the process in an
    /// inconsistent state", so that every later call returns the same error.
    ///
    /// 214/220/226 hardware errors, 700 illegal address, 702 launch timeout, 709 context destroyed, 710 assert, 714–719
    /// stack error, illegal instruction, misaligned address, invalid address space, invalid pc, launch failure
    /// (`trap`), 721 tensor memory leak, 810 MPS client terminated, 201 invalid context, 4 driver shutting down.
    pub(super) fn is_sticky(self) -> bool {
        matches!(self.0, 4 | 201 | 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 810)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUresult({})", self.0)
    }
}

/// A driver call that failed: which one, and what the driver calls the error.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    /// The driver function, `cuLaunchKernel`.
    pub(super) call: &'static str,
    pub(super) status: Status,
}

/// Why there is no driver to call.
#[derive(Debug)]
pub(super) enum OpenError {
    /// `dlopen` failed; its text.
    NoLibrary(String),
    /// The library lacks a function.
    NoSymbol(&'static str),
    /// The driver is older than [`MINIMUM`]; its `cuDriverGetVersion`.
    TooOld(i32),
    /// `cuInit` failed.
    Init(Failed),
}

/// The oldest driver served, as `cuDriverGetVersion` counts: CUDA 12.4 (driver 550), the first with PTX ISA 8.4, whose
/// `ld/st.relaxed.sys.global.b128` the wire is made of.
pub(super) const MINIMUM: i32 = 12040;

/// Whether a driver of this `cuDriverGetVersion` will do.
pub(super) fn is_new_enough(version: i32) -> bool {
    version >= MINIMUM
}

/// `12040` as `12.4`.
pub(super) fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

macro_rules! driver_functions {
    ($($name:ident = $symbol:literal ( $($arg:ident : $ty:ty),* $(,)? ) $(needs $proof:ty)?;)*) => {
        /// The driver: its functions, and the library that must outlive them.
        pub(super) struct Driver {
            $($name: unsafe extern "C" fn($($ty),*) -> Status,)*
            /// What `cuDriverGetVersion` said.
            pub(super) version: i32,
            /// Never dropped (the one `Driver` is a static), and held to say so.
            _library: Library,
        }

        #[expect(clippy::too_many_arguments, reason = "cuda.h says how many")]
        impl Driver {
            fn resolve(library: Library, version: i32) -> Result<Driver, OpenError> {
                let find = |symbol, name: &str| {
                    CStr::from_bytes_with_nul(name.as_bytes()).ok().and_then(|name| function(&library, name)).ok_or(OpenError::NoSymbol(symbol))
                };
                $(
                    // SAFETY: the type is the one of cuda.h for this symbol, with the `CUresult` (a C enum, 32 bits)
                    // read as an integer.
                    let $name = unsafe {
                        transmute::<NonNull<c_void>, unsafe extern "C" fn($($ty),*) -> Status>(find($symbol, concat!($symbol, "\0"))?)
                    };
                )*
                Ok(Driver { $($name,)* version, _library: library })
            }

            $(
                /// The driver function of this name.
                ///
                /// # Safety
                /// As cuda.h says: handles live, pointers valid for what the function reads and writes, the right
                /// context current.
                // (A call in between would copy those arguments that are on the stack, which were written there just
                // now.)
                #[inline(always)]
                pub(super) unsafe fn $name(&self, $(_: $proof,)? $($arg: $ty),*) -> Result<(), Failed> {
                    // SAFETY: the caller's duty, and `resolve` gave the pointer its type.
                    match unsafe { (self.$name)($($arg),*) } {
                        Status::SUCCESS => Ok(()),
                        status => Err(Failed { call: $symbol, status }),
                    }
                }
            )*
        }
    };
}

/// `CUhostFn`, never null.
pub(super) type HostFn = unsafe extern "C" fn(*mut c_void);

/// `CUoccupancyB2DSize`, never null.
pub(super) type SharedOfGroup = unsafe extern "C" fn(c_int) -> usize;

driver_functions! {
    init = "cuInit"(flags: c_uint);
    error_name = "cuGetErrorName"(error: Status, text: *mut *const c_char);
    error_string = "cuGetErrorString"(error: Status, text: *mut *const c_char);
    device_count = "cuDeviceGetCount"(count: *mut c_int);
    device_get = "cuDeviceGet"(device: *mut sys::CUdevice, ordinal: c_int);
    device_name = "cuDeviceGetName"(name: *mut c_char, len: c_int, device: sys::CUdevice);
    device_attribute = "cuDeviceGetAttribute"(value: *mut c_int, attribute: c_int, device: sys::CUdevice);
    device_total_mem = "cuDeviceTotalMem_v2"(bytes: *mut usize, device: sys::CUdevice);
    device_pci_bus_id = "cuDeviceGetPCIBusId"(text: *mut c_char, len: c_int, device: sys::CUdevice);
    device_uuid = "cuDeviceGetUuid_v2"(uuid: *mut sys::CUuuid, device: sys::CUdevice);
    primary_retain = "cuDevicePrimaryCtxRetain"(context: *mut sys::CUcontext, device: sys::CUdevice);
    primary_release = "cuDevicePrimaryCtxRelease_v2"(device: sys::CUdevice) needs MayWait;
    primary_reset = "cuDevicePrimaryCtxReset_v2"(device: sys::CUdevice) needs MayWait;
    ctx_push = "cuCtxPushCurrent_v2"(context: sys::CUcontext);
    ctx_pop = "cuCtxPopCurrent_v2"(context: *mut sys::CUcontext);
    ctx_set = "cuCtxSetCurrent"(context: sys::CUcontext);
    ctx_device = "cuCtxGetDevice"(device: *mut sys::CUdevice);
    ctx_current = "cuCtxGetCurrent"(context: *mut sys::CUcontext);
    ctx_get_limit = "cuCtxGetLimit"(value: *mut usize, limit: c_int);
    ctx_set_limit = "cuCtxSetLimit"(limit: c_int, value: usize) needs MayWait;
    mem_info = "cuMemGetInfo_v2"(free: *mut usize, total: *mut usize);
    mem_alloc = "cuMemAlloc_v2"(pointer: *mut sys::CUdeviceptr, bytes: usize) needs MayWait;
    mem_alloc_managed = "cuMemAllocManaged"(pointer: *mut sys::CUdeviceptr, bytes: usize, flags: c_uint) needs MayWait;
    mem_free = "cuMemFree_v2"(pointer: sys::CUdeviceptr) needs Quiet<'_>;
    mem_host_register = "cuMemHostRegister_v2"(pointer: *mut c_void, bytes: usize, flags: c_uint) needs MayWait;
    mem_host_unregister = "cuMemHostUnregister"(pointer: *mut c_void) needs Quiet<'_>;
    mem_prefetch = "cuMemPrefetchAsync_v2"(
        pointer: sys::CUdeviceptr, bytes: usize, location: Location, flags: c_uint, stream: sys::CUstream,
    );
    mem_host_alloc = "cuMemHostAlloc"(pointer: *mut *mut c_void, bytes: usize, flags: c_uint) needs MayWait;
    mem_host_free = "cuMemFreeHost"(pointer: *mut c_void) needs Quiet<'_>;
    mem_host_device_pointer = "cuMemHostGetDevicePointer_v2"(pointer: *mut sys::CUdeviceptr, host: *mut c_void, flags: c_uint);
    import_external_memory = "cuImportExternalMemory"(
        memory: *mut sys::CUexternalMemory, handle: *const sys::ExternalMemoryHandle,
    ) needs MayWait;
    external_memory_buffer = "cuExternalMemoryGetMappedBuffer"(
        pointer: *mut sys::CUdeviceptr, memory: sys::CUexternalMemory, buffer: *const sys::ExternalMemoryBuffer,
    ) needs MayWait;
    destroy_external_memory = "cuDestroyExternalMemory"(memory: sys::CUexternalMemory) needs Quiet<'_>;
    memcpy_to_device = "cuMemcpyHtoDAsync_v2"(to: sys::CUdeviceptr, from: *const c_void, bytes: usize, stream: sys::CUstream);
    memcpy_to_host = "cuMemcpyDtoHAsync_v2"(to: *mut c_void, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
    memcpy = "cuMemcpyAsync"(to: sys::CUdeviceptr, from: sys::CUdeviceptr, bytes: usize, stream: sys::CUstream);
    memset_d8 = "cuMemsetD8Async"(to: sys::CUdeviceptr, value: u8, count: usize, stream: sys::CUstream);
    memset_d16 = "cuMemsetD16Async"(to: sys::CUdeviceptr, value: u16, count: usize, stream: sys::CUstream);
    memset_rows_d8 = "cuMemsetD2D8Async"(
        to: sys::CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: sys::CUstream,
    );
    memset_rows_d32 = "cuMemsetD2D32Async"(
        to: sys::CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: sys::CUstream,
    );
    memset_d32 = "cuMemsetD32Async"(to: sys::CUdeviceptr, value: u32, count: usize, stream: sys::CUstream);
    module_load = "cuModuleLoadDataEx"(
        module: *mut sys::CUmodule, image: *const c_void, options: c_uint, keys: *mut c_int, values: *mut *mut c_void,
    ) needs MayWait;
    module_unload = "cuModuleUnload"(module: sys::CUmodule) needs Quiet<'_>;
    library_module = "cuLibraryGetModule"(module: *mut sys::CUmodule, library: sys::CUlibrary);
    module_function = "cuModuleGetFunction"(function: *mut sys::CUfunction, module: sys::CUmodule, name: *const c_char);
    module_function_count = "cuModuleGetFunctionCount"(count: *mut c_uint, module: sys::CUmodule);
    module_functions = "cuModuleEnumerateFunctions"(functions: *mut sys::CUfunction, count: c_uint, module: sys::CUmodule);
    module_global = "cuModuleGetGlobal_v2"(
        pointer: *mut sys::CUdeviceptr, bytes: *mut usize, module: sys::CUmodule, name: *const c_char,
    );
    function_module = "cuFuncGetModule"(module: *mut sys::CUmodule, function: sys::CUfunction);
    function_name = "cuFuncGetName"(name: *mut *const c_char, function: sys::CUfunction);
    function_load = "cuFuncLoad"(function: sys::CUfunction) needs MayWait;
    function_attribute = "cuFuncGetAttribute"(value: *mut c_int, attribute: c_int, function: sys::CUfunction);
    function_set_attribute = "cuFuncSetAttribute"(function: sys::CUfunction, attribute: c_int, value: c_int);
    function_parameter = "cuFuncGetParamInfo"(function: sys::CUfunction, index: usize, offset: *mut usize, bytes: *mut usize);
    occupancy_group_size = "cuOccupancyMaxPotentialBlockSize"(
        groups: *mut c_int, items: *mut c_int, function: sys::CUfunction, shared: SharedOfGroup, bytes: usize, limit: c_int,
    );
    occupancy_groups = "cuOccupancyMaxActiveBlocksPerMultiprocessor"(
        groups: *mut c_int, function: sys::CUfunction, items: c_int, shared_bytes: usize,
    );
    launch_cooperative = "cuLaunchCooperativeKernel"(
        function: sys::CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint, stream: sys::CUstream, params: *mut *mut c_void,
    );
    launch_kernel = "cuLaunchKernel"(
        function: sys::CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint,
        shared_bytes: c_uint, stream: sys::CUstream, params: *mut *mut c_void, extra: *mut *mut c_void,
    );
    launch_host_fn = "cuLaunchHostFunc"(stream: sys::CUstream, function: HostFn, data: *mut c_void);
    stream_create = "cuStreamCreate"(stream: *mut sys::CUstream, flags: c_uint);
    stream_destroy = "cuStreamDestroy_v2"(stream: sys::CUstream) needs MayWait;
    stream_synchronize = "cuStreamSynchronize"(stream: sys::CUstream) needs MayWait;
    stream_query = "cuStreamQuery"(stream: sys::CUstream);
    stream_wait_event = "cuStreamWaitEvent"(stream: sys::CUstream, event: sys::CUevent, flags: c_uint);
    stream_wait_value = "cuStreamWaitValue32_v2"(stream: sys::CUstream, address: sys::CUdeviceptr, value: c_uint, flags: c_uint);
    thread_capture_mode = "cuThreadExchangeStreamCaptureMode"(mode: *mut c_int);
    stream_context = "cuStreamGetCtx"(stream: sys::CUstream, context: *mut sys::CUcontext);
    stream_green = "cuStreamGetGreenCtx"(stream: sys::CUstream, green: *mut sys::CUgreenCtx);
    stream_begin_capture = "cuStreamBeginCapture_v2"(stream: sys::CUstream, mode: c_int);
    stream_end_capture = "cuStreamEndCapture"(stream: sys::CUstream, graph: *mut sys::CUgraph);
    graph_instantiate = "cuGraphInstantiateWithFlags"(exec: *mut sys::CUgraphExec, graph: sys::CUgraph, flags: u64) needs MayWait;
    graph_launch = "cuGraphLaunch"(exec: sys::CUgraphExec, stream: sys::CUstream);
    graph_destroy = "cuGraphDestroy"(graph: sys::CUgraph) needs MayWait;
    graph_exec_destroy = "cuGraphExecDestroy"(exec: sys::CUgraphExec) needs MayWait;
    event_create = "cuEventCreate"(event: *mut sys::CUevent, flags: c_uint);
    event_destroy = "cuEventDestroy_v2"(event: sys::CUevent) needs MayWait;
    event_record = "cuEventRecord"(event: sys::CUevent, stream: sys::CUstream);
    event_query = "cuEventQuery"(event: sys::CUevent);
    event_synchronize = "cuEventSynchronize"(event: sys::CUevent) needs MayWait;
    event_elapsed = "cuEventElapsedTime"(milliseconds: *mut f32, start: sys::CUevent, end: sys::CUevent);
}

impl Driver {
    /// The process's driver, opened and initialised on first use. Only success is kept: a driver installed (or a
    /// container's device node appearing) between two attempts is found by the second.
    pub(super) fn get() -> Result<&'static Driver, OpenError> {
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        static OPENING: Mutex<()> = Mutex::new(());
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        let _one_at_a_time = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        let driver = Driver::open()?;
        Ok(DRIVER.get_or_init(|| driver))
    }

    fn open() -> Result<Driver, OpenError> {
        // The soname first: plain `libcuda.so` may be the toolkit's link-time stub.
        let names = if cfg!(windows) { ["nvcuda.dll", "nvcuda.dll"] } else { ["libcuda.so.1", "libcuda.so"] };
        // SAFETY: libcuda's initialisers are the vendor's, and expect to be run by `dlopen`.
        let library = unsafe { Library::new(names[0]) }
            .or_else(|first| unsafe { Library::new(names[1]) }.map_err(|_| first))
            .map_err(|error| OpenError::NoLibrary(std::error::Error::source(&error).unwrap_or(&error).to_string()))?;
        // The version before the other symbols: an old driver lacks some, and "too old" is the better message.
        // SAFETY: the type of cuda.h.
        let get_version = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> Status>("cuDriverGetVersion\0") }
            .map_err(|_| OpenError::NoSymbol("cuDriverGetVersion"))?;
        let mut version = 0;
        // SAFETY: an out parameter; callable before `cuInit`.
        let status = unsafe { get_version(&mut version) };
        if status != Status::SUCCESS {
            return Err(OpenError::Init(Failed { call: "cuDriverGetVersion", status }));
        }
        if !is_new_enough(version) {
            return Err(OpenError::TooOld(version));
        }
        let driver = Driver::resolve(library, version)?;
        ask_for_eager_loading();
        // SAFETY: no requirement but flags = 0.
        unsafe { driver.init(0) }.map_err(OpenError::Init)?;
        Ok(driver)
    }

    /// The driver's name of a code (`CUDA_ERROR_LAUNCH_FAILED`) and its sentence.
    pub(super) fn describe(&self, status: Status) -> (String, String) {
        let text = |get: &dyn Fn(*mut *const c_char) -> Result<(), Failed>| {
            let mut text: *const c_char = std::ptr::null();
            match get(&mut text) {
                // SAFETY: on success the driver points it at a static C string.
                Ok(()) if !text.is_null() => Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()),
                _ => None,
            }
        };
        // SAFETY: the out parameter is valid, any integer may be asked about.
        let name = text(&|out| unsafe { self.error_name(status, out) });
        // SAFETY: as above.
        let sentence = text(&|out| unsafe { self.error_string(status, out) });
        (name.unwrap_or_else(|| format!("CUresult {}", status.0)), sentence.unwrap_or_else(|| "no description".into()))
    }
}

/// Has the driver load kernels when their module is loaded, not at their first launch: under lazy loading that first
/// launch waits for the context to fall idle, which it never does while a kernel waits for the host ("Lazy Loading",
/// CUDA programming guide). A value the user set is left alone; `Program` loading forces every function in, whatever
/// the mode.
fn ask_for_eager_loading() {
    const VARIABLE: &str = "CUDA_MODULE_LOADING";
    if std::env::var_os(VARIABLE).is_none() {
        // SAFETY: done once, under a lock, before `cuInit`. Rust code reads the environment under std's own lock; what
        // remains is C code that calls `getenv` in another thread during this one call, which glibc < 2.41 does not
        // guard against. A program with such threads sets the variable before it starts them (or in its launch
        // environment), and then this line is not reached; see `Device::cuda`.
        unsafe { std::env::set_var(VARIABLE, "EAGER") };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_versions_compare_as_cuda_counts_them() {
        assert!(!is_new_enough(11080));
        assert!(!is_new_enough(12030));
        assert!(is_new_enough(12040));
        assert!(is_new_enough(13000));
        assert_eq!(version_text(12040), "12.4");
        assert_eq!(version_text(13000), "13.0");
        assert_eq!(version_text(11080), "11.8");
    }

    #[test]
    fn a_trap_and_an_illegal_address_kill_the_context_but_out_of_memory_does_not() {
        for sticky in [700, 702, 710, 714, 715, 716, 717, 718, 719, 214, 226] {
            assert!(Status(sticky).is_sticky(), "{sticky}");
        }
        for passing in [0, 1, 2, 200, 209, 218, 222, 500, 600, 701, 720, 801, 900] {
            assert!(!Status(passing).is_sticky(), "{passing}");
        }
    }
}
