//! The C API as Rust sees it: types laid out as in C, and the functions of a library that is linked.
//!
//! Made from OffloadAPI.td (LLVM 24) by offload-tblgen --gen-rust-sys; change that, not this file.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, reason = "names are those of the C API")]

use std::ffi::{c_char, c_uint, c_void};

/// The version of LLVM whose API this is.
pub const API_VERSION: u32 = 24;

/// First part of the version of the Offload API
pub const OL_VERSION_MAJOR: u32 = 0;

/// Second part of the version of the Offload API
pub const OL_VERSION_MINOR: u32 = 0;

/// Third part of the version of the Offload API
pub const OL_VERSION_PATCH: u32 = 1;

/// What [`ol_context_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_context_impl_t {
    _unused: [u8; 0],
}
/// A context, in which devices share resources
pub type ol_context_handle_t = *mut ol_context_impl_t;

/// What [`ol_device_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_device_impl_t {
    _unused: [u8; 0],
}
/// A device, which belongs to a platform
pub type ol_device_handle_t = *mut ol_device_impl_t;

/// What [`ol_event_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_event_impl_t {
    _unused: [u8; 0],
}
/// An event: a point in a queue's work
pub type ol_event_handle_t = *mut ol_event_impl_t;

/// What [`ol_platform_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_platform_impl_t {
    _unused: [u8; 0],
}
/// A platform: the devices that one driver serves
pub type ol_platform_handle_t = *mut ol_platform_impl_t;

/// What [`ol_program_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_program_impl_t {
    _unused: [u8; 0],
}
/// A program, loaded on one device
pub type ol_program_handle_t = *mut ol_program_impl_t;

/// What [`ol_queue_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_queue_impl_t {
    _unused: [u8; 0],
}
/// A queue: work for one device, done in order
pub type ol_queue_handle_t = *mut ol_queue_impl_t;

/// What [`ol_symbol_handle_t`] points to. Only the library knows what is in it.
#[repr(C)]
#[derive(Debug)]
pub struct ol_symbol_impl_t {
    _unused: [u8; 0],
}
/// A kernel or a global variable of a program
pub type ol_symbol_handle_t = *mut ol_symbol_impl_t;

/// Where memory lies, and who can use it
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_alloc_type_t(pub c_uint);
impl ol_alloc_type_t {
    /// on the host, usable by devices
    pub const OL_ALLOC_TYPE_HOST: Self = Self(0);
    /// on a device
    pub const OL_ALLOC_TYPE_DEVICE: Self = Self(1);
    /// where the driver moves it, usable by host and device
    pub const OL_ALLOC_TYPE_MANAGED: Self = Self(2);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_ALLOC_TYPE_HOST, Self::OL_ALLOC_TYPE_DEVICE, Self::OL_ALLOC_TYPE_MANAGED];
}
const _: () = assert!(size_of::<ol_alloc_type_t>() == 4);

/// What can be asked of a context
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_context_info_t(pub c_uint);
impl ol_context_info_t {
    /// how many devices it has
    pub const OL_CONTEXT_INFO_NUM_DEVICES: Self = Self(0);
    /// its devices
    pub const OL_CONTEXT_INFO_DEVICES: Self = Self(1);
    /// the platform that its devices belong to
    pub const OL_CONTEXT_INFO_PLATFORM: Self = Self(2);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_CONTEXT_INFO_NUM_DEVICES, Self::OL_CONTEXT_INFO_DEVICES, Self::OL_CONTEXT_INFO_PLATFORM];
}
const _: () = assert!(size_of::<ol_context_info_t>() == 4);

/// What a device's floating-point arithmetic does
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_device_fp_capability_flag_t(pub c_uint);
impl ol_device_fp_capability_flag_t {
    /// division and square root are rounded correctly
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT: Self = Self(1);
    /// it can round to the nearest value, ties to even
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST: Self = Self(2);
    /// it can round towards zero
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO: Self = Self(4);
    /// it can round towards either infinity
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF: Self = Self(8);
    /// it has infinities and quiet NaNs
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN: Self = Self(16);
    /// it has subnormal numbers
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_DENORM: Self = Self(32);
    /// it multiplies and adds with one rounding
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_FMA: Self = Self(64);
    /// its basic operations are done in software
    pub const OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT: Self = Self(128);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_DENORM,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_FMA,
        Self::OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT,
    ];

    /// All bits that have a name.
    pub const MASK: c_uint = 0xff;
}
const _: () = assert!(size_of::<ol_device_fp_capability_flag_t>() == 4);

/// What can be asked of a device
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_device_info_t(pub c_uint);
impl ol_device_info_t {
    /// its kind
    pub const OL_DEVICE_INFO_TYPE: Self = Self(0);
    /// the platform that it belongs to
    pub const OL_DEVICE_INFO_PLATFORM: Self = Self(1);
    /// its name, as the driver gives it
    pub const OL_DEVICE_INFO_NAME: Self = Self(2);
    /// the name under which it is sold
    pub const OL_DEVICE_INFO_PRODUCT_NAME: Self = Self(3);
    /// a text that no other device of this machine has
    pub const OL_DEVICE_INFO_UID: Self = Self(4);
    /// who made it
    pub const OL_DEVICE_INFO_VENDOR: Self = Self(5);
    /// the version of its driver
    pub const OL_DEVICE_INFO_DRIVER_VERSION: Self = Self(6);
    /// the most work items that a work group may have
    pub const OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE: Self = Self(7);
    /// the most work items that a work group may have in each dimension
    pub const OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION: Self = Self(8);
    /// the most work items that a launch may have
    pub const OL_DEVICE_INFO_MAX_WORK_SIZE: Self = Self(9);
    /// the most work items that a launch may have in each dimension
    pub const OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION: Self = Self(10);
    /// its maker's number in the PCI registry
    pub const OL_DEVICE_INFO_VENDOR_ID: Self = Self(11);
    /// how many units run work groups at the same time
    pub const OL_DEVICE_INFO_NUM_COMPUTE_UNITS: Self = Self(12);
    /// the highest clock rate of those units, in MHz
    pub const OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY: Self = Self(13);
    /// the clock rate of its memory, in MHz
    pub const OL_DEVICE_INFO_MEMORY_CLOCK_RATE: Self = Self(14);
    /// how many bits an address in its memory has
    pub const OL_DEVICE_INFO_ADDRESS_BITS: Self = Self(15);
    /// the largest single allocation, in bytes
    pub const OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE: Self = Self(16);
    /// how much memory it has, in bytes
    pub const OL_DEVICE_INFO_GLOBAL_MEM_SIZE: Self = Self(17);
    /// how much local memory a work group may have, in bytes
    pub const OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE: Self = Self(18);
    /// how many work items run in lockstep: those of a wave
    pub const OL_DEVICE_INFO_NUM_LANES: Self = Self(19);
    /// what its single-precision arithmetic does
    pub const OL_DEVICE_INFO_SINGLE_FP_CONFIG: Self = Self(20);
    /// what its double-precision arithmetic does
    pub const OL_DEVICE_INFO_DOUBLE_FP_CONFIG: Self = Self(21);
    /// what its half-precision arithmetic does
    pub const OL_DEVICE_INFO_HALF_FP_CONFIG: Self = Self(22);
    /// how many elements of type char its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR: Self = Self(23);
    /// how many elements of type short its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT: Self = Self(24);
    /// how many elements of type int its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT: Self = Self(25);
    /// how many elements of type long its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG: Self = Self(26);
    /// how many elements of type float its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT: Self = Self(27);
    /// how many elements of type double its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE: Self = Self(28);
    /// how many elements of type half its own vectors hold
    pub const OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF: Self = Self(29);
    /// whether it computes in single precision
    pub const OL_DEVICE_INFO_SINGLE_FP_SUPPORT: Self = Self(30);
    /// whether it computes in double precision
    pub const OL_DEVICE_INFO_DOUBLE_FP_SUPPORT: Self = Self(31);
    /// whether it computes in half precision
    pub const OL_DEVICE_INFO_HALF_FP_SUPPORT: Self = Self(32);
    /// whether all work groups of a launch can wait for one another
    pub const OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT: Self = Self(33);
    /// which of its platform's drivers serves it: devices of one driver may share a context
    pub const OL_DEVICE_INFO_DRIVER_ID: Self = Self(34);
    /// what its code is compiled for: its architecture
    pub const OL_DEVICE_INFO_COMPUTE_UNIT_KIND: Self = Self(35);
    /// how many ticks the clock that kernels read makes in a second
    pub const OL_DEVICE_INFO_TIMESTAMP_FREQUENCY: Self = Self(36);
    /// how many waves are on the device at the same time, at most
    pub const OL_DEVICE_INFO_HARDWARE_PARALLELISM: Self = Self(37);
    /// the number of work items of a group where nothing speaks for another
    pub const OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE: Self = Self(38);
    /// the number of such groups that fills the device
    pub const OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS: Self = Self(39);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_DEVICE_INFO_TYPE,
        Self::OL_DEVICE_INFO_PLATFORM,
        Self::OL_DEVICE_INFO_NAME,
        Self::OL_DEVICE_INFO_PRODUCT_NAME,
        Self::OL_DEVICE_INFO_UID,
        Self::OL_DEVICE_INFO_VENDOR,
        Self::OL_DEVICE_INFO_DRIVER_VERSION,
        Self::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE,
        Self::OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION,
        Self::OL_DEVICE_INFO_MAX_WORK_SIZE,
        Self::OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION,
        Self::OL_DEVICE_INFO_VENDOR_ID,
        Self::OL_DEVICE_INFO_NUM_COMPUTE_UNITS,
        Self::OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY,
        Self::OL_DEVICE_INFO_MEMORY_CLOCK_RATE,
        Self::OL_DEVICE_INFO_ADDRESS_BITS,
        Self::OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE,
        Self::OL_DEVICE_INFO_GLOBAL_MEM_SIZE,
        Self::OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE,
        Self::OL_DEVICE_INFO_NUM_LANES,
        Self::OL_DEVICE_INFO_SINGLE_FP_CONFIG,
        Self::OL_DEVICE_INFO_DOUBLE_FP_CONFIG,
        Self::OL_DEVICE_INFO_HALF_FP_CONFIG,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE,
        Self::OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF,
        Self::OL_DEVICE_INFO_SINGLE_FP_SUPPORT,
        Self::OL_DEVICE_INFO_DOUBLE_FP_SUPPORT,
        Self::OL_DEVICE_INFO_HALF_FP_SUPPORT,
        Self::OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT,
        Self::OL_DEVICE_INFO_DRIVER_ID,
        Self::OL_DEVICE_INFO_COMPUTE_UNIT_KIND,
        Self::OL_DEVICE_INFO_TIMESTAMP_FREQUENCY,
        Self::OL_DEVICE_INFO_HARDWARE_PARALLELISM,
        Self::OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE,
        Self::OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS,
    ];
}
const _: () = assert!(size_of::<ol_device_info_t>() == 4);

/// Kinds of devices
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_device_type_t(pub c_uint);
impl ol_device_type_t {
    /// the kind that the library would choose
    pub const OL_DEVICE_TYPE_DEFAULT: Self = Self(0);
    /// every kind
    pub const OL_DEVICE_TYPE_ALL: Self = Self(1);
    /// graphics processors
    pub const OL_DEVICE_TYPE_GPU: Self = Self(2);
    /// processors that are used as devices
    pub const OL_DEVICE_TYPE_CPU: Self = Self(3);
    /// the processor that the library runs on, which owns host memory
    pub const OL_DEVICE_TYPE_HOST: Self = Self(4);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_DEVICE_TYPE_DEFAULT,
        Self::OL_DEVICE_TYPE_ALL,
        Self::OL_DEVICE_TYPE_GPU,
        Self::OL_DEVICE_TYPE_CPU,
        Self::OL_DEVICE_TYPE_HOST,
    ];
}
const _: () = assert!(size_of::<ol_device_type_t>() == 4);

/// Why a call failed
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_errc_t(pub c_uint);
impl ol_errc_t {
    /// the call succeeded
    pub const OL_ERRC_SUCCESS: Self = Self(0);
    /// the cause is not known, or is a fault of the library
    pub const OL_ERRC_UNKNOWN: Self = Self(1);
    /// reading or writing on the host failed
    pub const OL_ERRC_HOST_IO: Self = Self(2);
    /// a program image is damaged or of no known format
    pub const OL_ERRC_INVALID_BINARY: Self = Self(3);
    /// a pointer that must not be null is null
    pub const OL_ERRC_INVALID_NULL_POINTER: Self = Self(4);
    /// an argument has a value that it may not have
    pub const OL_ERRC_INVALID_ARGUMENT: Self = Self(5);
    /// what was asked for does not exist
    pub const OL_ERRC_NOT_FOUND: Self = Self(6);
    /// memory or another resource is used up
    pub const OL_ERRC_OUT_OF_RESOURCES: Self = Self(7);
    /// a size is zero, too small, too large, or not a multiple of what it must be
    pub const OL_ERRC_INVALID_SIZE: Self = Self(8);
    /// an argument is not an enumerator of its enumeration, or not one that applies here
    pub const OL_ERRC_INVALID_ENUMERATION: Self = Self(9);
    /// a program that is needed on the host, such as a linker, is not there
    pub const OL_ERRC_HOST_TOOL_NOT_FOUND: Self = Self(10);
    /// a value is not valid
    pub const OL_ERRC_INVALID_VALUE: Self = Self(11);
    /// the library does not implement this yet for the device
    pub const OL_ERRC_UNIMPLEMENTED: Self = Self(12);
    /// the device or its driver cannot do this
    pub const OL_ERRC_UNSUPPORTED: Self = Self(13);
    /// assembling a program image failed
    pub const OL_ERRC_ASSEMBLE_FAILURE: Self = Self(14);
    /// compiling a program image for the device failed
    pub const OL_ERRC_COMPILE_FAILURE: Self = Self(15);
    /// linking a program image failed
    pub const OL_ERRC_LINK_FAILURE: Self = Self(16);
    /// the driver failed, or is in a state in which it cannot be used
    pub const OL_ERRC_BACKEND_FAILURE: Self = Self(17);
    /// the library, or what the call works on, is not initialised
    pub const OL_ERRC_UNINITIALIZED: Self = Self(18);
    /// a handle that must not be null is null
    pub const OL_ERRC_INVALID_NULL_HANDLE: Self = Self(19);
    /// a platform handle is not valid
    pub const OL_ERRC_INVALID_PLATFORM: Self = Self(20);
    /// a device handle is not valid, or is not the device that it must be
    pub const OL_ERRC_INVALID_DEVICE: Self = Self(21);
    /// a queue handle is not valid
    pub const OL_ERRC_INVALID_QUEUE: Self = Self(22);
    /// an event handle is not valid
    pub const OL_ERRC_INVALID_EVENT: Self = Self(23);
    /// a context handle is not valid
    pub const OL_ERRC_INVALID_CONTEXT: Self = Self(24);
    /// the symbol is not of the kind that the call needs
    pub const OL_ERRC_SYMBOL_KIND: Self = Self(25);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_ERRC_SUCCESS,
        Self::OL_ERRC_UNKNOWN,
        Self::OL_ERRC_HOST_IO,
        Self::OL_ERRC_INVALID_BINARY,
        Self::OL_ERRC_INVALID_NULL_POINTER,
        Self::OL_ERRC_INVALID_ARGUMENT,
        Self::OL_ERRC_NOT_FOUND,
        Self::OL_ERRC_OUT_OF_RESOURCES,
        Self::OL_ERRC_INVALID_SIZE,
        Self::OL_ERRC_INVALID_ENUMERATION,
        Self::OL_ERRC_HOST_TOOL_NOT_FOUND,
        Self::OL_ERRC_INVALID_VALUE,
        Self::OL_ERRC_UNIMPLEMENTED,
        Self::OL_ERRC_UNSUPPORTED,
        Self::OL_ERRC_ASSEMBLE_FAILURE,
        Self::OL_ERRC_COMPILE_FAILURE,
        Self::OL_ERRC_LINK_FAILURE,
        Self::OL_ERRC_BACKEND_FAILURE,
        Self::OL_ERRC_UNINITIALIZED,
        Self::OL_ERRC_INVALID_NULL_HANDLE,
        Self::OL_ERRC_INVALID_PLATFORM,
        Self::OL_ERRC_INVALID_DEVICE,
        Self::OL_ERRC_INVALID_QUEUE,
        Self::OL_ERRC_INVALID_EVENT,
        Self::OL_ERRC_INVALID_CONTEXT,
        Self::OL_ERRC_SYMBOL_KIND,
    ];
}
const _: () = assert!(size_of::<ol_errc_t>() == 4);

/// What an event is for
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_event_flags_t(pub c_uint);
impl ol_event_flags_t {
    /// waiting only
    pub const OL_EVENT_FLAGS_NONE: Self = Self(0);
    /// waiting, and measuring time with olGetEventElapsedTime
    pub const OL_EVENT_FLAGS_ENABLE_PROFILING: Self = Self(1);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_EVENT_FLAGS_NONE, Self::OL_EVENT_FLAGS_ENABLE_PROFILING];
}
const _: () = assert!(size_of::<ol_event_flags_t>() == 4);

/// What can be asked of an event
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_event_info_t(pub c_uint);
impl ol_event_info_t {
    /// the queue whose work it marks
    pub const OL_EVENT_INFO_QUEUE: Self = Self(0);
    /// whether it is complete
    pub const OL_EVENT_INFO_IS_COMPLETE: Self = Self(1);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_EVENT_INFO_QUEUE, Self::OL_EVENT_INFO_IS_COMPLETE];
}
const _: () = assert!(size_of::<ol_event_info_t>() == 4);

/// What can be said of a launch besides its size
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_kernel_launch_prop_type_t(pub c_uint);
impl ol_kernel_launch_prop_type_t {
    /// ends the list
    pub const OL_KERNEL_LAUNCH_PROP_TYPE_NONE: Self = Self(0);
    /// whether its work groups can wait for one another
    pub const OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE: Self = Self(1);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_KERNEL_LAUNCH_PROP_TYPE_NONE, Self::OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE];
}
const _: () = assert!(size_of::<ol_kernel_launch_prop_type_t>() == 4);

/// What can be asked of an allocation
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_mem_info_t(pub c_uint);
impl ol_mem_info_t {
    /// the device that it was allocated for
    pub const OL_MEM_INFO_DEVICE: Self = Self(0);
    /// the address of its first byte
    pub const OL_MEM_INFO_BASE: Self = Self(1);
    /// how many bytes it has
    pub const OL_MEM_INFO_SIZE: Self = Self(2);
    /// where it lies
    pub const OL_MEM_INFO_TYPE: Self = Self(3);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_MEM_INFO_DEVICE, Self::OL_MEM_INFO_BASE, Self::OL_MEM_INFO_SIZE, Self::OL_MEM_INFO_TYPE];
}
const _: () = assert!(size_of::<ol_mem_info_t>() == 4);

/// Which way memory migrates
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_mem_migration_flag_t(pub c_uint);
impl ol_mem_migration_flag_t {
    /// to the device
    pub const OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE: Self = Self(1);
    /// to the host
    pub const OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST: Self = Self(2);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE, Self::OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST];

    /// All bits that have a name.
    pub const MASK: c_uint = 0x3;
}
const _: () = assert!(size_of::<ol_mem_migration_flag_t>() == 4);

/// What else happens when host memory is registered or unregistered
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_memory_register_flag_t(pub c_uint);
impl ol_memory_register_flag_t {
    /// its pages are locked
    pub const OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY: Self = Self(1);
    /// its pages are unlocked
    pub const OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY: Self = Self(2);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, Self::OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY];

    /// All bits that have a name.
    pub const MASK: c_uint = 0x3;
}
const _: () = assert!(size_of::<ol_memory_register_flag_t>() == 4);

/// The driver interface behind a platform
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_platform_backend_t(pub c_uint);
impl ol_platform_backend_t {
    /// none that is known here
    pub const OL_PLATFORM_BACKEND_UNKNOWN: Self = Self(0);
    /// NVIDIA's CUDA driver
    pub const OL_PLATFORM_BACKEND_CUDA: Self = Self(1);
    /// AMD's HSA runtime
    pub const OL_PLATFORM_BACKEND_AMDGPU: Self = Self(2);
    /// Intel's Level Zero
    pub const OL_PLATFORM_BACKEND_LEVEL_ZERO: Self = Self(3);
    /// the processor that the library runs on
    pub const OL_PLATFORM_BACKEND_HOST: Self = Self(4);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_PLATFORM_BACKEND_UNKNOWN,
        Self::OL_PLATFORM_BACKEND_CUDA,
        Self::OL_PLATFORM_BACKEND_AMDGPU,
        Self::OL_PLATFORM_BACKEND_LEVEL_ZERO,
        Self::OL_PLATFORM_BACKEND_HOST,
    ];
}
const _: () = assert!(size_of::<ol_platform_backend_t>() == 4);

/// What can be asked of a platform
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_platform_info_t(pub c_uint);
impl ol_platform_info_t {
    /// its name
    pub const OL_PLATFORM_INFO_NAME: Self = Self(0);
    /// who made it
    pub const OL_PLATFORM_INFO_VENDOR_NAME: Self = Self(1);
    /// the version of its driver
    pub const OL_PLATFORM_INFO_VERSION: Self = Self(2);
    /// the driver interface behind it
    pub const OL_PLATFORM_INFO_BACKEND: Self = Self(3);
    /// whether it has been opened and has a device; asking does not open it
    pub const OL_PLATFORM_INFO_ACTIVE: Self = Self(4);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_PLATFORM_INFO_NAME,
        Self::OL_PLATFORM_INFO_VENDOR_NAME,
        Self::OL_PLATFORM_INFO_VERSION,
        Self::OL_PLATFORM_INFO_BACKEND,
        Self::OL_PLATFORM_INFO_ACTIVE,
    ];
}
const _: () = assert!(size_of::<ol_platform_info_t>() == 4);

/// What can be asked of a queue
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_queue_info_t(pub c_uint);
impl ol_queue_info_t {
    /// the device that does its work
    pub const OL_QUEUE_INFO_DEVICE: Self = Self(0);
    /// the context in which it was made
    pub const OL_QUEUE_INFO_CONTEXT: Self = Self(1);
    /// whether it is known to have no work left; always false where the driver cannot tell
    pub const OL_QUEUE_INFO_EMPTY: Self = Self(2);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_QUEUE_INFO_DEVICE, Self::OL_QUEUE_INFO_CONTEXT, Self::OL_QUEUE_INFO_EMPTY];
}
const _: () = assert!(size_of::<ol_queue_info_t>() == 4);

/// What can be asked of a symbol
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_symbol_info_t(pub c_uint);
impl ol_symbol_info_t {
    /// its kind
    pub const OL_SYMBOL_INFO_KIND: Self = Self(0);
    /// where a global variable lies in the device's memory
    pub const OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS: Self = Self(1);
    /// how many bytes a global variable has
    pub const OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE: Self = Self(2);
    /// its name
    pub const OL_SYMBOL_INFO_NAME: Self = Self(3);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[
        Self::OL_SYMBOL_INFO_KIND,
        Self::OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS,
        Self::OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE,
        Self::OL_SYMBOL_INFO_NAME,
    ];
}
const _: () = assert!(size_of::<ol_symbol_info_t>() == 4);

/// Kinds of symbols
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ol_symbol_kind_t(pub c_uint);
impl ol_symbol_kind_t {
    /// a kernel
    pub const OL_SYMBOL_KIND_KERNEL: Self = Self(0);
    /// a global variable
    pub const OL_SYMBOL_KIND_GLOBAL_VARIABLE: Self = Self(1);

    /// All values that have a name.
    pub const ALL: &'static [Self] = &[Self::OL_SYMBOL_KIND_KERNEL, Self::OL_SYMBOL_KIND_GLOBAL_VARIABLE];
}
const _: () = assert!(size_of::<ol_symbol_kind_t>() == 4);

/// Any number of ol_device_fp_capability_flag_t, joined by or
pub type ol_device_fp_capability_flags_t = u32;

/// One ol_mem_migration_flag_t
pub type ol_mem_migration_flags_t = u32;

/// Any number of ol_memory_register_flag_t, joined by or
pub type ol_memory_register_flags_t = u32;

/// What every function returns: null for success, else what is known of the failure
pub type ol_result_t = *const ol_error_struct_t;

/// Is shown one device after the other, until it returns false
pub type ol_device_iterate_cb_t = Option<unsafe extern "C" fn(Device: ol_device_handle_t, UserData: *mut c_void) -> bool>;

/// Is called on the host when a queue comes to it
pub type ol_host_function_cb_t = Option<unsafe extern "C" fn(UserData: *mut c_void)>;

/// Is shown one platform after the other, until it returns false
pub type ol_platform_iterate_cb_t = Option<unsafe extern "C" fn(Platform: ol_platform_handle_t, UserData: *mut c_void) -> bool>;

/// Answers calls that kernels make to the host
pub type ol_platform_rpc_cb_t = Option<unsafe extern "C" fn(Port: *mut c_void, NumLanes: c_uint) -> c_uint>;

/// Is shown one symbol after the other, until it returns false
pub type ol_symbol_iterate_cb_t = Option<unsafe extern "C" fn(Symbol: ol_symbol_handle_t, UserData: *mut c_void) -> bool>;

/// Where in the caller's source a call is made
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_code_location_t {
    /// the calling function
    pub FunctionName: *const c_char,
    /// its file
    pub SourceFile: *const c_char,
    /// the line, from 1
    pub LineNumber: u32,
    /// the column, from 1
    pub ColumnNumber: u32,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_code_location_t>() == 24);
    assert!(align_of::<ol_code_location_t>() == 8);
    assert!(std::mem::offset_of!(ol_code_location_t, FunctionName) == 0);
    assert!(std::mem::offset_of!(ol_code_location_t, SourceFile) == 8);
    assert!(std::mem::offset_of!(ol_code_location_t, LineNumber) == 16);
    assert!(std::mem::offset_of!(ol_code_location_t, ColumnNumber) == 20);
};

/// A size or a count for each of three dimensions
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_dimensions_t {
    /// first dimension
    pub x: u32,
    /// second dimension
    pub y: u32,
    /// third dimension
    pub z: u32,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_dimensions_t>() == 12);
    assert!(align_of::<ol_dimensions_t>() == 4);
    assert!(std::mem::offset_of!(ol_dimensions_t, x) == 0);
    assert!(std::mem::offset_of!(ol_dimensions_t, y) == 4);
    assert!(std::mem::offset_of!(ol_dimensions_t, z) == 8);
};

/// What is known of a failure
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_error_struct_t {
    /// the kind of failure
    pub Code: ol_errc_t,
    /// what happened, as text for a person
    pub Details: *const c_char,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_error_struct_t>() == 16);
    assert!(align_of::<ol_error_struct_t>() == 8);
    assert!(std::mem::offset_of!(ol_error_struct_t, Code) == 0);
    assert!(std::mem::offset_of!(ol_error_struct_t, Details) == 8);
};

/// What olInit can be told
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_init_args_t {
    /// the size of this structure as the caller knows it: sizeof(ol_init_args_t)
    pub Size: usize,
    /// how many entries Platforms has
    pub NumPlatforms: u32,
    /// the back ends to start; null, with NumPlatforms 0, for all of them
    pub Platforms: *const ol_platform_backend_t,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_init_args_t>() == 24);
    assert!(align_of::<ol_init_args_t>() == 8);
    assert!(std::mem::offset_of!(ol_init_args_t, Size) == 0);
    assert!(std::mem::offset_of!(ol_init_args_t, NumPlatforms) == 8);
    assert!(std::mem::offset_of!(ol_init_args_t, Platforms) == 16);
};

/// One thing that is said of a launch
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_kernel_launch_prop_t {
    /// what is said
    pub type_: ol_kernel_launch_prop_type_t,
    /// the value, of the type that goes with it
    pub data: *mut c_void,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_kernel_launch_prop_t>() == 16);
    assert!(align_of::<ol_kernel_launch_prop_t>() == 8);
    assert!(std::mem::offset_of!(ol_kernel_launch_prop_t, type_) == 0);
    assert!(std::mem::offset_of!(ol_kernel_launch_prop_t, data) == 8);
};

/// How large a launch is
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_kernel_launch_size_args_t {
    /// how many dimensions are used: 1, 2 or 3
    pub Dimensions: usize,
    /// how many work groups there are in each dimension
    pub NumGroups: ol_dimensions_t,
    /// how many work items a work group has in each dimension
    pub GroupSize: ol_dimensions_t,
    /// how many bytes of local memory a work group has besides what its kernel declares
    pub DynSharedMemory: usize,
}
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ol_kernel_launch_size_args_t>() == 40);
    assert!(align_of::<ol_kernel_launch_size_args_t>() == 8);
    assert!(std::mem::offset_of!(ol_kernel_launch_size_args_t, Dimensions) == 0);
    assert!(std::mem::offset_of!(ol_kernel_launch_size_args_t, NumGroups) == 8);
    assert!(std::mem::offset_of!(ol_kernel_launch_size_args_t, GroupSize) == 20);
    assert!(std::mem::offset_of!(ol_kernel_launch_size_args_t, DynSharedMemory) == 32);
};

/// Pointers to the arguments of a call of [`olCalculateOptimalOccupancy`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_calculate_optimal_occupancy_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the kernel
    pub pKernel: *mut ol_symbol_handle_t,
    /// how many bytes of local memory each work item needs besides what the kernel declares
    pub pSharedMemory: *mut usize,
    /// receives the number of work items
    pub pGroupSize: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olCreateContext`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_create_context_params_t {
    /// how many devices there are
    pub pDevicesCount: *mut usize,
    /// the devices
    pub pDevices: *mut *mut ol_device_handle_t,
    /// receives the context
    pub pContext: *mut *mut ol_context_handle_t,
}

/// Pointers to the arguments of a call of [`olCreateEvent`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_create_event_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
    /// what the event is for
    pub pFlags: *mut ol_event_flags_t,
    /// receives the event
    pub pEvent: *mut *mut ol_event_handle_t,
}

/// Pointers to the arguments of a call of [`olCreateProgram`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_create_program_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the image
    pub pProgData: *mut *const c_void,
    /// how many bytes it has
    pub pProgDataSize: *mut usize,
    /// receives the program
    pub pProgram: *mut *mut ol_program_handle_t,
}

/// Pointers to the arguments of a call of [`olCreateQueue`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_create_queue_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device that will do the queue's work
    pub pDevice: *mut ol_device_handle_t,
    /// receives the queue
    pub pQueue: *mut *mut ol_queue_handle_t,
}

/// Pointers to the arguments of a call of [`olDestroyContext`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_destroy_context_params_t {
    /// the context, which must not be used again
    pub pContext: *mut ol_context_handle_t,
}

/// Pointers to the arguments of a call of [`olDestroyEvent`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_destroy_event_params_t {
    /// the event, which must not be used again
    pub pEvent: *mut ol_event_handle_t,
}

/// Pointers to the arguments of a call of [`olDestroyProgram`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_destroy_program_params_t {
    /// the program, which must not be used again
    pub pProgram: *mut ol_program_handle_t,
}

/// Pointers to the arguments of a call of [`olDestroyQueue`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_destroy_queue_params_t {
    /// the queue, which must not be used again
    pub pQueue: *mut ol_queue_handle_t,
}

/// Pointers to the arguments of a call of [`olGetContextInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_context_info_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the property
    pub pPropName: *mut ol_context_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetContextInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_context_info_size_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the property
    pub pPropName: *mut ol_context_info_t,
    /// receives the size in bytes
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetDeviceInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_device_info_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the property
    pub pPropName: *mut ol_device_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetDeviceInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_device_info_size_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the property
    pub pPropName: *mut ol_device_info_t,
    /// receives the size in bytes; that of a text includes its terminating zero
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetEventElapsedTime`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_event_elapsed_time_params_t {
    /// the earlier event
    pub pStartEvent: *mut ol_event_handle_t,
    /// the later event
    pub pEndEvent: *mut ol_event_handle_t,
    /// receives the time in milliseconds
    pub pElapsedTime: *mut *mut f32,
}

/// Pointers to the arguments of a call of [`olGetEventInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_event_info_params_t {
    /// the event
    pub pEvent: *mut ol_event_handle_t,
    /// the property
    pub pPropName: *mut ol_event_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetEventInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_event_info_size_params_t {
    /// the event
    pub pEvent: *mut ol_event_handle_t,
    /// the property
    pub pPropName: *mut ol_event_info_t,
    /// receives the size in bytes
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetKernelMaxCooperativeGroupCount`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_kernel_max_cooperative_group_count_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the kernel
    pub pKernel: *mut ol_symbol_handle_t,
    /// how large a work group is; the number of groups does not matter
    pub pLaunchSizeArgs: *mut *const ol_kernel_launch_size_args_t,
    /// receives the number of work groups
    pub pMaxGroupCount: *mut *mut u32,
}

/// Pointers to the arguments of a call of [`olGetMemInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_mem_info_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// an address in the allocation
    pub pPtr: *mut *const c_void,
    /// the property
    pub pPropName: *mut ol_mem_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetMemInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_mem_info_size_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// an address in the allocation
    pub pPtr: *mut *const c_void,
    /// the property
    pub pPropName: *mut ol_mem_info_t,
    /// receives the size in bytes
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetPlatformInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_platform_info_params_t {
    /// the platform
    pub pPlatform: *mut ol_platform_handle_t,
    /// the property
    pub pPropName: *mut ol_platform_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetPlatformInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_platform_info_size_params_t {
    /// the platform
    pub pPlatform: *mut ol_platform_handle_t,
    /// the property
    pub pPropName: *mut ol_platform_info_t,
    /// receives the size in bytes; that of a text includes its terminating zero
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetQueueInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_queue_info_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
    /// the property
    pub pPropName: *mut ol_queue_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetQueueInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_queue_info_size_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
    /// the property
    pub pPropName: *mut ol_queue_info_t,
    /// receives the size in bytes
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olGetSymbol`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_symbol_params_t {
    /// the program
    pub pProgram: *mut ol_program_handle_t,
    /// the symbol's name
    pub pName: *mut *const c_char,
    /// its kind
    pub pKind: *mut ol_symbol_kind_t,
    /// receives the symbol
    pub pSymbol: *mut *mut ol_symbol_handle_t,
}

/// Pointers to the arguments of a call of [`olGetSymbolInfo`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_symbol_info_params_t {
    /// the symbol
    pub pSymbol: *mut ol_symbol_handle_t,
    /// the property
    pub pPropName: *mut ol_symbol_info_t,
    /// how many bytes PropValue has room for
    pub pPropSize: *mut usize,
    /// receives the property; not written when the call fails
    pub pPropValue: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olGetSymbolInfoSize`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_get_symbol_info_size_params_t {
    /// the symbol
    pub pSymbol: *mut ol_symbol_handle_t,
    /// the property
    pub pPropName: *mut ol_symbol_info_t,
    /// receives the size in bytes
    pub pPropSizeRet: *mut *mut usize,
}

/// Pointers to the arguments of a call of [`olInit`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_init_params_t {
    /// what to start; null for everything that is there
    pub pInitArgs: *mut *const ol_init_args_t,
}

/// Pointers to the arguments of a call of [`olIsValidBinary`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_is_valid_binary_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the image
    pub pProgData: *mut *const c_void,
    /// how many bytes it has
    pub pProgDataSize: *mut usize,
    /// receives the answer
    pub pValid: *mut *mut bool,
}

/// Pointers to the arguments of a call of [`olIterateCompatibleDevices`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_iterate_compatible_devices_params_t {
    /// the image
    pub pProgData: *mut *const c_void,
    /// how many bytes it has
    pub pProgDataSize: *mut usize,
    /// the function
    pub pCallback: *mut ol_device_iterate_cb_t,
    /// handed to the function as it is
    pub pUserData: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olIterateDevices`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_iterate_devices_params_t {
    /// the function
    pub pCallback: *mut ol_device_iterate_cb_t,
    /// handed to the function as it is
    pub pUserData: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olIteratePlatforms`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_iterate_platforms_params_t {
    /// the function
    pub pCallback: *mut ol_platform_iterate_cb_t,
    /// handed to the function as it is
    pub pUserData: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olIterateSymbols`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_iterate_symbols_params_t {
    /// the program
    pub pProgram: *mut ol_program_handle_t,
    /// the kind of symbols
    pub pKind: *mut ol_symbol_kind_t,
    /// the function
    pub pCallback: *mut ol_symbol_iterate_cb_t,
    /// handed to the function as it is
    pub pUserData: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olLaunchHostFunction`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_launch_host_function_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
    /// the function
    pub pCallback: *mut ol_host_function_cb_t,
    /// handed to the function as it is
    pub pUserData: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olLaunchKernel`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_launch_kernel_params_t {
    /// the queue, or null to wait for the kernel
    pub pQueue: *mut ol_queue_handle_t,
    /// the device that runs the kernel
    pub pDevice: *mut ol_device_handle_t,
    /// the kernel
    pub pKernel: *mut ol_symbol_handle_t,
    /// how large the launch is
    pub pLaunchSizeArgs: *mut *const ol_kernel_launch_size_args_t,
    /// what else is said of the launch, ending with OL_KERNEL_LAUNCH_PROP_END
    pub pProperties: *mut *const ol_kernel_launch_prop_t,
    /// how many arguments there are: as many as the kernel has
    pub pNumArgs: *mut usize,
    /// where each argument's value is; null if there are none
    pub pArgPtrs: *mut *mut *mut c_void,
    /// how many bytes each argument has; null if there are none
    pub pArgSizes: *mut *const usize,
}

/// Pointers to the arguments of a call of [`olMemAlloc`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_alloc_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device that the memory is for
    pub pDevice: *mut ol_device_handle_t,
    /// where the memory lies
    pub pType: *mut ol_alloc_type_t,
    /// how many bytes
    pub pSize: *mut usize,
    /// receives the address
    pub pAllocationOut: *mut *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemAllocAligned`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_alloc_aligned_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device that the memory is for
    pub pDevice: *mut ol_device_handle_t,
    /// where the memory lies
    pub pType: *mut ol_alloc_type_t,
    /// how many bytes
    pub pSize: *mut usize,
    /// the alignment in bytes: a power of two
    pub pAlignment: *mut usize,
    /// receives the address
    pub pAllocationOut: *mut *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemAllocAlignedHost`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_alloc_aligned_host_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device that the memory is for
    pub pDevice: *mut ol_device_handle_t,
    /// how many bytes
    pub pSize: *mut usize,
    /// the alignment in bytes: a power of two
    pub pAlignment: *mut usize,
    /// receives the address
    pub pAllocationOut: *mut *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemAllocHost`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_alloc_host_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device that the memory is for
    pub pDevice: *mut ol_device_handle_t,
    /// how many bytes
    pub pSize: *mut usize,
    /// receives the address
    pub pAllocationOut: *mut *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemFill`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_fill_params_t {
    /// the queue, or null to wait for the fill
    pub pQueue: *mut ol_queue_handle_t,
    /// the first byte to fill
    pub pPtr: *mut *mut c_void,
    /// how many bytes the pattern has
    pub pPatternSize: *mut usize,
    /// the pattern, in host memory
    pub pPatternPtr: *mut *const c_void,
    /// how many bytes to fill: a multiple of PatternSize
    pub pFillSize: *mut usize,
}

/// Pointers to the arguments of a call of [`olMemFree`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_free_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the address that the allocating call gave
    pub pAddress: *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemIsAccessible`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_is_accessible_params_t {
    /// the context
    pub pContext: *mut ol_context_handle_t,
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the memory's first byte; it is not read
    pub pPtr: *mut *const c_void,
    /// how many bytes
    pub pSize: *mut usize,
    /// receives the answer
    pub pIsAccessible: *mut *mut bool,
}

/// Pointers to the arguments of a call of [`olMemPrefetch`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_prefetch_params_t {
    /// the queue in whose turn the memory migrates
    pub pQueue: *mut ol_queue_handle_t,
    /// how many pieces of memory there are; none is allowed
    pub pCount: *mut usize,
    /// where each piece begins; may be null if there are none
    pub pMems: *mut *mut *const c_void,
    /// how many bytes each piece has; may be null if there are none
    pub pSizes: *mut *const usize,
    /// which way
    pub pFlags: *mut ol_mem_migration_flags_t,
}

/// Pointers to the arguments of a call of [`olMemRegister`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_register_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the memory's first byte
    pub pPtr: *mut *mut c_void,
    /// how many bytes
    pub pSize: *mut usize,
    /// whether to lock the pages
    pub pFlags: *mut ol_memory_register_flags_t,
    /// receives the address to use
    pub pPinnedPtr: *mut *mut *mut c_void,
}

/// Pointers to the arguments of a call of [`olMemUnregister`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_mem_unregister_params_t {
    /// the device
    pub pDevice: *mut ol_device_handle_t,
    /// the memory's first byte, as it was registered or as olMemRegister gave it
    pub pPtr: *mut *mut c_void,
    /// whether to unlock the pages
    pub pFlags: *mut ol_memory_register_flags_t,
}

/// Pointers to the arguments of a call of [`olMemcpy`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_memcpy_params_t {
    /// the queue, or null to wait for the copy
    pub pQueue: *mut ol_queue_handle_t,
    /// where to copy to
    pub pDstPtr: *mut *mut c_void,
    /// whose memory that is
    pub pDstDevice: *mut ol_device_handle_t,
    /// where to copy from
    pub pSrcPtr: *mut *const c_void,
    /// whose memory that is
    pub pSrcDevice: *mut ol_device_handle_t,
    /// how many bytes
    pub pSize: *mut usize,
}

/// Pointers to the arguments of a call of [`olPlatformRegisterRPCCallback`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_platform_register_rpc_callback_params_t {
    /// the platform
    pub pPlatform: *mut ol_platform_handle_t,
    /// the function
    pub pCallback: *mut ol_platform_rpc_cb_t,
}

/// Pointers to the arguments of a call of [`olQueryQueue`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_query_queue_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
    /// receives the answer; null to learn only whether the queue works
    pub pIsQueueWorkCompleted: *mut *mut bool,
}

/// Pointers to the arguments of a call of [`olSyncEvent`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_sync_event_params_t {
    /// the event
    pub pEvent: *mut ol_event_handle_t,
}

/// Pointers to the arguments of a call of [`olSyncQueue`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_sync_queue_params_t {
    /// the queue
    pub pQueue: *mut ol_queue_handle_t,
}

/// Pointers to the arguments of a call of [`olWaitEvents`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ol_wait_events_params_t {
    /// the queue that waits
    pub pQueue: *mut ol_queue_handle_t,
    /// the events to wait for
    pub pEvents: *mut *mut ol_event_handle_t,
    /// how many events there are
    pub pNumEvents: *mut usize,
}

unsafe extern "C" {
    /// Tells the size of work groups with which a device is best used by a kernel
    pub fn olCalculateOptimalOccupancy(
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        SharedMemory: usize,
        GroupSize: *mut usize,
    ) -> ol_result_t;
    /// [`olCalculateOptimalOccupancy`], with the place in the caller's source for error messages.
    pub fn olCalculateOptimalOccupancyWithCodeLoc(
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        SharedMemory: usize,
        GroupSize: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Makes a context of some devices
    pub fn olCreateContext(DevicesCount: usize, Devices: *mut ol_device_handle_t, Context: *mut ol_context_handle_t) -> ol_result_t;
    /// [`olCreateContext`], with the place in the caller's source for error messages.
    pub fn olCreateContextWithCodeLoc(
        DevicesCount: usize,
        Devices: *mut ol_device_handle_t,
        Context: *mut ol_context_handle_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Marks the end of the work that a queue has so far
    pub fn olCreateEvent(Queue: ol_queue_handle_t, Flags: ol_event_flags_t, Event: *mut ol_event_handle_t) -> ol_result_t;
    /// [`olCreateEvent`], with the place in the caller's source for error messages.
    pub fn olCreateEventWithCodeLoc(
        Queue: ol_queue_handle_t,
        Flags: ol_event_flags_t,
        Event: *mut ol_event_handle_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Loads an image on a device
    pub fn olCreateProgram(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        ProgData: *const c_void,
        ProgDataSize: usize,
        Program: *mut ol_program_handle_t,
    ) -> ol_result_t;
    /// [`olCreateProgram`], with the place in the caller's source for error messages.
    pub fn olCreateProgramWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        ProgData: *const c_void,
        ProgDataSize: usize,
        Program: *mut ol_program_handle_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Makes a queue
    pub fn olCreateQueue(Context: ol_context_handle_t, Device: ol_device_handle_t, Queue: *mut ol_queue_handle_t) -> ol_result_t;
    /// [`olCreateQueue`], with the place in the caller's source for error messages.
    pub fn olCreateQueueWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Queue: *mut ol_queue_handle_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Gives a context back
    pub fn olDestroyContext(Context: ol_context_handle_t) -> ol_result_t;
    /// [`olDestroyContext`], with the place in the caller's source for error messages.
    pub fn olDestroyContextWithCodeLoc(Context: ol_context_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Gives an event back
    pub fn olDestroyEvent(Event: ol_event_handle_t) -> ol_result_t;
    /// [`olDestroyEvent`], with the place in the caller's source for error messages.
    pub fn olDestroyEventWithCodeLoc(Event: ol_event_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Unloads a program
    pub fn olDestroyProgram(Program: ol_program_handle_t) -> ol_result_t;
    /// [`olDestroyProgram`], with the place in the caller's source for error messages.
    pub fn olDestroyProgramWithCodeLoc(Program: ol_program_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Gives a queue back
    pub fn olDestroyQueue(Queue: ol_queue_handle_t) -> ol_result_t;
    /// [`olDestroyQueue`], with the place in the caller's source for error messages.
    pub fn olDestroyQueueWithCodeLoc(Queue: ol_queue_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Tells a property of a context
    pub fn olGetContextInfo(
        Context: ol_context_handle_t,
        PropName: ol_context_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
    ) -> ol_result_t;
    /// [`olGetContextInfo`], with the place in the caller's source for error messages.
    pub fn olGetContextInfoWithCodeLoc(
        Context: ol_context_handle_t,
        PropName: ol_context_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of a context needs
    pub fn olGetContextInfoSize(Context: ol_context_handle_t, PropName: ol_context_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetContextInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetContextInfoSizeWithCodeLoc(
        Context: ol_context_handle_t,
        PropName: ol_context_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of a device
    pub fn olGetDeviceInfo(Device: ol_device_handle_t, PropName: ol_device_info_t, PropSize: usize, PropValue: *mut c_void) -> ol_result_t;
    /// [`olGetDeviceInfo`], with the place in the caller's source for error messages.
    pub fn olGetDeviceInfoWithCodeLoc(
        Device: ol_device_handle_t,
        PropName: ol_device_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of a device needs
    pub fn olGetDeviceInfoSize(Device: ol_device_handle_t, PropName: ol_device_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetDeviceInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetDeviceInfoSizeWithCodeLoc(
        Device: ol_device_handle_t,
        PropName: ol_device_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how much time lies between two events
    pub fn olGetEventElapsedTime(StartEvent: ol_event_handle_t, EndEvent: ol_event_handle_t, ElapsedTime: *mut f32) -> ol_result_t;
    /// [`olGetEventElapsedTime`], with the place in the caller's source for error messages.
    pub fn olGetEventElapsedTimeWithCodeLoc(
        StartEvent: ol_event_handle_t,
        EndEvent: ol_event_handle_t,
        ElapsedTime: *mut f32,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of an event
    pub fn olGetEventInfo(Event: ol_event_handle_t, PropName: ol_event_info_t, PropSize: usize, PropValue: *mut c_void) -> ol_result_t;
    /// [`olGetEventInfo`], with the place in the caller's source for error messages.
    pub fn olGetEventInfoWithCodeLoc(
        Event: ol_event_handle_t,
        PropName: ol_event_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of an event needs
    pub fn olGetEventInfoSize(Event: ol_event_handle_t, PropName: ol_event_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetEventInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetEventInfoSizeWithCodeLoc(
        Event: ol_event_handle_t,
        PropName: ol_event_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many work groups a cooperative launch of a kernel may have
    pub fn olGetKernelMaxCooperativeGroupCount(
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        LaunchSizeArgs: *const ol_kernel_launch_size_args_t,
        MaxGroupCount: *mut u32,
    ) -> ol_result_t;
    /// [`olGetKernelMaxCooperativeGroupCount`], with the place in the caller's source for error messages.
    pub fn olGetKernelMaxCooperativeGroupCountWithCodeLoc(
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        LaunchSizeArgs: *const ol_kernel_launch_size_args_t,
        MaxGroupCount: *mut u32,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of an allocation
    pub fn olGetMemInfo(
        Context: ol_context_handle_t,
        Ptr: *const c_void,
        PropName: ol_mem_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
    ) -> ol_result_t;
    /// [`olGetMemInfo`], with the place in the caller's source for error messages.
    pub fn olGetMemInfoWithCodeLoc(
        Context: ol_context_handle_t,
        Ptr: *const c_void,
        PropName: ol_mem_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of an allocation needs
    pub fn olGetMemInfoSize(
        Context: ol_context_handle_t,
        Ptr: *const c_void,
        PropName: ol_mem_info_t,
        PropSizeRet: *mut usize,
    ) -> ol_result_t;
    /// [`olGetMemInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetMemInfoSizeWithCodeLoc(
        Context: ol_context_handle_t,
        Ptr: *const c_void,
        PropName: ol_mem_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of a platform
    pub fn olGetPlatformInfo(
        Platform: ol_platform_handle_t,
        PropName: ol_platform_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
    ) -> ol_result_t;
    /// [`olGetPlatformInfo`], with the place in the caller's source for error messages.
    pub fn olGetPlatformInfoWithCodeLoc(
        Platform: ol_platform_handle_t,
        PropName: ol_platform_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of a platform needs
    pub fn olGetPlatformInfoSize(Platform: ol_platform_handle_t, PropName: ol_platform_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetPlatformInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetPlatformInfoSizeWithCodeLoc(
        Platform: ol_platform_handle_t,
        PropName: ol_platform_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of a queue
    pub fn olGetQueueInfo(Queue: ol_queue_handle_t, PropName: ol_queue_info_t, PropSize: usize, PropValue: *mut c_void) -> ol_result_t;
    /// [`olGetQueueInfo`], with the place in the caller's source for error messages.
    pub fn olGetQueueInfoWithCodeLoc(
        Queue: ol_queue_handle_t,
        PropName: ol_queue_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of a queue needs
    pub fn olGetQueueInfoSize(Queue: ol_queue_handle_t, PropName: ol_queue_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetQueueInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetQueueInfoSizeWithCodeLoc(
        Queue: ol_queue_handle_t,
        PropName: ol_queue_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Finds a symbol of a program by its name
    pub fn olGetSymbol(
        Program: ol_program_handle_t,
        Name: *const c_char,
        Kind: ol_symbol_kind_t,
        Symbol: *mut ol_symbol_handle_t,
    ) -> ol_result_t;
    /// [`olGetSymbol`], with the place in the caller's source for error messages.
    pub fn olGetSymbolWithCodeLoc(
        Program: ol_program_handle_t,
        Name: *const c_char,
        Kind: ol_symbol_kind_t,
        Symbol: *mut ol_symbol_handle_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells a property of a symbol
    pub fn olGetSymbolInfo(Symbol: ol_symbol_handle_t, PropName: ol_symbol_info_t, PropSize: usize, PropValue: *mut c_void) -> ol_result_t;
    /// [`olGetSymbolInfo`], with the place in the caller's source for error messages.
    pub fn olGetSymbolInfoWithCodeLoc(
        Symbol: ol_symbol_handle_t,
        PropName: ol_symbol_info_t,
        PropSize: usize,
        PropValue: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells how many bytes a property of a symbol needs
    pub fn olGetSymbolInfoSize(Symbol: ol_symbol_handle_t, PropName: ol_symbol_info_t, PropSizeRet: *mut usize) -> ol_result_t;
    /// [`olGetSymbolInfoSize`], with the place in the caller's source for error messages.
    pub fn olGetSymbolInfoSizeWithCodeLoc(
        Symbol: ol_symbol_handle_t,
        PropName: ol_symbol_info_t,
        PropSizeRet: *mut usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Starts the library
    pub fn olInit(InitArgs: *const ol_init_args_t) -> ol_result_t;
    /// [`olInit`], with the place in the caller's source for error messages.
    pub fn olInitWithCodeLoc(InitArgs: *const ol_init_args_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Tells whether a device can load an image, without loading it
    pub fn olIsValidBinary(Device: ol_device_handle_t, ProgData: *const c_void, ProgDataSize: usize, Valid: *mut bool) -> ol_result_t;
    /// [`olIsValidBinary`], with the place in the caller's source for error messages.
    pub fn olIsValidBinaryWithCodeLoc(
        Device: ol_device_handle_t,
        ProgData: *const c_void,
        ProgDataSize: usize,
        Valid: *mut bool,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Shows every device that can load an image to a function
    pub fn olIterateCompatibleDevices(
        ProgData: *const c_void,
        ProgDataSize: usize,
        Callback: ol_device_iterate_cb_t,
        UserData: *mut c_void,
    ) -> ol_result_t;
    /// [`olIterateCompatibleDevices`], with the place in the caller's source for error messages.
    pub fn olIterateCompatibleDevicesWithCodeLoc(
        ProgData: *const c_void,
        ProgDataSize: usize,
        Callback: ol_device_iterate_cb_t,
        UserData: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Shows every device to a function
    pub fn olIterateDevices(Callback: ol_device_iterate_cb_t, UserData: *mut c_void) -> ol_result_t;
    /// [`olIterateDevices`], with the place in the caller's source for error messages.
    pub fn olIterateDevicesWithCodeLoc(
        Callback: ol_device_iterate_cb_t,
        UserData: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Shows every platform to a function
    pub fn olIteratePlatforms(Callback: ol_platform_iterate_cb_t, UserData: *mut c_void) -> ol_result_t;
    /// [`olIteratePlatforms`], with the place in the caller's source for error messages.
    pub fn olIteratePlatformsWithCodeLoc(
        Callback: ol_platform_iterate_cb_t,
        UserData: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Shows every symbol of a kind that a program has to a function
    pub fn olIterateSymbols(
        Program: ol_program_handle_t,
        Kind: ol_symbol_kind_t,
        Callback: ol_symbol_iterate_cb_t,
        UserData: *mut c_void,
    ) -> ol_result_t;
    /// [`olIterateSymbols`], with the place in the caller's source for error messages.
    pub fn olIterateSymbolsWithCodeLoc(
        Program: ol_program_handle_t,
        Kind: ol_symbol_kind_t,
        Callback: ol_symbol_iterate_cb_t,
        UserData: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Puts a call of a host function into a queue
    pub fn olLaunchHostFunction(Queue: ol_queue_handle_t, Callback: ol_host_function_cb_t, UserData: *mut c_void) -> ol_result_t;
    /// [`olLaunchHostFunction`], with the place in the caller's source for error messages.
    pub fn olLaunchHostFunctionWithCodeLoc(
        Queue: ol_queue_handle_t,
        Callback: ol_host_function_cb_t,
        UserData: *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Launches a kernel
    pub fn olLaunchKernel(
        Queue: ol_queue_handle_t,
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        LaunchSizeArgs: *const ol_kernel_launch_size_args_t,
        Properties: *const ol_kernel_launch_prop_t,
        NumArgs: usize,
        ArgPtrs: *mut *mut c_void,
        ArgSizes: *const usize,
    ) -> ol_result_t;
    /// [`olLaunchKernel`], with the place in the caller's source for error messages.
    pub fn olLaunchKernelWithCodeLoc(
        Queue: ol_queue_handle_t,
        Device: ol_device_handle_t,
        Kernel: ol_symbol_handle_t,
        LaunchSizeArgs: *const ol_kernel_launch_size_args_t,
        Properties: *const ol_kernel_launch_prop_t,
        NumArgs: usize,
        ArgPtrs: *mut *mut c_void,
        ArgSizes: *const usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Allocates memory
    pub fn olMemAlloc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Type: ol_alloc_type_t,
        Size: usize,
        AllocationOut: *mut *mut c_void,
    ) -> ol_result_t;
    /// [`olMemAlloc`], with the place in the caller's source for error messages.
    pub fn olMemAllocWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Type: ol_alloc_type_t,
        Size: usize,
        AllocationOut: *mut *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Allocates memory at an address that is a multiple of an alignment
    pub fn olMemAllocAligned(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Type: ol_alloc_type_t,
        Size: usize,
        Alignment: usize,
        AllocationOut: *mut *mut c_void,
    ) -> ol_result_t;
    /// [`olMemAllocAligned`], with the place in the caller's source for error messages.
    pub fn olMemAllocAlignedWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Type: ol_alloc_type_t,
        Size: usize,
        Alignment: usize,
        AllocationOut: *mut *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Allocates memory on the host that devices can use, at an address that is a multiple of an alignment
    pub fn olMemAllocAlignedHost(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Size: usize,
        Alignment: usize,
        AllocationOut: *mut *mut c_void,
    ) -> ol_result_t;
    /// [`olMemAllocAlignedHost`], with the place in the caller's source for error messages.
    pub fn olMemAllocAlignedHostWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Size: usize,
        Alignment: usize,
        AllocationOut: *mut *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Allocates memory on the host that devices can use
    pub fn olMemAllocHost(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Size: usize,
        AllocationOut: *mut *mut c_void,
    ) -> ol_result_t;
    /// [`olMemAllocHost`], with the place in the caller's source for error messages.
    pub fn olMemAllocHostWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Size: usize,
        AllocationOut: *mut *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Fills memory with a repeated pattern
    pub fn olMemFill(
        Queue: ol_queue_handle_t,
        Ptr: *mut c_void,
        PatternSize: usize,
        PatternPtr: *const c_void,
        FillSize: usize,
    ) -> ol_result_t;
    /// [`olMemFill`], with the place in the caller's source for error messages.
    pub fn olMemFillWithCodeLoc(
        Queue: ol_queue_handle_t,
        Ptr: *mut c_void,
        PatternSize: usize,
        PatternPtr: *const c_void,
        FillSize: usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Gives memory back that olMemAlloc or olMemAllocAligned allocated
    pub fn olMemFree(Context: ol_context_handle_t, Address: *mut c_void) -> ol_result_t;
    /// [`olMemFree`], with the place in the caller's source for error messages.
    pub fn olMemFreeWithCodeLoc(Context: ol_context_handle_t, Address: *mut c_void, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Tells whether kernels of a device can use memory
    pub fn olMemIsAccessible(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Ptr: *const c_void,
        Size: usize,
        IsAccessible: *mut bool,
    ) -> ol_result_t;
    /// [`olMemIsAccessible`], with the place in the caller's source for error messages.
    pub fn olMemIsAccessibleWithCodeLoc(
        Context: ol_context_handle_t,
        Device: ol_device_handle_t,
        Ptr: *const c_void,
        Size: usize,
        IsAccessible: *mut bool,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Advises that managed memory will be used on the other side
    pub fn olMemPrefetch(
        Queue: ol_queue_handle_t,
        Count: usize,
        Mems: *mut *const c_void,
        Sizes: *const usize,
        Flags: ol_mem_migration_flags_t,
    ) -> ol_result_t;
    /// [`olMemPrefetch`], with the place in the caller's source for error messages.
    pub fn olMemPrefetchWithCodeLoc(
        Queue: ol_queue_handle_t,
        Count: usize,
        Mems: *mut *const c_void,
        Sizes: *const usize,
        Flags: ol_mem_migration_flags_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Lets a device use host memory, and gives the address to use
    pub fn olMemRegister(
        Device: ol_device_handle_t,
        Ptr: *mut c_void,
        Size: usize,
        Flags: ol_memory_register_flags_t,
        PinnedPtr: *mut *mut c_void,
    ) -> ol_result_t;
    /// [`olMemRegister`], with the place in the caller's source for error messages.
    pub fn olMemRegisterWithCodeLoc(
        Device: ol_device_handle_t,
        Ptr: *mut c_void,
        Size: usize,
        Flags: ol_memory_register_flags_t,
        PinnedPtr: *mut *mut c_void,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Takes back what olMemRegister did for one user
    pub fn olMemUnregister(Device: ol_device_handle_t, Ptr: *mut c_void, Flags: ol_memory_register_flags_t) -> ol_result_t;
    /// [`olMemUnregister`], with the place in the caller's source for error messages.
    pub fn olMemUnregisterWithCodeLoc(
        Device: ol_device_handle_t,
        Ptr: *mut c_void,
        Flags: ol_memory_register_flags_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Copies memory
    pub fn olMemcpy(
        Queue: ol_queue_handle_t,
        DstPtr: *mut c_void,
        DstDevice: ol_device_handle_t,
        SrcPtr: *const c_void,
        SrcDevice: ol_device_handle_t,
        Size: usize,
    ) -> ol_result_t;
    /// [`olMemcpy`], with the place in the caller's source for error messages.
    pub fn olMemcpyWithCodeLoc(
        Queue: ol_queue_handle_t,
        DstPtr: *mut c_void,
        DstDevice: ol_device_handle_t,
        SrcPtr: *const c_void,
        SrcDevice: ol_device_handle_t,
        Size: usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Has a function answer the calls that kernels of a platform make to the host
    pub fn olPlatformRegisterRPCCallback(Platform: ol_platform_handle_t, Callback: ol_platform_rpc_cb_t) -> ol_result_t;
    /// [`olPlatformRegisterRPCCallback`], with the place in the caller's source for error messages.
    pub fn olPlatformRegisterRPCCallbackWithCodeLoc(
        Platform: ol_platform_handle_t,
        Callback: ol_platform_rpc_cb_t,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Tells, without waiting, whether a queue's work is done
    pub fn olQueryQueue(Queue: ol_queue_handle_t, IsQueueWorkCompleted: *mut bool) -> ol_result_t;
    /// [`olQueryQueue`], with the place in the caller's source for error messages.
    pub fn olQueryQueueWithCodeLoc(
        Queue: ol_queue_handle_t,
        IsQueueWorkCompleted: *mut bool,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
    /// Undoes one call of olInit
    pub fn olShutDown() -> ol_result_t;
    /// [`olShutDown`], with the place in the caller's source for error messages.
    pub fn olShutDownWithCodeLoc(CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Waits until an event is complete
    pub fn olSyncEvent(Event: ol_event_handle_t) -> ol_result_t;
    /// [`olSyncEvent`], with the place in the caller's source for error messages.
    pub fn olSyncEventWithCodeLoc(Event: ol_event_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Waits until a queue's work is done
    pub fn olSyncQueue(Queue: ol_queue_handle_t) -> ol_result_t;
    /// [`olSyncQueue`], with the place in the caller's source for error messages.
    pub fn olSyncQueueWithCodeLoc(Queue: ol_queue_handle_t, CodeLocation: *mut ol_code_location_t) -> ol_result_t;
    /// Has later work of a queue wait for events
    pub fn olWaitEvents(Queue: ol_queue_handle_t, Events: *mut ol_event_handle_t, NumEvents: usize) -> ol_result_t;
    /// [`olWaitEvents`], with the place in the caller's source for error messages.
    pub fn olWaitEventsWithCodeLoc(
        Queue: ol_queue_handle_t,
        Events: *mut ol_event_handle_t,
        NumEvents: usize,
        CodeLocation: *mut ol_code_location_t,
    ) -> ol_result_t;
}
