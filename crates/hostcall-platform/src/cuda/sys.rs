//! Handles, structures and constants of the CUDA driver, as `cuda.h` has them: those that this crate uses.
//!
//! The names are `cuda.h`'s. They are kept here because whoever binds the whole of `cuda.h` binds one version of it,
//! and a build that has two users of such a crate must agree on that version. These have not changed since CUDA 12.4.
//! Handles of other crates (`cudarc::driver::sys::CUstream`) are pointers to the same things: `.cast()` converts them.

#![allow(non_camel_case_types, reason = "the names of cuda.h")]

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

macro_rules! handles {
    ($($handle:ident = $what:ident: $doc:literal;)*) => {
        $(
            #[doc = concat!("What a [`", stringify!($handle), "`] points to.")]
            #[repr(C)]
            #[derive(Debug)]
            pub struct $what {
                opaque: [u8; 0],
            }
            #[doc = $doc]
            pub type $handle = *mut $what;
        )*
    };
}

handles! {
    CUcontext = CUctx_st: "A context.";
    CUmodule = CUmod_st: "A module.";
    CUfunction = CUfunc_st: "A function of a module.";
    CUlibrary = CUlib_st: "A library (`cuLibraryLoadData`).";
    CUstream = CUstream_st: "A stream.";
    CUgreenCtx = CUgreenCtx_st: "A part of a device's processors, with the primary context's memory.";
    CUevent = CUevent_st: "An event.";
    CUgraph = CUgraph_st: "A graph.";
    CUgraphExec = CUgraphExec_st: "A graph that can be launched.";
    CUexternalMemory = CUextMemory_st: "Memory of another API.";
}

/// A device's handle.
pub type CUdevice = c_int;
/// An address in a device's memory.
pub type CUdeviceptr = c_ulonglong;

/// A device's number, unique among all machines.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct CUuuid {
    pub(super) bytes: [u8; 16],
}

/// Memory that another API exported, by a descriptor of the system's: `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`.
#[repr(C)]
pub(super) struct ExternalMemoryHandle {
    pub(super) kind: c_uint,
    pub(super) handle: ExternalHandle,
    /// In bytes.
    pub(super) size: c_ulonglong,
    pub(super) flags: c_uint,
    pub(super) reserved: [c_uint; 16],
}

/// The union in it.
#[repr(C)]
pub(super) union ExternalHandle {
    pub(super) fd: c_int,
    /// Two pointers on Windows, which make the union as large as it is.
    pub(super) win32: [*const c_void; 2],
}

/// A part of such memory: `CUDA_EXTERNAL_MEMORY_BUFFER_DESC`.
#[repr(C)]
pub(super) struct ExternalMemoryBuffer {
    /// In bytes.
    pub(super) offset: c_ulonglong,
    /// In bytes.
    pub(super) size: c_ulonglong,
    pub(super) flags: c_uint,
    pub(super) reserved: [c_uint; 16],
}

macro_rules! constants {
    ($($name:ident: $ty:ty = $value:literal;)*) => {
        $(pub(super) const $name: $ty = $value;)*

        #[cfg(test)]
        const ALL: &[(&str, i64)] = &[$((stringify!($name), $value)),*];
    };
}

constants! {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: c_int = 1;
    CU_DEVICE_ATTRIBUTE_WARP_SIZE: c_int = 10;
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: c_int = 16;
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: c_int = 39;
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: c_int = 76;
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: c_int = 0;
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: c_int = 1;
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: c_int = 3;
    CU_FUNC_ATTRIBUTE_NUM_REGS: c_int = 4;
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
    CU_JIT_INFO_LOG_BUFFER: c_int = 3;
    CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
    CU_JIT_ERROR_LOG_BUFFER: c_int = 5;
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;
    CU_JIT_LOG_VERBOSE: c_int = 12;
    CU_LIMIT_STACK_SIZE: c_int = 0;
    CU_LIMIT_MALLOC_HEAP_SIZE: c_int = 2;
    CU_STREAM_CAPTURE_MODE_RELAXED: c_int = 2;
    CU_STREAM_NON_BLOCKING: c_uint = 1;
    CU_EVENT_BLOCKING_SYNC: c_uint = 1;
    CU_EVENT_DISABLE_TIMING: c_uint = 2;
    CU_MEMHOSTALLOC_PORTABLE: c_uint = 1;
    CU_MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
    CU_MEMHOSTREGISTER_PORTABLE: c_uint = 1;
    CU_MEMHOSTREGISTER_DEVICEMAP: c_uint = 2;
    CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD: c_uint = 1;
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use cudarc::driver::sys as cuda_h;

    use super::*;

    /// The value of a constant in the bindings that cudarc generates from cuda.h.
    fn of_cuda_h(name: &str) -> i64 {
        use cuda_h::{CUdevice_attribute as Device, CUfunction_attribute as Function, CUjit_option as Jit, CUlimit as Limit};
        macro_rules! values {
            ($($from:path { $($known:ident)* })*) => {
                match name {
                    $($(stringify!($known) => { use $from as Enum; Enum::$known as i64 })*)*
                    "CU_MEMHOSTALLOC_PORTABLE" => cuda_h::CU_MEMHOSTALLOC_PORTABLE.into(),
                    "CU_MEMHOSTALLOC_DEVICEMAP" => cuda_h::CU_MEMHOSTALLOC_DEVICEMAP.into(),
                    "CU_MEMHOSTREGISTER_PORTABLE" => cuda_h::CU_MEMHOSTREGISTER_PORTABLE.into(),
                    "CU_MEMHOSTREGISTER_DEVICEMAP" => cuda_h::CU_MEMHOSTREGISTER_DEVICEMAP.into(),
                    other => panic!("compare {other}, too"),
                }
            };
        }
        values! {
            Device {
                CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK CU_DEVICE_ATTRIBUTE_WARP_SIZE CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
                CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
            }
            Function {
                CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
                CU_FUNC_ATTRIBUTE_NUM_REGS CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            }
            Jit {
                CU_JIT_INFO_LOG_BUFFER CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES CU_JIT_ERROR_LOG_BUFFER CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
                CU_JIT_LOG_VERBOSE
            }
            Limit { CU_LIMIT_STACK_SIZE CU_LIMIT_MALLOC_HEAP_SIZE }
            cuda_h::CUstreamCaptureMode { CU_STREAM_CAPTURE_MODE_RELAXED }
            cuda_h::CUstream_flags { CU_STREAM_NON_BLOCKING }
            cuda_h::CUevent_flags { CU_EVENT_BLOCKING_SYNC CU_EVENT_DISABLE_TIMING }
            cuda_h::CUexternalMemoryHandleType { CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD }
        }
    }

    #[test]
    fn constants_are_those_of_cuda_h() {
        for &(name, value) in ALL {
            assert_eq!(value, of_cuda_h(name), "{name}");
        }
    }

    #[test]
    fn structures_are_laid_out_as_those_of_cuda_h() {
        use cuda_h::{CUDA_EXTERNAL_MEMORY_BUFFER_DESC as Buffer, CUDA_EXTERNAL_MEMORY_HANDLE_DESC as Handle};
        assert_eq!(
            [size_of::<CUdevice>(), size_of::<CUdeviceptr>(), size_of::<CUuuid>(), size_of::<CUstream>()],
            [size_of::<cuda_h::CUdevice>(), size_of::<cuda_h::CUdeviceptr>(), size_of::<cuda_h::CUuuid>(), size_of::<cuda_h::CUstream>()]
        );
        macro_rules! same {
            ($ours:ty, $theirs:ty, $($field:ident = $their:ident),*) => {
                assert_eq!(size_of::<$ours>(), size_of::<$theirs>());
                $(assert_eq!(offset_of!($ours, $field), offset_of!($theirs, $their), stringify!($field));)*
            };
        }
        same!(ExternalMemoryHandle, Handle, kind = type_, handle = handle, size = size, flags = flags, reserved = reserved);
        same!(ExternalMemoryBuffer, Buffer, offset = offset, size = size, flags = flags, reserved = reserved);
    }
}
