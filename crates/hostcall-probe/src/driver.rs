//! The driver's functions that this library has ones of the same names of. Their types are those of `cuda.h`, of CUDA
//! 12 and 13.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use crate::hook::{Asked, Hook, Real, enter, in_place_of};
use crate::image::Image;
use crate::launches;
use crate::session::{self, Made};

pub(crate) type Status = c_int;
pub(crate) type Handle = *mut c_void;

/// `CUDA_ERROR_NOT_FOUND`: this machine's driver has no such function.
const NOT_FOUND: Status = 500;

/// Functions with their arguments: what each does, where `real` is the driver's own.
macro_rules! hooks {
    ($($(#[$attribute:meta])* [$known:ident, $asked:expr] fn $name:ident($real:ident; $($argument:ident: $type:ty),*) $body:block)*) => {
        /// All of them.
        pub(crate) static HOOKS: &[Hook] = &[$(Hook {
            name: hooks!(@text $name),
            known_as: hooks!(@text $known),
            asked: $asked,
            ours: $name as *const c_void,
        }),*];

        $(
            $(#[$attribute])*
            ///
            /// # Safety
            /// As for the driver's.
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> Status {
                static REAL: Real = Real::new(hooks!(@text $name));
                let Some($real) = REAL.get() else { return NOT_FOUND };
                // SAFETY: the driver's function of this name has this type (cuda.h).
                let $real = unsafe { std::mem::transmute::<std::ptr::NonNull<c_void>, unsafe extern "C" fn($($type),*) -> Status>($real) };
                $body
            }
        )*
    };
    (@text $name:ident) => {
        match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => panic!("a name without a zero in it"),
        }
    };
}

hooks! {
    /// `cuGetProcAddress` of CUDA 11.
    [cuGetProcAddress, Asked::SinceTwelve(false)]
    fn cuGetProcAddress(real; name: *const c_char, function: *mut *const c_void, version: c_int, flags: u64) {
        // SAFETY: the caller's arguments.
        let status = unsafe { real(name, function, version, flags) };
        // SAFETY: a name that the driver has read.
        if status == 0 && let Some(ours) = unsafe { in_place_of(name, version, flags) } {
            // SAFETY: the driver has written there.
            unsafe { replace(function, ours) };
        }
        status
    }

    /// `cuGetProcAddress` of CUDA 12 and later.
    [cuGetProcAddress, Asked::SinceTwelve(true)]
    fn cuGetProcAddress_v2(real; name: *const c_char, function: *mut *const c_void, version: c_int, flags: u64, found: *mut c_int) {
        // SAFETY: the caller's arguments.
        let status = unsafe { real(name, function, version, flags, found) };
        // SAFETY: a name that the driver has read.
        if status == 0 && let Some(ours) = unsafe { in_place_of(name, version, flags) } {
            // SAFETY: the driver has written there.
            unsafe { replace(function, ours) };
        }
        status
    }

    /// `cuModuleLoad`
    [cuModuleLoad, Asked::Always]
    fn cuModuleLoad(real; module: *mut Handle, path: *const c_char) {
        // SAFETY: a path, as for the driver.
        let file = unsafe { read(path) };
        let image = |capability| Image::of_file(file.as_deref().unwrap_or_default(), capability);
        // SAFETY: the caller's arguments; what is loaded in the place of the file is an image.
        let load = |instead: Option<*const c_void>| unsafe {
            match instead {
                Some(image) => module_load_data()(module, image),
                None => real(module, path),
            }
        };
        // SAFETY: the driver has written there if it says that it has loaded something.
        session::load(&image, &load, &|| Made::Module(unsafe { *module }))
    }

    /// `cuModuleLoadData`
    [cuModuleLoadData, Asked::Always]
    fn cuModuleLoadData(real; module: *mut Handle, image: *const c_void) {
        // SAFETY: the caller's arguments, or an image in the place of his.
        let load = |instead: Option<*const c_void>| unsafe { real(module, instead.unwrap_or(image)) };
        // SAFETY: an image, as for the driver; and the driver has written there if it says that it has loaded something.
        session::load(&|capability| unsafe { Image::at(image, capability) }, &load, &|| Made::Module(unsafe { *module }))
    }

    /// `cuModuleLoadDataEx`
    [cuModuleLoadDataEx, Asked::Always]
    fn cuModuleLoadDataEx(real; module: *mut Handle, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void) {
        // SAFETY: the caller's arguments, or an image in the place of his.
        let load = |instead: Option<*const c_void>| unsafe { real(module, instead.unwrap_or(image), count, options, values) };
        // SAFETY: an image, as for the driver; and the driver has written there if it says that it has loaded something.
        session::load(&|capability| unsafe { Image::at(image, capability) }, &load, &|| Made::Module(unsafe { *module }))
    }

    /// `cuModuleLoadFatBinary`
    [cuModuleLoadFatBinary, Asked::Always]
    fn cuModuleLoadFatBinary(real; module: *mut Handle, image: *const c_void) {
        // SAFETY: the caller's arguments; what is loaded in the place of the fatbin is an image.
        let load = |instead: Option<*const c_void>| unsafe {
            match instead {
                Some(image) => module_load_data()(module, image),
                None => real(module, image),
            }
        };
        // SAFETY: an image, as for the driver; and the driver has written there if it says that it has loaded something.
        session::load(&|capability| unsafe { Image::at(image, capability) }, &load, &|| Made::Module(unsafe { *module }))
    }

    /// `cuModuleUnload`
    [cuModuleUnload, Asked::Always]
    fn cuModuleUnload(real; module: Handle) {
        session::forget(module);
        // SAFETY: the caller's argument.
        unsafe { real(module) }
    }

    /// `cuLibraryLoadData`
    [cuLibraryLoadData, Asked::Always]
    fn cuLibraryLoadData(real; library: *mut Handle, code: *const c_void, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
                         options: *mut c_int, values: *mut *mut c_void, count: c_uint) {
        // SAFETY: the caller's arguments, or an image in the place of his, which stays as one must that is not copied.
        let load = |instead: Option<*const c_void>| unsafe {
            real(library, instead.unwrap_or(code), jit, jit_values, jit_count, options, values, count)
        };
        // SAFETY: an image, as for the driver; and the driver has written there if it says that it has loaded something.
        session::load(&|capability| unsafe { Image::at(code, capability) }, &load, &|| Made::Library(unsafe { *library }))
    }

    /// `cuLibraryLoadFromFile`
    [cuLibraryLoadFromFile, Asked::Always]
    fn cuLibraryLoadFromFile(real; library: *mut Handle, path: *const c_char, jit: *mut c_int, jit_values: *mut *mut c_void, jit_count: c_uint,
                             options: *mut c_int, values: *mut *mut c_void, count: c_uint) {
        // SAFETY: a path, as for the driver.
        let file = unsafe { read(path) };
        let image = |capability| Image::of_file(file.as_deref().unwrap_or_default(), capability);
        // SAFETY: the caller's arguments; what is loaded in the place of the file is an image.
        let load = |instead: Option<*const c_void>| unsafe {
            match instead {
                Some(image) => library_load_data()(library, image, jit, jit_values, jit_count, options, values, count),
                None => real(library, path, jit, jit_values, jit_count, options, values, count),
            }
        };
        // SAFETY: the driver has written there if it says that it has loaded something.
        session::load(&image, &load, &|| Made::Library(unsafe { *library }))
    }

    /// `cuLibraryUnload`
    [cuLibraryUnload, Asked::Always]
    fn cuLibraryUnload(real; library: Handle) {
        session::forget(library);
        // SAFETY: the caller's argument.
        unsafe { real(library) }
    }

    /// `cuLinkAddData`
    [cuLinkAddData, Asked::Always]
    fn cuLinkAddData_v2(real; state: Handle, kind: c_int, data: *mut c_void, size: usize, name: *const c_char, count: c_uint,
                        options: *mut c_int, values: *mut *mut c_void) {
        // SAFETY: so many bytes, as for the driver.
        let text = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), if data.is_null() { 0 } else { size }) };
        // SAFETY: the caller's arguments, or PTX in the place of his.
        let add = |instead: Option<&[u8]>| unsafe {
            let (data, size) = instead.map_or((data, size), |text| (text.as_ptr().cast_mut().cast(), text.len()));
            real(state, kind, data, size, name, count, options, values)
        };
        session::link(state, kind, text, &add)
    }

    /// `cuLinkDestroy`
    [cuLinkDestroy, Asked::Always]
    fn cuLinkDestroy(real; state: Handle) {
        session::linked(state);
        // SAFETY: the caller's argument.
        unsafe { real(state) }
    }

    /// `cuLaunchKernel`
    [cuLaunchKernel, Asked::PerThread(false)]
    fn cuLaunchKernel(real; function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, x: c_uint, y: c_uint, z: c_uint, shared: c_uint, stream: Handle,
                      parameters: *mut *mut c_void, extra: *mut *mut c_void) {
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, false, &|| unsafe { real(function, gx, gy, gz, x, y, z, shared, stream, parameters, extra) })
    }

    /// `cuLaunchKernel` where each thread has a default stream.
    [cuLaunchKernel, Asked::PerThread(true)]
    fn cuLaunchKernel_ptsz(real; function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, x: c_uint, y: c_uint, z: c_uint, shared: c_uint,
                           stream: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void) {
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, true, &|| unsafe { real(function, gx, gy, gz, x, y, z, shared, stream, parameters, extra) })
    }

    /// `cuLaunchCooperativeKernel`
    [cuLaunchCooperativeKernel, Asked::PerThread(false)]
    fn cuLaunchCooperativeKernel(real; function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, x: c_uint, y: c_uint, z: c_uint, shared: c_uint,
                                 stream: Handle, parameters: *mut *mut c_void) {
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, false, &|| unsafe { real(function, gx, gy, gz, x, y, z, shared, stream, parameters) })
    }

    /// `cuLaunchCooperativeKernel` where each thread has a default stream.
    [cuLaunchCooperativeKernel, Asked::PerThread(true)]
    fn cuLaunchCooperativeKernel_ptsz(real; function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, x: c_uint, y: c_uint, z: c_uint,
                                      shared: c_uint, stream: Handle, parameters: *mut *mut c_void) {
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, true, &|| unsafe { real(function, gx, gy, gz, x, y, z, shared, stream, parameters) })
    }

    /// `cuLaunchKernelEx`
    [cuLaunchKernelEx, Asked::PerThread(false)]
    fn cuLaunchKernelEx(real; config: *const LaunchConfig, function: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void) {
        // SAFETY: a configuration, as for the driver.
        let stream = unsafe { config.as_ref() }.map_or(std::ptr::null_mut(), |config| config.stream);
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, false, &|| unsafe { real(config, function, parameters, extra) })
    }

    /// `cuLaunchKernelEx` where each thread has a default stream.
    [cuLaunchKernelEx, Asked::PerThread(true)]
    fn cuLaunchKernelEx_ptsz(real; config: *const LaunchConfig, function: Handle, parameters: *mut *mut c_void, extra: *mut *mut c_void) {
        // SAFETY: a configuration, as for the driver.
        let stream = unsafe { config.as_ref() }.map_or(std::ptr::null_mut(), |config| config.stream);
        // SAFETY: the caller's arguments.
        launches::launch(function, stream, true, &|| unsafe { real(config, function, parameters, extra) })
    }
}

/// `CUlaunchConfig`, as far as it is looked at.
#[repr(C)]
pub(crate) struct LaunchConfig {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: Handle,
}

/// # Safety
/// `function` is null or the driver has written there.
unsafe fn replace(function: *mut *const c_void, ours: *const c_void) {
    // SAFETY: the caller's.
    unsafe {
        if !function.is_null() && !(*function).is_null() {
            *function = ours;
        }
    }
}

/// A file that a program names; `None`: it cannot be read, which the driver will say.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn read(path: *const c_char) -> Option<Vec<u8>> {
    // Within ours, files are the driver's business.
    let _entered = enter()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let path = unsafe { CStr::from_ptr(path) };
    fs::read(std::ffi::OsStr::from_bytes(path.to_bytes())).ok()
}

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
