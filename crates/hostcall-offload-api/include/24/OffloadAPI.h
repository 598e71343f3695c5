/* Made from OffloadAPI.td (LLVM 24) by offload-tblgen --gen-api; change that, not this file. */

#ifndef OL_OFFLOADAPI_H
#define OL_OFFLOADAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How functions of the API are called
#ifndef OL_APICALL
#if defined(_WIN32)
#define OL_APICALL __cdecl
#else
#define OL_APICALL
#endif
#endif

/// What makes a function of the API visible outside the library, where the platform wants that said
#ifndef OL_APIEXPORT
#if defined(_WIN32)
#define OL_APIEXPORT __declspec(dllexport)
#else
#define OL_APIEXPORT
#endif
#endif

/// An ol_init_args_t to begin with: its size, and every back end
#ifndef OL_INIT_ARGS_INIT
#define OL_INIT_ARGS_INIT {sizeof(ol_init_args_t), 0, NULL}
#endif

/// The last element of a list of ol_kernel_launch_prop_t
#ifndef OL_KERNEL_LAUNCH_PROP_END
#define OL_KERNEL_LAUNCH_PROP_END {OL_KERNEL_LAUNCH_PROP_TYPE_NONE, NULL}
#endif

/// The result of a call that succeeded
#ifndef OL_SUCCESS
#define OL_SUCCESS NULL
#endif

/// First part of the version of the Offload API
#ifndef OL_VERSION_MAJOR
#define OL_VERSION_MAJOR 0
#endif

/// Second part of the version of the Offload API
#ifndef OL_VERSION_MINOR
#define OL_VERSION_MINOR 0
#endif

/// Third part of the version of the Offload API
#ifndef OL_VERSION_PATCH
#define OL_VERSION_PATCH 1
#endif

/// A context, in which devices share resources
typedef struct ol_context_impl_t *ol_context_handle_t;

/// A device, which belongs to a platform
typedef struct ol_device_impl_t *ol_device_handle_t;

/// An event: a point in a queue's work
typedef struct ol_event_impl_t *ol_event_handle_t;

/// A platform: the devices that one driver serves
typedef struct ol_platform_impl_t *ol_platform_handle_t;

/// A program, loaded on one device
typedef struct ol_program_impl_t *ol_program_handle_t;

/// A queue: work for one device, done in order
typedef struct ol_queue_impl_t *ol_queue_handle_t;

/// A kernel or a global variable of a program
typedef struct ol_symbol_impl_t *ol_symbol_handle_t;

/// Where memory lies, and who can use it
typedef enum ol_alloc_type_t {
    /// on the host, usable by devices
    OL_ALLOC_TYPE_HOST = 0,
    /// on a device
    OL_ALLOC_TYPE_DEVICE = 1,
    /// where the driver moves it, usable by host and device
    OL_ALLOC_TYPE_MANAGED = 2,
    /// Not a value: the one after the last.
    OL_ALLOC_TYPE_LAST = 3,
    /// Not a value: makes the type 32 bits wide.
    OL_ALLOC_TYPE_FORCE_UINT32 = 0x7fffffff
} ol_alloc_type_t;

/// What can be asked of a context
typedef enum ol_context_info_t {
    /// [size_t] how many devices it has
    OL_CONTEXT_INFO_NUM_DEVICES = 0,
    /// [ol_device_handle_t[]] its devices
    OL_CONTEXT_INFO_DEVICES = 1,
    /// [ol_platform_handle_t] the platform that its devices belong to
    OL_CONTEXT_INFO_PLATFORM = 2,
    /// Not a value: the one after the last.
    OL_CONTEXT_INFO_LAST = 3,
    /// Not a value: makes the type 32 bits wide.
    OL_CONTEXT_INFO_FORCE_UINT32 = 0x7fffffff
} ol_context_info_t;

/// What a device's floating-point arithmetic does
typedef enum ol_device_fp_capability_flag_t {
    /// division and square root are rounded correctly
    OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT = 1,
    /// it can round to the nearest value, ties to even
    OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST = 2,
    /// it can round towards zero
    OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO = 4,
    /// it can round towards either infinity
    OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF = 8,
    /// it has infinities and quiet NaNs
    OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN = 16,
    /// it has subnormal numbers
    OL_DEVICE_FP_CAPABILITY_FLAG_DENORM = 32,
    /// it multiplies and adds with one rounding
    OL_DEVICE_FP_CAPABILITY_FLAG_FMA = 64,
    /// its basic operations are done in software
    OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT = 128,
    /// Not a value: the one after the last.
    OL_DEVICE_FP_CAPABILITY_FLAG_LAST = 256,
    /// Not a value: makes the type 32 bits wide.
    OL_DEVICE_FP_CAPABILITY_FLAG_FORCE_UINT32 = 0x7fffffff
} ol_device_fp_capability_flag_t;

/// What can be asked of a device
typedef enum ol_device_info_t {
    /// [ol_device_type_t] its kind
    OL_DEVICE_INFO_TYPE = 0,
    /// [ol_platform_handle_t] the platform that it belongs to
    OL_DEVICE_INFO_PLATFORM = 1,
    /// [char[]] its name, as the driver gives it
    OL_DEVICE_INFO_NAME = 2,
    /// [char[]] the name under which it is sold
    OL_DEVICE_INFO_PRODUCT_NAME = 3,
    /// [char[]] a text that no other device of this machine has
    OL_DEVICE_INFO_UID = 4,
    /// [char[]] who made it
    OL_DEVICE_INFO_VENDOR = 5,
    /// [char[]] the version of its driver
    OL_DEVICE_INFO_DRIVER_VERSION = 6,
    /// [uint32_t] the most work items that a work group may have
    OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE = 7,
    /// [ol_dimensions_t] the most work items that a work group may have in each dimension
    OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION = 8,
    /// [uint32_t] the most work items that a launch may have
    OL_DEVICE_INFO_MAX_WORK_SIZE = 9,
    /// [ol_dimensions_t] the most work items that a launch may have in each dimension
    OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION = 10,
    /// [uint32_t] its maker's number in the PCI registry
    OL_DEVICE_INFO_VENDOR_ID = 11,
    /// [uint32_t] how many units run work groups at the same time
    OL_DEVICE_INFO_NUM_COMPUTE_UNITS = 12,
    /// [uint32_t] the highest clock rate of those units, in MHz
    OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY = 13,
    /// [uint32_t] the clock rate of its memory, in MHz
    OL_DEVICE_INFO_MEMORY_CLOCK_RATE = 14,
    /// [uint32_t] how many bits an address in its memory has
    OL_DEVICE_INFO_ADDRESS_BITS = 15,
    /// [uint64_t] the largest single allocation, in bytes
    OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE = 16,
    /// [uint64_t] how much memory it has, in bytes
    OL_DEVICE_INFO_GLOBAL_MEM_SIZE = 17,
    /// [uint64_t] how much local memory a work group may have, in bytes
    OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE = 18,
    /// [uint32_t] how many work items run in lockstep: those of a wave
    OL_DEVICE_INFO_NUM_LANES = 19,
    /// [ol_device_fp_capability_flags_t] what its single-precision arithmetic does
    OL_DEVICE_INFO_SINGLE_FP_CONFIG = 20,
    /// [ol_device_fp_capability_flags_t] what its double-precision arithmetic does
    OL_DEVICE_INFO_DOUBLE_FP_CONFIG = 21,
    /// [ol_device_fp_capability_flags_t] what its half-precision arithmetic does
    OL_DEVICE_INFO_HALF_FP_CONFIG = 22,
    /// [uint32_t] how many elements of type char its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR = 23,
    /// [uint32_t] how many elements of type short its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT = 24,
    /// [uint32_t] how many elements of type int its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT = 25,
    /// [uint32_t] how many elements of type long its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG = 26,
    /// [uint32_t] how many elements of type float its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT = 27,
    /// [uint32_t] how many elements of type double its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE = 28,
    /// [uint32_t] how many elements of type half its own vectors hold
    OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF = 29,
    /// [bool] whether it computes in single precision
    OL_DEVICE_INFO_SINGLE_FP_SUPPORT = 30,
    /// [bool] whether it computes in double precision
    OL_DEVICE_INFO_DOUBLE_FP_SUPPORT = 31,
    /// [bool] whether it computes in half precision
    OL_DEVICE_INFO_HALF_FP_SUPPORT = 32,
    /// [bool] whether all work groups of a launch can wait for one another
    OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT = 33,
    /// [uint32_t] which of its platform's drivers serves it: devices of one driver may share a
    /// context
    OL_DEVICE_INFO_DRIVER_ID = 34,
    /// [char[]] what its code is compiled for: its architecture
    OL_DEVICE_INFO_COMPUTE_UNIT_KIND = 35,
    /// [uint64_t] how many ticks the clock that kernels read makes in a second
    OL_DEVICE_INFO_TIMESTAMP_FREQUENCY = 36,
    /// [uint64_t] how many waves are on the device at the same time, at most
    OL_DEVICE_INFO_HARDWARE_PARALLELISM = 37,
    /// [uint32_t] the number of work items of a group where nothing speaks for another
    OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE = 38,
    /// [uint32_t] the number of such groups that fills the device
    OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS = 39,
    /// Not a value: the one after the last.
    OL_DEVICE_INFO_LAST = 40,
    /// Not a value: makes the type 32 bits wide.
    OL_DEVICE_INFO_FORCE_UINT32 = 0x7fffffff
} ol_device_info_t;

/// Kinds of devices
typedef enum ol_device_type_t {
    /// the kind that the library would choose
    OL_DEVICE_TYPE_DEFAULT = 0,
    /// every kind
    OL_DEVICE_TYPE_ALL = 1,
    /// graphics processors
    OL_DEVICE_TYPE_GPU = 2,
    /// processors that are used as devices
    OL_DEVICE_TYPE_CPU = 3,
    /// the processor that the library runs on, which owns host memory
    OL_DEVICE_TYPE_HOST = 4,
    /// Not a value: the one after the last.
    OL_DEVICE_TYPE_LAST = 5,
    /// Not a value: makes the type 32 bits wide.
    OL_DEVICE_TYPE_FORCE_UINT32 = 0x7fffffff
} ol_device_type_t;

/// Why a call failed
typedef enum ol_errc_t {
    /// the call succeeded
    OL_ERRC_SUCCESS = 0,
    /// the cause is not known, or is a fault of the library
    OL_ERRC_UNKNOWN = 1,
    /// reading or writing on the host failed
    OL_ERRC_HOST_IO = 2,
    /// a program image is damaged or of no known format
    OL_ERRC_INVALID_BINARY = 3,
    /// a pointer that must not be null is null
    OL_ERRC_INVALID_NULL_POINTER = 4,
    /// an argument has a value that it may not have
    OL_ERRC_INVALID_ARGUMENT = 5,
    /// what was asked for does not exist
    OL_ERRC_NOT_FOUND = 6,
    /// memory or another resource is used up
    OL_ERRC_OUT_OF_RESOURCES = 7,
    /// a size is zero, too small, too large, or not a multiple of what it must be
    OL_ERRC_INVALID_SIZE = 8,
    /// an argument is not an enumerator of its enumeration, or not one that applies here
    OL_ERRC_INVALID_ENUMERATION = 9,
    /// a program that is needed on the host, such as a linker, is not there
    OL_ERRC_HOST_TOOL_NOT_FOUND = 10,
    /// a value is not valid
    OL_ERRC_INVALID_VALUE = 11,
    /// the library does not implement this yet for the device
    OL_ERRC_UNIMPLEMENTED = 12,
    /// the device or its driver cannot do this
    OL_ERRC_UNSUPPORTED = 13,
    /// assembling a program image failed
    OL_ERRC_ASSEMBLE_FAILURE = 14,
    /// compiling a program image for the device failed
    OL_ERRC_COMPILE_FAILURE = 15,
    /// linking a program image failed
    OL_ERRC_LINK_FAILURE = 16,
    /// the driver failed, or is in a state in which it cannot be used
    OL_ERRC_BACKEND_FAILURE = 17,
    /// the library, or what the call works on, is not initialised
    OL_ERRC_UNINITIALIZED = 18,
    /// a handle that must not be null is null
    OL_ERRC_INVALID_NULL_HANDLE = 19,
    /// a platform handle is not valid
    OL_ERRC_INVALID_PLATFORM = 20,
    /// a device handle is not valid, or is not the device that it must be
    OL_ERRC_INVALID_DEVICE = 21,
    /// a queue handle is not valid
    OL_ERRC_INVALID_QUEUE = 22,
    /// an event handle is not valid
    OL_ERRC_INVALID_EVENT = 23,
    /// a context handle is not valid
    OL_ERRC_INVALID_CONTEXT = 24,
    /// the symbol is not of the kind that the call needs
    OL_ERRC_SYMBOL_KIND = 25,
    /// Not a value: the one after the last.
    OL_ERRC_LAST = 26,
    /// Not a value: makes the type 32 bits wide.
    OL_ERRC_FORCE_UINT32 = 0x7fffffff
} ol_errc_t;

/// What an event is for
typedef enum ol_event_flags_t {
    /// waiting only
    OL_EVENT_FLAGS_NONE = 0,
    /// waiting, and measuring time with olGetEventElapsedTime
    OL_EVENT_FLAGS_ENABLE_PROFILING = 1,
    /// Not a value: the one after the last.
    OL_EVENT_FLAGS_LAST = 2,
    /// Not a value: makes the type 32 bits wide.
    OL_EVENT_FLAGS_FORCE_UINT32 = 0x7fffffff
} ol_event_flags_t;

/// What can be asked of an event
typedef enum ol_event_info_t {
    /// [ol_queue_handle_t] the queue whose work it marks
    OL_EVENT_INFO_QUEUE = 0,
    /// [bool] whether it is complete
    OL_EVENT_INFO_IS_COMPLETE = 1,
    /// Not a value: the one after the last.
    OL_EVENT_INFO_LAST = 2,
    /// Not a value: makes the type 32 bits wide.
    OL_EVENT_INFO_FORCE_UINT32 = 0x7fffffff
} ol_event_info_t;

/// What can be said of a launch besides its size
typedef enum ol_kernel_launch_prop_type_t {
    /// [void *] ends the list
    OL_KERNEL_LAUNCH_PROP_TYPE_NONE = 0,
    /// [bool *] whether its work groups can wait for one another
    OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE = 1,
    /// Not a value: the one after the last.
    OL_KERNEL_LAUNCH_PROP_TYPE_LAST = 2,
    /// Not a value: makes the type 32 bits wide.
    OL_KERNEL_LAUNCH_PROP_TYPE_FORCE_UINT32 = 0x7fffffff
} ol_kernel_launch_prop_type_t;

/// What can be asked of an allocation
typedef enum ol_mem_info_t {
    /// [ol_device_handle_t] the device that it was allocated for
    OL_MEM_INFO_DEVICE = 0,
    /// [void *] the address of its first byte
    OL_MEM_INFO_BASE = 1,
    /// [size_t] how many bytes it has
    OL_MEM_INFO_SIZE = 2,
    /// [ol_alloc_type_t] where it lies
    OL_MEM_INFO_TYPE = 3,
    /// Not a value: the one after the last.
    OL_MEM_INFO_LAST = 4,
    /// Not a value: makes the type 32 bits wide.
    OL_MEM_INFO_FORCE_UINT32 = 0x7fffffff
} ol_mem_info_t;

/// Which way memory migrates
typedef enum ol_mem_migration_flag_t {
    /// to the device
    OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE = 1,
    /// to the host
    OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST = 2,
    /// Not a value: the one after the last.
    OL_MEM_MIGRATION_FLAG_LAST = 4,
    /// Not a value: makes the type 32 bits wide.
    OL_MEM_MIGRATION_FLAG_FORCE_UINT32 = 0x7fffffff
} ol_mem_migration_flag_t;

/// What else happens when host memory is registered or unregistered
typedef enum ol_memory_register_flag_t {
    /// its pages are locked
    OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY = 1,
    /// its pages are unlocked
    OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY = 2,
    /// Not a value: the one after the last.
    OL_MEMORY_REGISTER_FLAG_LAST = 4,
    /// Not a value: makes the type 32 bits wide.
    OL_MEMORY_REGISTER_FLAG_FORCE_UINT32 = 0x7fffffff
} ol_memory_register_flag_t;

/// The driver interface behind a platform
typedef enum ol_platform_backend_t {
    /// none that is known here
    OL_PLATFORM_BACKEND_UNKNOWN = 0,
    /// NVIDIA's CUDA driver
    OL_PLATFORM_BACKEND_CUDA = 1,
    /// AMD's HSA runtime
    OL_PLATFORM_BACKEND_AMDGPU = 2,
    /// Intel's Level Zero
    OL_PLATFORM_BACKEND_LEVEL_ZERO = 3,
    /// the processor that the library runs on
    OL_PLATFORM_BACKEND_HOST = 4,
    /// Not a value: the one after the last.
    OL_PLATFORM_BACKEND_LAST = 5,
    /// Not a value: makes the type 32 bits wide.
    OL_PLATFORM_BACKEND_FORCE_UINT32 = 0x7fffffff
} ol_platform_backend_t;

/// What can be asked of a platform
typedef enum ol_platform_info_t {
    /// [char[]] its name
    OL_PLATFORM_INFO_NAME = 0,
    /// [char[]] who made it
    OL_PLATFORM_INFO_VENDOR_NAME = 1,
    /// [char[]] the version of its driver
    OL_PLATFORM_INFO_VERSION = 2,
    /// [ol_platform_backend_t] the driver interface behind it
    OL_PLATFORM_INFO_BACKEND = 3,
    /// [bool] whether it has been opened and has a device; asking does not open it
    OL_PLATFORM_INFO_ACTIVE = 4,
    /// Not a value: the one after the last.
    OL_PLATFORM_INFO_LAST = 5,
    /// Not a value: makes the type 32 bits wide.
    OL_PLATFORM_INFO_FORCE_UINT32 = 0x7fffffff
} ol_platform_info_t;

/// What can be asked of a queue
typedef enum ol_queue_info_t {
    /// [ol_device_handle_t] the device that does its work
    OL_QUEUE_INFO_DEVICE = 0,
    /// [ol_context_handle_t] the context in which it was made
    OL_QUEUE_INFO_CONTEXT = 1,
    /// [bool] whether it is known to have no work left; always false where the driver cannot tell
    OL_QUEUE_INFO_EMPTY = 2,
    /// Not a value: the one after the last.
    OL_QUEUE_INFO_LAST = 3,
    /// Not a value: makes the type 32 bits wide.
    OL_QUEUE_INFO_FORCE_UINT32 = 0x7fffffff
} ol_queue_info_t;

/// What can be asked of a symbol
typedef enum ol_symbol_info_t {
    /// [ol_symbol_kind_t] its kind
    OL_SYMBOL_INFO_KIND = 0,
    /// [void *] where a global variable lies in the device's memory
    OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS = 1,
    /// [size_t] how many bytes a global variable has
    OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE = 2,
    /// [char[]] its name
    OL_SYMBOL_INFO_NAME = 3,
    /// Not a value: the one after the last.
    OL_SYMBOL_INFO_LAST = 4,
    /// Not a value: makes the type 32 bits wide.
    OL_SYMBOL_INFO_FORCE_UINT32 = 0x7fffffff
} ol_symbol_info_t;

/// Kinds of symbols
typedef enum ol_symbol_kind_t {
    /// a kernel
    OL_SYMBOL_KIND_KERNEL = 0,
    /// a global variable
    OL_SYMBOL_KIND_GLOBAL_VARIABLE = 1,
    /// Not a value: the one after the last.
    OL_SYMBOL_KIND_LAST = 2,
    /// Not a value: makes the type 32 bits wide.
    OL_SYMBOL_KIND_FORCE_UINT32 = 0x7fffffff
} ol_symbol_kind_t;

typedef struct ol_code_location_t ol_code_location_t;
typedef struct ol_dimensions_t ol_dimensions_t;
typedef struct ol_error_struct_t ol_error_struct_t;
typedef struct ol_init_args_t ol_init_args_t;
typedef struct ol_kernel_launch_prop_t ol_kernel_launch_prop_t;
typedef struct ol_kernel_launch_size_args_t ol_kernel_launch_size_args_t;

/// Where in the caller's source a call is made
struct ol_code_location_t {
    /// the calling function
    const char *FunctionName;
    /// its file
    const char *SourceFile;
    /// the line, from 1
    uint32_t LineNumber;
    /// the column, from 1
    uint32_t ColumnNumber;
};

/// Any number of ol_device_fp_capability_flag_t, joined by or
typedef uint32_t ol_device_fp_capability_flags_t;

/// Is shown one device after the other, until it returns false
///
/// @param[in] Device the device
/// @param[in] UserData what the iterating call was given (may be NULL)
typedef bool (*ol_device_iterate_cb_t)(ol_device_handle_t Device, void *UserData);

/// A size or a count for each of three dimensions
struct ol_dimensions_t {
    /// first dimension
    uint32_t x;
    /// second dimension
    uint32_t y;
    /// third dimension
    uint32_t z;
};

/// What is known of a failure
struct ol_error_struct_t {
    /// the kind of failure
    ol_errc_t Code;
    /// what happened, as text for a person
    const char *Details;
};

/// Is called on the host when a queue comes to it
///
/// @param[in] UserData what olLaunchHostFunction was given (may be NULL)
typedef void (*ol_host_function_cb_t)(void *UserData);

/// What olInit can be told
struct ol_init_args_t {
    /// the size of this structure as the caller knows it: sizeof(ol_init_args_t)
    size_t Size;
    /// how many entries Platforms has
    uint32_t NumPlatforms;
    /// the back ends to start; null, with NumPlatforms 0, for all of them
    const ol_platform_backend_t *Platforms;
};

/// One thing that is said of a launch
struct ol_kernel_launch_prop_t {
    /// what is said
    ol_kernel_launch_prop_type_t type;
    /// the value, of the type that goes with it
    void *data;
};

/// How large a launch is
struct ol_kernel_launch_size_args_t {
    /// how many dimensions are used: 1, 2 or 3
    size_t Dimensions;
    /// how many work groups there are in each dimension
    struct ol_dimensions_t NumGroups;
    /// how many work items a work group has in each dimension
    struct ol_dimensions_t GroupSize;
    /// how many bytes of local memory a work group has besides what its kernel declares
    size_t DynSharedMemory;
};

/// One ol_mem_migration_flag_t
typedef uint32_t ol_mem_migration_flags_t;

/// Any number of ol_memory_register_flag_t, joined by or
typedef uint32_t ol_memory_register_flags_t;

/// Is shown one platform after the other, until it returns false
///
/// @param[in] Platform the platform
/// @param[in] UserData what the iterating call was given (may be NULL)
typedef bool (*ol_platform_iterate_cb_t)(ol_platform_handle_t Platform, void *UserData);

/// Answers calls that kernels make to the host
///
/// @param[in] Port the port that the call came through
/// @param[in] NumLanes how many lanes of a wave are served at once
typedef unsigned (*ol_platform_rpc_cb_t)(void *Port, unsigned NumLanes);

/// What every function returns: null for success, else what is known of the failure
typedef const struct ol_error_struct_t *ol_result_t;

/// Is shown one symbol after the other, until it returns false
///
/// @param[in] Symbol the symbol
/// @param[in] UserData what the iterating call was given (may be NULL)
typedef bool (*ol_symbol_iterate_cb_t)(ol_symbol_handle_t Symbol, void *UserData);

/// The version of LLVM whose API this header has.
#define OFFLOAD_API_LLVM 24

/// Says in the program's file which version it was compiled for; olInit compares. It is data, and
/// no part of the API.
#if defined(__ELF__) && defined(__GNUC__)
static const struct ol_api_note {
    uint32_t NameSize, DataSize, Type;
    char Name[12];
    uint32_t Version;
} ol_api_note
#if defined(__clang__)
    /* What a sanitizer puts behind variables is no note. */
    __attribute__((no_sanitize("address")))
#endif
    __attribute__((used, aligned(4), section(".note.offload.api"))) = {11, 4, 1, "OffloadAPI", OFFLOAD_API_LLVM};
#endif

/// Pointers to the arguments of a call of ::olCalculateOptimalOccupancy.
typedef struct ol_calculate_optimal_occupancy_params_t {
    ol_device_handle_t *pDevice;
    ol_symbol_handle_t *pKernel;
    size_t *pSharedMemory;
    size_t **pGroupSize;
} ol_calculate_optimal_occupancy_params_t;

/// Tells the size of work groups with which a device is best used by a kernel
///
/// @param[in] Device the device
/// @param[in] Kernel the kernel
/// @param[in] SharedMemory how many bytes of local memory each work item needs besides what the
/// kernel declares
/// @param[out] GroupSize receives the number of work items
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_SYMBOL_KIND
///   - `Kernel` is not a kernel
/// - ::OL_ERRC_UNSUPPORTED
///   - the driver does not tell
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
///   - `NULL == Kernel`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == GroupSize`
OL_APIEXPORT ol_result_t OL_APICALL olCalculateOptimalOccupancy(
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    size_t SharedMemory,
    size_t *GroupSize);

/// ::olCalculateOptimalOccupancy, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olCalculateOptimalOccupancyWithCodeLoc(
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    size_t SharedMemory,
    size_t *GroupSize,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olCreateContext.
typedef struct ol_create_context_params_t {
    size_t *pDevicesCount;
    ol_device_handle_t **pDevices;
    ol_context_handle_t **pContext;
} ol_create_context_params_t;

/// Makes a context of some devices
///
/// - All of them are of one platform and have the same `OL_DEVICE_INFO_DRIVER_ID`.
///
/// - Queues, programs and memory are made in a context. Memory of one is not known in another.
///
/// @param[in] DevicesCount how many devices there are
/// @param[in] Devices the devices
/// @param[out] Context receives the context
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `DevicesCount == 0`
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - an element of `Devices` is null
/// - ::OL_ERRC_INVALID_DEVICE
///   - an element of `Devices` is not a device
///   - two devices cannot share a context
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Devices`
///   - `NULL == Context`
OL_APIEXPORT ol_result_t OL_APICALL olCreateContext(
    size_t DevicesCount,
    ol_device_handle_t *Devices,
    ol_context_handle_t *Context);

/// ::olCreateContext, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olCreateContextWithCodeLoc(
    size_t DevicesCount,
    ol_device_handle_t *Devices,
    ol_context_handle_t *Context,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olCreateEvent.
typedef struct ol_create_event_params_t {
    ol_queue_handle_t *pQueue;
    ol_event_flags_t *pFlags;
    ol_event_handle_t **pEvent;
} ol_create_event_params_t;

/// Marks the end of the work that a queue has so far
///
/// - The event is complete when everything that was put into the queue before it is done.
///
/// @param[in] Queue the queue
/// @param[in] Flags what the event is for
/// @param[out] Event receives the event
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `Flags` is not an event flag
/// - ::OL_ERRC_OUT_OF_RESOURCES
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Event`
OL_APIEXPORT ol_result_t OL_APICALL olCreateEvent(
    ol_queue_handle_t Queue,
    ol_event_flags_t Flags,
    ol_event_handle_t *Event);

/// ::olCreateEvent, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olCreateEventWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_event_flags_t Flags,
    ol_event_handle_t *Event,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olCreateProgram.
typedef struct ol_create_program_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    const void **pProgData;
    size_t *pProgDataSize;
    ol_program_handle_t **pProgram;
} ol_create_program_params_t;

/// Loads an image on a device
///
/// - The image is copied; the caller may free it when the call returns.
///
/// @param[in] Context the context
/// @param[in] Device the device
/// @param[in] ProgData the image
/// @param[in] ProgDataSize how many bytes it has
/// @param[out] Program receives the program
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_INVALID_BINARY
///   - the image is damaged, or not for this device
/// - ::OL_ERRC_ASSEMBLE_FAILURE
/// - ::OL_ERRC_COMPILE_FAILURE
/// - ::OL_ERRC_LINK_FAILURE
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == ProgData`
///   - `NULL == Program`
OL_APIEXPORT ol_result_t OL_APICALL olCreateProgram(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    const void *ProgData,
    size_t ProgDataSize,
    ol_program_handle_t *Program);

/// ::olCreateProgram, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olCreateProgramWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    const void *ProgData,
    size_t ProgDataSize,
    ol_program_handle_t *Program,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olCreateQueue.
typedef struct ol_create_queue_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    ol_queue_handle_t **pQueue;
} ol_create_queue_params_t;

/// Makes a queue
///
/// @param[in] Context the context
/// @param[in] Device the device that will do the queue's work
/// @param[out] Queue receives the queue
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_OUT_OF_RESOURCES
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Queue`
OL_APIEXPORT ol_result_t OL_APICALL olCreateQueue(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_queue_handle_t *Queue);

/// ::olCreateQueue, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olCreateQueueWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_queue_handle_t *Queue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olDestroyContext.
typedef struct ol_destroy_context_params_t {
    ol_context_handle_t *pContext;
} ol_destroy_context_params_t;

/// Gives a context back
///
/// - Memory that was allocated in it is freed with it. Queues and programs that were made in it
///   stay until they are destroyed.
///
/// @param[in] Context the context, which must not be used again
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context, or is destroyed already
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
OL_APIEXPORT ol_result_t OL_APICALL olDestroyContext(ol_context_handle_t Context);

/// ::olDestroyContext, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olDestroyContextWithCodeLoc(
    ol_context_handle_t Context,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olDestroyEvent.
typedef struct ol_destroy_event_params_t {
    ol_event_handle_t *pEvent;
} ol_destroy_event_params_t;

/// Gives an event back
///
/// @param[in] Event the event, which must not be used again
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_EVENT
///   - `Event` is not an event, or is destroyed already
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Event`
OL_APIEXPORT ol_result_t OL_APICALL olDestroyEvent(ol_event_handle_t Event);

/// ::olDestroyEvent, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olDestroyEventWithCodeLoc(
    ol_event_handle_t Event,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olDestroyProgram.
typedef struct ol_destroy_program_params_t {
    ol_program_handle_t *pProgram;
} ol_destroy_program_params_t;

/// Unloads a program
///
/// - Its symbols are gone with it.
///
/// @param[in] Program the program, which must not be used again
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - `Program` is not a program, or is destroyed already
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Program`
OL_APIEXPORT ol_result_t OL_APICALL olDestroyProgram(ol_program_handle_t Program);

/// ::olDestroyProgram, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olDestroyProgramWithCodeLoc(
    ol_program_handle_t Program,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olDestroyQueue.
typedef struct ol_destroy_queue_params_t {
    ol_queue_handle_t *pQueue;
} ol_destroy_queue_params_t;

/// Gives a queue back
///
/// - Does not wait: work that is in the queue is still done, and events that mark it stay valid.
///
/// @param[in] Queue the queue, which must not be used again
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue, or is destroyed already
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
OL_APIEXPORT ol_result_t OL_APICALL olDestroyQueue(ol_queue_handle_t Queue);

/// ::olDestroyQueue, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olDestroyQueueWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetContextInfo.
typedef struct ol_get_context_info_params_t {
    ol_context_handle_t *pContext;
    ol_context_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_context_info_params_t;

/// Tells a property of a context
///
/// - `olGetContextInfoSize` tells how many bytes the property needs.
///
/// @param[in] Context the context
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of contexts
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetContextInfo(
    ol_context_handle_t Context,
    ol_context_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetContextInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetContextInfoWithCodeLoc(
    ol_context_handle_t Context,
    ol_context_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetContextInfoSize.
typedef struct ol_get_context_info_size_params_t {
    ol_context_handle_t *pContext;
    ol_context_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_context_info_size_params_t;

/// Tells how many bytes a property of a context needs
///
/// @param[in] Context the context
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of contexts
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetContextInfoSize(
    ol_context_handle_t Context,
    ol_context_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetContextInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetContextInfoSizeWithCodeLoc(
    ol_context_handle_t Context,
    ol_context_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetDeviceInfo.
typedef struct ol_get_device_info_params_t {
    ol_device_handle_t *pDevice;
    ol_device_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_device_info_params_t;

/// Tells a property of a device
///
/// - `olGetDeviceInfoSize` tells how many bytes the property needs.
///
/// @param[in] Device the device
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of devices
/// - ::OL_ERRC_UNSUPPORTED
///   - the driver does not tell this property
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetDeviceInfo(
    ol_device_handle_t Device,
    ol_device_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetDeviceInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetDeviceInfoWithCodeLoc(
    ol_device_handle_t Device,
    ol_device_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetDeviceInfoSize.
typedef struct ol_get_device_info_size_params_t {
    ol_device_handle_t *pDevice;
    ol_device_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_device_info_size_params_t;

/// Tells how many bytes a property of a device needs
///
/// @param[in] Device the device
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes; that of a text includes its terminating zero
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of devices
/// - ::OL_ERRC_UNSUPPORTED
///   - the driver does not tell this property
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetDeviceInfoSize(
    ol_device_handle_t Device,
    ol_device_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetDeviceInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetDeviceInfoSizeWithCodeLoc(
    ol_device_handle_t Device,
    ol_device_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetEventElapsedTime.
typedef struct ol_get_event_elapsed_time_params_t {
    ol_event_handle_t *pStartEvent;
    ol_event_handle_t *pEndEvent;
    float **pElapsedTime;
} ol_get_event_elapsed_time_params_t;

/// Tells how much time lies between two events
///
/// - Both events must be of one device, made with `OL_EVENT_FLAGS_ENABLE_PROFILING`, and complete.
///
/// @param[in] StartEvent the earlier event
/// @param[in] EndEvent the later event
/// @param[out] ElapsedTime receives the time in milliseconds
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_EVENT
///   - `StartEvent` or `EndEvent` is not an event
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - an event does not measure time, or is not complete
/// - ::OL_ERRC_INVALID_DEVICE
///   - the events are of different devices
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == StartEvent`
///   - `NULL == EndEvent`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == ElapsedTime`
OL_APIEXPORT ol_result_t OL_APICALL olGetEventElapsedTime(
    ol_event_handle_t StartEvent,
    ol_event_handle_t EndEvent,
    float *ElapsedTime);

/// ::olGetEventElapsedTime, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetEventElapsedTimeWithCodeLoc(
    ol_event_handle_t StartEvent,
    ol_event_handle_t EndEvent,
    float *ElapsedTime,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetEventInfo.
typedef struct ol_get_event_info_params_t {
    ol_event_handle_t *pEvent;
    ol_event_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_event_info_params_t;

/// Tells a property of an event
///
/// - `olGetEventInfoSize` tells how many bytes the property needs.
///
/// @param[in] Event the event
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of events
/// - ::OL_ERRC_INVALID_EVENT
///   - `Event` is not an event
/// - ::OL_ERRC_INVALID_QUEUE
///   - the queue is asked for, and has been destroyed
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Event`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetEventInfo(
    ol_event_handle_t Event,
    ol_event_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetEventInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetEventInfoWithCodeLoc(
    ol_event_handle_t Event,
    ol_event_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetEventInfoSize.
typedef struct ol_get_event_info_size_params_t {
    ol_event_handle_t *pEvent;
    ol_event_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_event_info_size_params_t;

/// Tells how many bytes a property of an event needs
///
/// @param[in] Event the event
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of events
/// - ::OL_ERRC_INVALID_EVENT
///   - `Event` is not an event
/// - ::OL_ERRC_INVALID_QUEUE
///   - the queue is asked for, and has been destroyed
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Event`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetEventInfoSize(
    ol_event_handle_t Event,
    ol_event_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetEventInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetEventInfoSizeWithCodeLoc(
    ol_event_handle_t Event,
    ol_event_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetKernelMaxCooperativeGroupCount.
typedef struct ol_get_kernel_max_cooperative_group_count_params_t {
    ol_device_handle_t *pDevice;
    ol_symbol_handle_t *pKernel;
    const ol_kernel_launch_size_args_t **pLaunchSizeArgs;
    uint32_t **pMaxGroupCount;
} ol_get_kernel_max_cooperative_group_count_params_t;

/// Tells how many work groups a cooperative launch of a kernel may have
///
/// - Work groups that wait for one another must all fit on the device at the same time; how many do
///   depends on their size.
///
/// @param[in] Device the device
/// @param[in] Kernel the kernel
/// @param[in] LaunchSizeArgs how large a work group is; the number of groups does not matter
/// @param[out] MaxGroupCount receives the number of work groups
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_SYMBOL_KIND
///   - `Kernel` is not a kernel
/// - ::OL_ERRC_UNSUPPORTED
///   - the device has no cooperative launches, or its driver does not tell
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
///   - `NULL == Kernel`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == LaunchSizeArgs`
///   - `NULL == MaxGroupCount`
OL_APIEXPORT ol_result_t OL_APICALL olGetKernelMaxCooperativeGroupCount(
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    const ol_kernel_launch_size_args_t *LaunchSizeArgs,
    uint32_t *MaxGroupCount);

/// ::olGetKernelMaxCooperativeGroupCount, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetKernelMaxCooperativeGroupCountWithCodeLoc(
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    const ol_kernel_launch_size_args_t *LaunchSizeArgs,
    uint32_t *MaxGroupCount,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetMemInfo.
typedef struct ol_get_mem_info_params_t {
    ol_context_handle_t *pContext;
    const void **pPtr;
    ol_mem_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_mem_info_params_t;

/// Tells a property of an allocation
///
/// - The address may be that of any byte of the allocation.
///
/// - `olGetMemInfoSize` tells how many bytes the property needs.
///
/// @param[in] Context the context
/// @param[in] Ptr an address in the allocation
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of allocations
/// - ::OL_ERRC_NOT_FOUND
///   - `Ptr` is in no allocation of this library
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetMemInfo(
    ol_context_handle_t Context,
    const void *Ptr,
    ol_mem_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetMemInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetMemInfoWithCodeLoc(
    ol_context_handle_t Context,
    const void *Ptr,
    ol_mem_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetMemInfoSize.
typedef struct ol_get_mem_info_size_params_t {
    ol_context_handle_t *pContext;
    const void **pPtr;
    ol_mem_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_mem_info_size_params_t;

/// Tells how many bytes a property of an allocation needs
///
/// - The address may be that of any byte of the allocation.
///
/// @param[in] Context the context
/// @param[in] Ptr an address in the allocation
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of allocations
/// - ::OL_ERRC_NOT_FOUND
///   - `Ptr` is in no allocation of this library
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetMemInfoSize(
    ol_context_handle_t Context,
    const void *Ptr,
    ol_mem_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetMemInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetMemInfoSizeWithCodeLoc(
    ol_context_handle_t Context,
    const void *Ptr,
    ol_mem_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetPlatformInfo.
typedef struct ol_get_platform_info_params_t {
    ol_platform_handle_t *pPlatform;
    ol_platform_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_platform_info_params_t;

/// Tells a property of a platform
///
/// - `olGetPlatformInfoSize` tells how many bytes the property needs.
///
/// @param[in] Platform the platform
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of platforms
/// - ::OL_ERRC_INVALID_PLATFORM
///   - `Platform` is not a platform
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Platform`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetPlatformInfo(
    ol_platform_handle_t Platform,
    ol_platform_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetPlatformInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetPlatformInfoWithCodeLoc(
    ol_platform_handle_t Platform,
    ol_platform_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetPlatformInfoSize.
typedef struct ol_get_platform_info_size_params_t {
    ol_platform_handle_t *pPlatform;
    ol_platform_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_platform_info_size_params_t;

/// Tells how many bytes a property of a platform needs
///
/// @param[in] Platform the platform
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes; that of a text includes its terminating zero
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of platforms
/// - ::OL_ERRC_INVALID_PLATFORM
///   - `Platform` is not a platform
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Platform`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetPlatformInfoSize(
    ol_platform_handle_t Platform,
    ol_platform_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetPlatformInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetPlatformInfoSizeWithCodeLoc(
    ol_platform_handle_t Platform,
    ol_platform_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetQueueInfo.
typedef struct ol_get_queue_info_params_t {
    ol_queue_handle_t *pQueue;
    ol_queue_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_queue_info_params_t;

/// Tells a property of a queue
///
/// - `olGetQueueInfoSize` tells how many bytes the property needs.
///
/// @param[in] Queue the queue
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of queues
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetQueueInfo(
    ol_queue_handle_t Queue,
    ol_queue_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetQueueInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetQueueInfoWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_queue_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetQueueInfoSize.
typedef struct ol_get_queue_info_size_params_t {
    ol_queue_handle_t *pQueue;
    ol_queue_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_queue_info_size_params_t;

/// Tells how many bytes a property of a queue needs
///
/// @param[in] Queue the queue
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of queues
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetQueueInfoSize(
    ol_queue_handle_t Queue,
    ol_queue_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetQueueInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetQueueInfoSizeWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_queue_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetSymbol.
typedef struct ol_get_symbol_params_t {
    ol_program_handle_t *pProgram;
    const char **pName;
    ol_symbol_kind_t *pKind;
    ol_symbol_handle_t **pSymbol;
} ol_get_symbol_params_t;

/// Finds a symbol of a program by its name
///
/// - The symbol lives as long as its program, and is not destroyed by itself.
///
/// @param[in] Program the program
/// @param[in] Name the symbol's name
/// @param[in] Kind its kind
/// @param[out] Symbol receives the symbol
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `Kind` is not a kind of symbols
/// - ::OL_ERRC_NOT_FOUND
///   - the program has no such symbol
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Program`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Name`
///   - `NULL == Symbol`
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbol(
    ol_program_handle_t Program,
    const char *Name,
    ol_symbol_kind_t Kind,
    ol_symbol_handle_t *Symbol);

/// ::olGetSymbol, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbolWithCodeLoc(
    ol_program_handle_t Program,
    const char *Name,
    ol_symbol_kind_t Kind,
    ol_symbol_handle_t *Symbol,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetSymbolInfo.
typedef struct ol_get_symbol_info_params_t {
    ol_symbol_handle_t *pSymbol;
    ol_symbol_info_t *pPropName;
    size_t *pPropSize;
    void **pPropValue;
} ol_get_symbol_info_params_t;

/// Tells a property of a symbol
///
/// - `olGetSymbolInfoSize` tells how many bytes the property needs.
///
/// @param[in] Symbol the symbol
/// @param[in] PropName the property
/// @param[in] PropSize how many bytes PropValue has room for
/// @param[out] PropValue receives the property; not written when the call fails
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PropSize == 0`
///   - the property needs more than `PropSize` bytes
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of symbols
/// - ::OL_ERRC_SYMBOL_KIND
///   - symbols of this kind do not have the property
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Symbol`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropValue`
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbolInfo(
    ol_symbol_handle_t Symbol,
    ol_symbol_info_t PropName,
    size_t PropSize,
    void *PropValue);

/// ::olGetSymbolInfo, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbolInfoWithCodeLoc(
    ol_symbol_handle_t Symbol,
    ol_symbol_info_t PropName,
    size_t PropSize,
    void *PropValue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olGetSymbolInfoSize.
typedef struct ol_get_symbol_info_size_params_t {
    ol_symbol_handle_t *pSymbol;
    ol_symbol_info_t *pPropName;
    size_t **pPropSizeRet;
} ol_get_symbol_info_size_params_t;

/// Tells how many bytes a property of a symbol needs
///
/// @param[in] Symbol the symbol
/// @param[in] PropName the property
/// @param[out] PropSizeRet receives the size in bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `PropName` is no property of symbols
/// - ::OL_ERRC_SYMBOL_KIND
///   - symbols of this kind do not have the property
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Symbol`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == PropSizeRet`
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbolInfoSize(
    ol_symbol_handle_t Symbol,
    ol_symbol_info_t PropName,
    size_t *PropSizeRet);

/// ::olGetSymbolInfoSize, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olGetSymbolInfoSizeWithCodeLoc(
    ol_symbol_handle_t Symbol,
    ol_symbol_info_t PropName,
    size_t *PropSizeRet,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olInit.
typedef struct ol_init_params_t {
    const ol_init_args_t **pInitArgs;
} ol_init_params_t;

/// Starts the library
///
/// - Comes before every other call.
///
/// - May be called again: the library ends with as many calls of `olShutDown` as there were of
///   `olInit`. Only the first call's `InitArgs` count.
///
/// @param[in] InitArgs what to start; null for everything that is there (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - `InitArgs != NULL && InitArgs->NumPlatforms > 0 && InitArgs->Platforms == NULL`
/// - ::OL_ERRC_INVALID_SIZE
///   - `InitArgs != NULL && InitArgs->Size == 0`
OL_APIEXPORT ol_result_t OL_APICALL olInit(const ol_init_args_t *InitArgs);

/// ::olInit, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olInitWithCodeLoc(
    const ol_init_args_t *InitArgs,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olIsValidBinary.
typedef struct ol_is_valid_binary_params_t {
    ol_device_handle_t *pDevice;
    const void **pProgData;
    size_t *pProgDataSize;
    bool **pValid;
} ol_is_valid_binary_params_t;

/// Tells whether a device can load an image, without loading it
///
/// @param[in] Device the device
/// @param[in] ProgData the image
/// @param[in] ProgDataSize how many bytes it has
/// @param[out] Valid receives the answer
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == ProgData`
///   - `NULL == Valid`
OL_APIEXPORT ol_result_t OL_APICALL olIsValidBinary(
    ol_device_handle_t Device,
    const void *ProgData,
    size_t ProgDataSize,
    bool *Valid);

/// ::olIsValidBinary, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olIsValidBinaryWithCodeLoc(
    ol_device_handle_t Device,
    const void *ProgData,
    size_t ProgDataSize,
    bool *Valid,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olIterateCompatibleDevices.
typedef struct ol_iterate_compatible_devices_params_t {
    const void **pProgData;
    size_t *pProgDataSize;
    ol_device_iterate_cb_t *pCallback;
    void **pUserData;
} ol_iterate_compatible_devices_params_t;

/// Shows every device that can load an image to a function
///
/// - Ends early, and successfully, when the function returns false. No device can load an image of
///   no bytes.
///
/// @param[in] ProgData the image
/// @param[in] ProgDataSize how many bytes it has
/// @param[in] Callback the function
/// @param[in] UserData handed to the function as it is (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == ProgData`
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olIterateCompatibleDevices(
    const void *ProgData,
    size_t ProgDataSize,
    ol_device_iterate_cb_t Callback,
    void *UserData);

/// ::olIterateCompatibleDevices, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olIterateCompatibleDevicesWithCodeLoc(
    const void *ProgData,
    size_t ProgDataSize,
    ol_device_iterate_cb_t Callback,
    void *UserData,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olIterateDevices.
typedef struct ol_iterate_devices_params_t {
    ol_device_iterate_cb_t *pCallback;
    void **pUserData;
} ol_iterate_devices_params_t;

/// Shows every device to a function
///
/// - Ends early, and successfully, when the function returns false.
///
/// @param[in] Callback the function
/// @param[in] UserData handed to the function as it is (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olIterateDevices(
    ol_device_iterate_cb_t Callback,
    void *UserData);

/// ::olIterateDevices, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olIterateDevicesWithCodeLoc(
    ol_device_iterate_cb_t Callback,
    void *UserData,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olIteratePlatforms.
typedef struct ol_iterate_platforms_params_t {
    ol_platform_iterate_cb_t *pCallback;
    void **pUserData;
} ol_iterate_platforms_params_t;

/// Shows every platform to a function
///
/// - Ends early, and successfully, when the function returns false.
///
/// - Opens no platform: `OL_PLATFORM_INFO_ACTIVE` says which have been opened and have devices.
///
/// @param[in] Callback the function
/// @param[in] UserData handed to the function as it is (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olIteratePlatforms(
    ol_platform_iterate_cb_t Callback,
    void *UserData);

/// ::olIteratePlatforms, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olIteratePlatformsWithCodeLoc(
    ol_platform_iterate_cb_t Callback,
    void *UserData,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olIterateSymbols.
typedef struct ol_iterate_symbols_params_t {
    ol_program_handle_t *pProgram;
    ol_symbol_kind_t *pKind;
    ol_symbol_iterate_cb_t *pCallback;
    void **pUserData;
} ol_iterate_symbols_params_t;

/// Shows every symbol of a kind that a program has to a function
///
/// - Ends early, and successfully, when the function returns false. The symbols are those that
///   `olGetSymbol` finds, in the order of their names.
///
/// @param[in] Program the program
/// @param[in] Kind the kind of symbols
/// @param[in] Callback the function
/// @param[in] UserData handed to the function as it is (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `Kind` is not a kind of symbols
/// - ::OL_ERRC_UNSUPPORTED
///   - the image does not tell its symbols
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Program`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olIterateSymbols(
    ol_program_handle_t Program,
    ol_symbol_kind_t Kind,
    ol_symbol_iterate_cb_t Callback,
    void *UserData);

/// ::olIterateSymbols, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olIterateSymbolsWithCodeLoc(
    ol_program_handle_t Program,
    ol_symbol_kind_t Kind,
    ol_symbol_iterate_cb_t Callback,
    void *UserData,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olLaunchHostFunction.
typedef struct ol_launch_host_function_params_t {
    ol_queue_handle_t *pQueue;
    ol_host_function_cb_t *pCallback;
    void **pUserData;
} ol_launch_host_function_params_t;

/// Puts a call of a host function into a queue
///
/// - The function runs in this process, after the work before it is done; the work after it begins
///   when it has returned.
///
/// - It must call neither this API nor the driver below it.
///
/// @param[in] Queue the queue
/// @param[in] Callback the function
/// @param[in] UserData handed to the function as it is (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olLaunchHostFunction(
    ol_queue_handle_t Queue,
    ol_host_function_cb_t Callback,
    void *UserData);

/// ::olLaunchHostFunction, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olLaunchHostFunctionWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_host_function_cb_t Callback,
    void *UserData,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olLaunchKernel.
typedef struct ol_launch_kernel_params_t {
    ol_queue_handle_t *pQueue;
    ol_device_handle_t *pDevice;
    ol_symbol_handle_t *pKernel;
    const ol_kernel_launch_size_args_t **pLaunchSizeArgs;
    const ol_kernel_launch_prop_t **pProperties;
    size_t *pNumArgs;
    void ***pArgPtrs;
    const size_t **pArgSizes;
} ol_launch_kernel_params_t;

/// Launches a kernel
///
/// - With a queue the kernel runs in the queue's turn; without one it has run when the call
///   returns.
///
/// - Arguments are copied: `ArgPtrs[i]` points to `ArgSizes[i]` bytes, the value of the kernel's
///   argument `i`.
///
/// @param[in] Queue the queue, or null to wait for the kernel (may be NULL)
/// @param[in] Device the device that runs the kernel
/// @param[in] Kernel the kernel
/// @param[in] LaunchSizeArgs how large the launch is
/// @param[in] Properties what else is said of the launch, ending with OL_KERNEL_LAUNCH_PROP_END
/// (may be NULL)
/// @param[in] NumArgs how many arguments there are: as many as the kernel has
/// @param[in] ArgPtrs where each argument's value is; null if there are none (may be NULL)
/// @param[in] ArgSizes how many bytes each argument has; null if there are none (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - `(ArgPtrs == NULL) != (ArgSizes == NULL)`
///   - `NumArgs > 0 && (ArgPtrs == NULL || ArgSizes == NULL)`
///   - the kernel has more arguments than `NumArgs`, or fewer
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is neither null nor a queue
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device, or not the queue's
/// - ::OL_ERRC_SYMBOL_KIND
///   - `Kernel` is not a kernel
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
///   - `NULL == Kernel`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == LaunchSizeArgs`
OL_APIEXPORT ol_result_t OL_APICALL olLaunchKernel(
    ol_queue_handle_t Queue,
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    const ol_kernel_launch_size_args_t *LaunchSizeArgs,
    const ol_kernel_launch_prop_t *Properties,
    size_t NumArgs,
    void **ArgPtrs,
    const size_t *ArgSizes);

/// ::olLaunchKernel, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olLaunchKernelWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_device_handle_t Device,
    ol_symbol_handle_t Kernel,
    const ol_kernel_launch_size_args_t *LaunchSizeArgs,
    const ol_kernel_launch_prop_t *Properties,
    size_t NumArgs,
    void **ArgPtrs,
    const size_t *ArgSizes,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemAlloc.
typedef struct ol_mem_alloc_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    ol_alloc_type_t *pType;
    size_t *pSize;
    void ***pAllocationOut;
} ol_mem_alloc_params_t;

/// Allocates memory
///
/// - Addresses are unique: no two allocations that exist at the same time have an address in
///   common, whatever their devices.
///
/// @param[in] Context the context
/// @param[in] Device the device that the memory is for
/// @param[in] Type where the memory lies
/// @param[in] Size how many bytes
/// @param[out] AllocationOut receives the address
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_SIZE
///   - `Size == 0`
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `Type` is not an allocation type
///   - `Type == OL_ALLOC_TYPE_HOST`
/// - ::OL_ERRC_OUT_OF_RESOURCES
///   - there is not that much memory
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == AllocationOut`
OL_APIEXPORT ol_result_t OL_APICALL olMemAlloc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_alloc_type_t Type,
    size_t Size,
    void **AllocationOut);

/// ::olMemAlloc, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_alloc_type_t Type,
    size_t Size,
    void **AllocationOut,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemAllocAligned.
typedef struct ol_mem_alloc_aligned_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    ol_alloc_type_t *pType;
    size_t *pSize;
    size_t *pAlignment;
    void ***pAllocationOut;
} ol_mem_alloc_aligned_params_t;

/// Allocates memory at an address that is a multiple of an alignment
///
/// - Addresses are unique, as `olMemAlloc` says.
///
/// @param[in] Context the context
/// @param[in] Device the device that the memory is for
/// @param[in] Type where the memory lies
/// @param[in] Size how many bytes
/// @param[in] Alignment the alignment in bytes: a power of two
/// @param[out] AllocationOut receives the address
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_SIZE
///   - `Size == 0`
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - `Alignment == 0`
///   - `(Alignment & (Alignment - 1)) != 0`
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `Type` is not an allocation type
///   - `Type == OL_ALLOC_TYPE_HOST`
/// - ::OL_ERRC_OUT_OF_RESOURCES
///   - there is not that much memory
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == AllocationOut`
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocAligned(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_alloc_type_t Type,
    size_t Size,
    size_t Alignment,
    void **AllocationOut);

/// ::olMemAllocAligned, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocAlignedWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    ol_alloc_type_t Type,
    size_t Size,
    size_t Alignment,
    void **AllocationOut,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemAllocAlignedHost.
typedef struct ol_mem_alloc_aligned_host_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    size_t *pSize;
    size_t *pAlignment;
    void ***pAllocationOut;
} ol_mem_alloc_aligned_host_params_t;

/// Allocates memory on the host that devices can use, at an address that is a multiple of an
/// alignment
///
/// - The same as `olMemAllocAligned` with `OL_ALLOC_TYPE_HOST`.
///
/// @param[in] Context the context
/// @param[in] Device the device that the memory is for
/// @param[in] Size how many bytes
/// @param[in] Alignment the alignment in bytes: a power of two
/// @param[out] AllocationOut receives the address
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_SIZE
///   - `Size == 0`
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - `Alignment == 0`
///   - `(Alignment & (Alignment - 1)) != 0`
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_OUT_OF_RESOURCES
///   - there is not that much memory
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == AllocationOut`
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocAlignedHost(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    size_t Size,
    size_t Alignment,
    void **AllocationOut);

/// ::olMemAllocAlignedHost, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocAlignedHostWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    size_t Size,
    size_t Alignment,
    void **AllocationOut,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemAllocHost.
typedef struct ol_mem_alloc_host_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    size_t *pSize;
    void ***pAllocationOut;
} ol_mem_alloc_host_params_t;

/// Allocates memory on the host that devices can use
///
/// - The same as `olMemAlloc` with `OL_ALLOC_TYPE_HOST`.
///
/// @param[in] Context the context
/// @param[in] Device the device that the memory is for
/// @param[in] Size how many bytes
/// @param[out] AllocationOut receives the address
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_SIZE
///   - `Size == 0`
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_OUT_OF_RESOURCES
///   - there is not that much memory
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == AllocationOut`
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocHost(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    size_t Size,
    void **AllocationOut);

/// ::olMemAllocHost, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemAllocHostWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    size_t Size,
    void **AllocationOut,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemFill.
typedef struct ol_mem_fill_params_t {
    ol_queue_handle_t *pQueue;
    void **pPtr;
    size_t *pPatternSize;
    const void **pPatternPtr;
    size_t *pFillSize;
} ol_mem_fill_params_t;

/// Fills memory with a repeated pattern
///
/// - With a queue the memory is filled in the queue's turn; without one it is filled when the call
///   returns.
///
/// - The memory is of the queue's device. Patterns of more than four bytes may take longer.
///
/// @param[in] Queue the queue, or null to wait for the fill (may be NULL)
/// @param[in] Ptr the first byte to fill
/// @param[in] PatternSize how many bytes the pattern has
/// @param[in] PatternPtr the pattern, in host memory
/// @param[in] FillSize how many bytes to fill: a multiple of PatternSize
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `PatternSize == 0`
///   - `FillSize % PatternSize != 0`
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is neither null nor a queue
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
///   - `NULL == PatternPtr`
OL_APIEXPORT ol_result_t OL_APICALL olMemFill(
    ol_queue_handle_t Queue,
    void *Ptr,
    size_t PatternSize,
    const void *PatternPtr,
    size_t FillSize);

/// ::olMemFill, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemFillWithCodeLoc(
    ol_queue_handle_t Queue,
    void *Ptr,
    size_t PatternSize,
    const void *PatternPtr,
    size_t FillSize,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemFree.
typedef struct ol_mem_free_params_t {
    ol_context_handle_t *pContext;
    void **pAddress;
} ol_mem_free_params_t;

/// Gives memory back that olMemAlloc or olMemAllocAligned allocated
///
/// @param[in] Context the context
/// @param[in] Address the address that the allocating call gave
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_NOT_FOUND
///   - no allocation of this library begins at `Address`
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Address`
OL_APIEXPORT ol_result_t OL_APICALL olMemFree(ol_context_handle_t Context, void *Address);

/// ::olMemFree, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemFreeWithCodeLoc(
    ol_context_handle_t Context,
    void *Address,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemIsAccessible.
typedef struct ol_mem_is_accessible_params_t {
    ol_context_handle_t *pContext;
    ol_device_handle_t *pDevice;
    const void **pPtr;
    size_t *pSize;
    bool **pIsAccessible;
} ol_mem_is_accessible_params_t;

/// Tells whether kernels of a device can use memory
///
/// - Memory of a device is for its own kernels; memory that was allocated as `OL_ALLOC_TYPE_HOST`
///   or `OL_ALLOC_TYPE_MANAGED` is for all devices of its platform, and for the host.
///
/// - Memory that this library did not allocate is taken for the host's: it is accessible to devices
///   that can use any memory of the host, and where it is registered.
///
/// @param[in] Context the context
/// @param[in] Device the device
/// @param[in] Ptr the memory's first byte; it is not read
/// @param[in] Size how many bytes
/// @param[out] IsAccessible receives the answer
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_CONTEXT
///   - `Context` is not a context
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
///   - `Device` is not one of `Context`
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Context`
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
///   - `NULL == IsAccessible`
OL_APIEXPORT ol_result_t OL_APICALL olMemIsAccessible(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    const void *Ptr,
    size_t Size,
    bool *IsAccessible);

/// ::olMemIsAccessible, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemIsAccessibleWithCodeLoc(
    ol_context_handle_t Context,
    ol_device_handle_t Device,
    const void *Ptr,
    size_t Size,
    bool *IsAccessible,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemPrefetch.
typedef struct ol_mem_prefetch_params_t {
    ol_queue_handle_t *pQueue;
    size_t *pCount;
    const void ***pMems;
    const size_t **pSizes;
    ol_mem_migration_flags_t *pFlags;
} ol_mem_prefetch_params_t;

/// Advises that managed memory will be used on the other side
///
/// - Changes where the memory lies, not what it holds, and only where the device can: otherwise
///   nothing happens, successfully.
///
/// @param[in] Queue the queue in whose turn the memory migrates
/// @param[in] Count how many pieces of memory there are; none is allowed
/// @param[in] Mems where each piece begins; may be null if there are none (may be NULL)
/// @param[in] Sizes how many bytes each piece has; may be null if there are none (may be NULL)
/// @param[in] Flags which way
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `Count > 0 && Mems == NULL`
///   - `Count > 0 && Sizes == NULL`
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `(Flags & ~(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE | OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST)) !=
///     0`
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
OL_APIEXPORT ol_result_t OL_APICALL olMemPrefetch(
    ol_queue_handle_t Queue,
    size_t Count,
    const void **Mems,
    const size_t *Sizes,
    ol_mem_migration_flags_t Flags);

/// ::olMemPrefetch, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemPrefetchWithCodeLoc(
    ol_queue_handle_t Queue,
    size_t Count,
    const void **Mems,
    const size_t *Sizes,
    ol_mem_migration_flags_t Flags,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemRegister.
typedef struct ol_mem_register_params_t {
    ol_device_handle_t *pDevice;
    void **pPtr;
    size_t *pSize;
    ol_memory_register_flags_t *pFlags;
    void ***pPinnedPtr;
} ol_mem_register_params_t;

/// Lets a device use host memory, and gives the address to use
///
/// - With `OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY` the pages are locked, which makes transfers fast.
///
/// - Memory may be registered again, as a whole or a part of it, and then has one more user; a
///   range that only overlaps a registered one is refused.
///
/// - Host and device may both use the address. Nothing is promised about when one sees what the
///   other wrote.
///
/// @param[in] Device the device
/// @param[in] Ptr the memory's first byte
/// @param[in] Size how many bytes
/// @param[in] Flags whether to lock the pages
/// @param[out] PinnedPtr receives the address to use
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_SIZE
///   - `Size == 0`
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) !=
///     0`
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - the memory overlaps registered memory without lying in it
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
///   - `NULL == PinnedPtr`
OL_APIEXPORT ol_result_t OL_APICALL olMemRegister(
    ol_device_handle_t Device,
    void *Ptr,
    size_t Size,
    ol_memory_register_flags_t Flags,
    void **PinnedPtr);

/// ::olMemRegister, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemRegisterWithCodeLoc(
    ol_device_handle_t Device,
    void *Ptr,
    size_t Size,
    ol_memory_register_flags_t Flags,
    void **PinnedPtr,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemUnregister.
typedef struct ol_mem_unregister_params_t {
    ol_device_handle_t *pDevice;
    void **pPtr;
    ol_memory_register_flags_t *pFlags;
} ol_mem_unregister_params_t;

/// Takes back what olMemRegister did for one user
///
/// - With `OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY` the last user's pages are unlocked.
///
/// @param[in] Device the device
/// @param[in] Ptr the memory's first byte, as it was registered or as olMemRegister gave it
/// @param[in] Flags whether to unlock the pages
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_DEVICE
///   - `Device` is not a device
/// - ::OL_ERRC_INVALID_ENUMERATION
///   - `(Flags & ~(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY | OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY)) !=
///     0`
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - no registered memory begins at `Ptr`
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Device`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Ptr`
OL_APIEXPORT ol_result_t OL_APICALL olMemUnregister(
    ol_device_handle_t Device,
    void *Ptr,
    ol_memory_register_flags_t Flags);

/// ::olMemUnregister, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemUnregisterWithCodeLoc(
    ol_device_handle_t Device,
    void *Ptr,
    ol_memory_register_flags_t Flags,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olMemcpy.
typedef struct ol_memcpy_params_t {
    ol_queue_handle_t *pQueue;
    void **pDstPtr;
    ol_device_handle_t *pDstDevice;
    const void **pSrcPtr;
    ol_device_handle_t *pSrcDevice;
    size_t *pSize;
} ol_memcpy_params_t;

/// Copies memory
///
/// - With a queue the copy is done in the queue's turn; without one it is done when the call
///   returns.
///
/// - For memory of the host, the device is the one of the platform whose back end is
///   `OL_PLATFORM_BACKEND_HOST`.
///
/// - With a queue of another device than the host, at least one of the two devices is not the host.
///
/// @param[in] Queue the queue, or null to wait for the copy (may be NULL)
/// @param[in] DstPtr where to copy to
/// @param[in] DstDevice whose memory that is
/// @param[in] SrcPtr where to copy from
/// @param[in] SrcDevice whose memory that is
/// @param[in] Size how many bytes
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is neither null nor a queue
/// - ::OL_ERRC_INVALID_DEVICE
///   - `DstDevice` or `SrcDevice` is not a device
/// - ::OL_ERRC_INVALID_ARGUMENT
///   - both devices are the host, and `Queue` is another device's
/// - ::OL_ERRC_INVALID_SIZE
///   - an allocation of this library ends before `Size` bytes do
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == DstDevice`
///   - `NULL == SrcDevice`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == DstPtr`
///   - `NULL == SrcPtr`
OL_APIEXPORT ol_result_t OL_APICALL olMemcpy(
    ol_queue_handle_t Queue,
    void *DstPtr,
    ol_device_handle_t DstDevice,
    const void *SrcPtr,
    ol_device_handle_t SrcDevice,
    size_t Size);

/// ::olMemcpy, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olMemcpyWithCodeLoc(
    ol_queue_handle_t Queue,
    void *DstPtr,
    ol_device_handle_t DstDevice,
    const void *SrcPtr,
    ol_device_handle_t SrcDevice,
    size_t Size,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olPlatformRegisterRPCCallback.
typedef struct ol_platform_register_rpc_callback_params_t {
    ol_platform_handle_t *pPlatform;
    ol_platform_rpc_cb_t *pCallback;
} ol_platform_register_rpc_callback_params_t;

/// Has a function answer the calls that kernels of a platform make to the host
///
/// - The function is asked before the library answers itself, and says by its result whether the
///   call is answered.
///
/// @param[in] Platform the platform
/// @param[in] Callback the function
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_PLATFORM
///   - `Platform` is not a platform
/// - ::OL_ERRC_UNSUPPORTED
///   - kernels of the platform cannot call the host
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Platform`
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Callback`
OL_APIEXPORT ol_result_t OL_APICALL olPlatformRegisterRPCCallback(
    ol_platform_handle_t Platform,
    ol_platform_rpc_cb_t Callback);

/// ::olPlatformRegisterRPCCallback, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olPlatformRegisterRPCCallbackWithCodeLoc(
    ol_platform_handle_t Platform,
    ol_platform_rpc_cb_t Callback,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olQueryQueue.
typedef struct ol_query_queue_params_t {
    ol_queue_handle_t *pQueue;
    bool **pIsQueueWorkCompleted;
} ol_query_queue_params_t;

/// Tells, without waiting, whether a queue's work is done
///
/// @param[in] Queue the queue
/// @param[out] IsQueueWorkCompleted receives the answer; null to learn only whether the queue works
/// (may be NULL)
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
OL_APIEXPORT ol_result_t OL_APICALL olQueryQueue(
    ol_queue_handle_t Queue,
    bool *IsQueueWorkCompleted);

/// ::olQueryQueue, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olQueryQueueWithCodeLoc(
    ol_queue_handle_t Queue,
    bool *IsQueueWorkCompleted,
    ol_code_location_t *CodeLocation);

/// Undoes one call of olInit
///
/// - The last one ends the library: whatever was made by it is gone, and calls other than `olInit`
///   return `OL_ERRC_UNINITIALIZED`.
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
OL_APIEXPORT ol_result_t OL_APICALL olShutDown(void);

/// ::olShutDown, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olShutDownWithCodeLoc(ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olSyncEvent.
typedef struct ol_sync_event_params_t {
    ol_event_handle_t *pEvent;
} ol_sync_event_params_t;

/// Waits until an event is complete
///
/// @param[in] Event the event
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_EVENT
///   - `Event` is not an event
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Event`
OL_APIEXPORT ol_result_t OL_APICALL olSyncEvent(ol_event_handle_t Event);

/// ::olSyncEvent, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olSyncEventWithCodeLoc(
    ol_event_handle_t Event,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olSyncQueue.
typedef struct ol_sync_queue_params_t {
    ol_queue_handle_t *pQueue;
} ol_sync_queue_params_t;

/// Waits until a queue's work is done
///
/// @param[in] Queue the queue
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - `NULL == Queue`
OL_APIEXPORT ol_result_t OL_APICALL olSyncQueue(ol_queue_handle_t Queue);

/// ::olSyncQueue, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olSyncQueueWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_code_location_t *CodeLocation);

/// Pointers to the arguments of a call of ::olWaitEvents.
typedef struct ol_wait_events_params_t {
    ol_queue_handle_t *pQueue;
    ol_event_handle_t **pEvents;
    size_t *pNumEvents;
} ol_wait_events_params_t;

/// Has later work of a queue wait for events
///
/// - Does not itself wait: work that is put into the queue from now on begins when all of `Events`
///   are complete.
///
/// - The events may be of any queues of devices of the queue's platform.
///
/// @param[in] Queue the queue that waits
/// @param[in] Events the events to wait for
/// @param[in] NumEvents how many events there are
///
/// @returns
/// - ::OL_SUCCESS
/// - ::OL_ERRC_UNINITIALIZED
///   - the library is not initialised
/// - ::OL_ERRC_INVALID_QUEUE
///   - `Queue` is not a queue
/// - ::OL_ERRC_INVALID_NULL_HANDLE
///   - an element of `Events` is null
///   - `NULL == Queue`
/// - ::OL_ERRC_INVALID_EVENT
///   - an element of `Events` is not an event
/// - ::OL_ERRC_INVALID_NULL_POINTER
///   - `NULL == Events`
OL_APIEXPORT ol_result_t OL_APICALL olWaitEvents(
    ol_queue_handle_t Queue,
    ol_event_handle_t *Events,
    size_t NumEvents);

/// ::olWaitEvents, with the place in the caller's source for error messages and traces.
OL_APIEXPORT ol_result_t OL_APICALL olWaitEventsWithCodeLoc(
    ol_queue_handle_t Queue,
    ol_event_handle_t *Events,
    size_t NumEvents,
    ol_code_location_t *CodeLocation);

#ifdef __cplusplus
}
#endif

#endif /* OL_OFFLOADAPI_H */
