//! The driver's functions that this library itself calls, and the types of `cuda.h`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::real::Real;

pub(crate) type Status = c_int;
pub(crate) type Handle = *mut c_void;

/// `CUDA_ERROR_NOT_FOUND`: this machine's driver has no such function.
pub(crate) const NOT_FOUND: Status = 500;

/// The driver's own function of a name and a type, which others of ours call as well.
macro_rules! own {
    ($(#[$attribute:meta])* $name:ident, $symbol:literal, fn($($type:ty),*)) => {
        $(#[$attribute])*
        pub(crate) fn $name() -> unsafe extern "C" fn($($type),*) -> Status {
            static REAL: Real = Real::new($symbol);
            unsafe extern "C" fn missing($(_: $type),*) -> Status {
                NOT_FOUND
            }
            match REAL.get() {
                // SAFETY: the driver's function of this name has this type (cuda.h).
                Some(real) => unsafe { std::mem::transmute::<std::ptr::NonNull<c_void>, unsafe extern "C" fn($($type),*) -> Status>(real) },
                None => missing,
            }
        }
    };
}

own!(module_load_data, c"cuModuleLoadData", fn(*mut Handle, *const c_void));
own!(
    library_load_data,
    c"cuLibraryLoadData",
    fn(*mut Handle, *const c_void, *mut c_int, *mut *mut c_void, c_uint, *mut c_int, *mut *mut c_void, c_uint)
);
own!(current_context, c"cuCtxGetCurrent", fn(*mut Handle));
own!(push_context, c"cuCtxPushCurrent_v2", fn(Handle));
own!(pop_context, c"cuCtxPopCurrent_v2", fn(*mut Handle));
own!(synchronize, c"cuCtxSynchronize", fn());
own!(current_device, c"cuCtxGetDevice", fn(*mut c_int));
own!(device_attribute, c"cuDeviceGetAttribute", fn(*mut c_int, c_int, c_int));
own!(module_unload, c"cuModuleUnload", fn(Handle));
own!(library_unload, c"cuLibraryUnload", fn(Handle));
own!(module_function, c"cuModuleGetFunction", fn(*mut Handle, Handle, *const c_char));
own!(library_kernel, c"cuLibraryGetKernel", fn(*mut Handle, Handle, *const c_char));
own!(function_attribute, c"cuFuncGetAttribute", fn(*mut c_int, c_int, Handle));
own!(kernel_attribute, c"cuKernelGetAttribute", fn(*mut c_int, c_int, Handle, c_int));
own!(function_name, c"cuFuncGetName", fn(*mut *const c_char, Handle));
own!(kernel_name, c"cuKernelGetName", fn(*mut *const c_char, Handle));
own!(fill, c"cuMemsetD32Async", fn(u64, c_uint, usize, Handle));
