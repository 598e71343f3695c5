//! The driver's own functions, in the first GPU's primary context, which is the library's, too.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::ptr;

use libloading::Library;

type Status = u32;
/// `cuLaunchKernel`.
type Launch =
    unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32, u32, u32, u32, *mut c_void, *mut *mut c_void, *mut *mut c_void) -> Status;

/// What is measured, and what it needs.
pub(super) struct Driver {
    release: unsafe extern "C" fn(i32) -> Status,
    set_current: unsafe extern "C" fn(*mut c_void) -> Status,
    alloc: unsafe extern "C" fn(*mut u64, usize, *mut c_void) -> Status,
    free: unsafe extern "C" fn(u64, *mut c_void) -> Status,
    pub(super) copy: unsafe extern "C" fn(u64, *const c_void, usize) -> Status,
    pub(super) copy_in_order: unsafe extern "C" fn(u64, *const c_void, usize, *mut c_void) -> Status,
    pub(super) copy_any: unsafe extern "C" fn(u64, u64, usize, *mut c_void) -> Status,
    make_stream: unsafe extern "C" fn(*mut *mut c_void, u32) -> Status,
    wait: unsafe extern "C" fn(*mut c_void) -> Status,
    query: unsafe extern "C" fn(*mut c_void) -> Status,
    launch: Launch,
    /// Not of every driver that tests use.
    make_context: Option<unsafe extern "C" fn(*mut *mut c_void, u32, i32) -> Status>,
    destroy_context: Option<unsafe extern "C" fn(*mut c_void) -> Status>,
    current: unsafe extern "C" fn(*mut *mut c_void) -> Status,
    context: *mut c_void,
    /// `nothing` of the image, if there was one.
    pub(super) kernel: Option<*mut c_void>,
    _library: Library,
}

// SAFETY: handles and functions of the driver, which may be used on every thread.
unsafe impl Sync for Driver {}

/// Ends the program when the driver fails: what is measured would be nothing.
pub(super) fn check(status: Status) {
    if status != 0 {
        eprintln!("bench-offload: the driver's own function failed: CUresult {status}");
        std::process::exit(1);
    }
}

fn ok(status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("CUresult {status}")) }
}

impl Driver {
    /// Opens the driver, which the library has opened before, and leaves its context current on this thread.
    pub(super) fn open(image: Option<&[u8]>) -> Result<Driver, Box<dyn Error>> {
        // SAFETY: the functions have these types (cuda.h), and get what they ask for.
        unsafe {
            let library = Library::new("libcuda.so.1")?;
            let retain = *library.get::<unsafe extern "C" fn(*mut *mut c_void, i32) -> Status>(b"cuDevicePrimaryCtxRetain")?;
            let load = *library.get::<unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> Status>(b"cuModuleLoadData")?;
            let find = *library.get::<unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const i8) -> Status>(b"cuModuleGetFunction")?;
            let mut driver = Driver {
                release: *library.get(b"cuDevicePrimaryCtxRelease_v2")?,
                set_current: *library.get(b"cuCtxSetCurrent")?,
                alloc: *library.get(b"cuMemAllocAsync")?,
                free: *library.get(b"cuMemFreeAsync")?,
                copy: *library.get(b"cuMemcpyHtoD_v2")?,
                copy_in_order: *library.get(b"cuMemcpyHtoDAsync_v2")?,
                copy_any: *library.get(b"cuMemcpyAsync")?,
                make_stream: *library.get(b"cuStreamCreate")?,
                wait: *library.get(b"cuStreamSynchronize")?,
                query: *library.get(b"cuStreamQuery")?,
                launch: *library.get(b"cuLaunchKernel")?,
                make_context: library.get(b"cuCtxCreate_v2").ok().map(|symbol| *symbol),
                destroy_context: library.get(b"cuCtxDestroy_v2").ok().map(|symbol| *symbol),
                current: *library.get(b"cuCtxGetCurrent")?,
                context: ptr::null_mut(),
                kernel: None,
                _library: library,
            };
            ok(retain(&raw mut driver.context, 0))?;
            ok((driver.set_current)(driver.context))?;
            if let Some(image) = image {
                // Text needs its end.
                let text = CString::new(image.strip_suffix(&[0]).unwrap_or(image))
                    .map(CString::into_bytes_with_nul)
                    .unwrap_or_else(|_| image.to_vec());
                let (mut module, mut kernel) = (ptr::null_mut(), ptr::null_mut());
                ok(load(&raw mut module, text.as_ptr().cast()))?;
                ok(find(&raw mut kernel, module, c"nothing".as_ptr()))?;
                driver.kernel = Some(kernel);
            }
            Ok(driver)
        }
    }

    /// Makes the context current on this thread.
    pub(super) fn enter(&self) {
        // SAFETY: it is retained until `close`.
        check(unsafe { (self.set_current)(self.context) });
    }

    pub(super) fn alloc(&self, size: usize) -> u64 {
        let mut address = 0;
        // SAFETY: room for the address; in the order of the default stream.
        check(unsafe { (self.alloc)(&raw mut address, size, ptr::null_mut()) });
        address
    }

    pub(super) fn free(&self, address: u64) {
        // SAFETY: of `alloc`, and freed once.
        check(unsafe { (self.free)(address, ptr::null_mut()) });
    }

    /// A stream that waits for no other (`CU_STREAM_NON_BLOCKING`), as the library's are.
    pub(super) fn stream(&self) -> *mut c_void {
        let mut stream = ptr::null_mut();
        // SAFETY: room for the handle.
        check(unsafe { (self.make_stream)(&raw mut stream, 1) });
        stream
    }

    pub(super) fn wait(&self, stream: *mut c_void) {
        // SAFETY: a stream of `stream`, or the default one.
        check(unsafe { (self.wait)(stream) });
    }

    /// Launches a kernel without parameters, once.
    pub(super) fn launch(&self, kernel: *mut c_void, stream: *mut c_void) {
        // SAFETY: live handles.
        check(unsafe { (self.launch)(kernel, 1, 1, 1, 1, 1, 1, 0, stream, ptr::null_mut(), ptr::null_mut()) });
    }

    /// Calls `work` with nothing current on this thread, and with a context of its own. Whether that is current
    /// afterwards.
    pub(super) fn elsewhere(&self, mut work: impl FnMut()) -> Option<bool> {
        // SAFETY: null is allowed.
        check(unsafe { (self.set_current)(ptr::null_mut()) });
        work();
        let (make, destroy) = (self.make_context?, self.destroy_context?);
        let (mut other, mut current) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: room for the handle; the first device. It is current then.
        check(unsafe { make(&raw mut other, 0, 0) });
        work();
        work();
        // SAFETY: room for the handle.
        check(unsafe { (self.current)(&raw mut current) });
        // SAFETY: made just now.
        check(unsafe { destroy(other) });
        self.enter();
        work();
        Some(current == other)
    }

    /// Whether a stream has nothing left to do.
    pub(super) fn is_idle(&self, stream: *mut c_void) -> bool {
        // SAFETY: a stream of `stream`.
        let status = unsafe { (self.query)(stream) };
        // `CUDA_ERROR_NOT_READY`.
        if status != 600 {
            check(status);
        }
        status == 0
    }

    /// Asks which context is current.
    pub(super) fn ask(&self) {
        let mut context = ptr::null_mut();
        // SAFETY: room for the handle.
        check(unsafe { (self.current)(&raw mut context) });
    }

    /// Gives the context back.
    pub(super) fn close(self) {
        // SAFETY: retained in `open`.
        check(unsafe { (self.set_current)(ptr::null_mut()) });
        // SAFETY: as above.
        check(unsafe { (self.release)(0) });
    }
}
