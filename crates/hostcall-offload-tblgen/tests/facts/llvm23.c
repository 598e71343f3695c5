// What the header of LLVM 23's Offload API says, written down independently of any definition: names, values, layouts
// and prototypes.
//
// This file compiles as C11 if and only if `OffloadAPI.h` agrees. A prototype that is declared a second time must be
// the same.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "OffloadAPI.h"

#define IS_TYPE(expression, type) _Static_assert(_Generic((expression), type: 1, default: 0), #expression " is no " #type)
#define MEMBER(object, member, type, offset)                   \
  IS_TYPE(&((object *)0)->member, type *);                     \
  _Static_assert(offsetof(object, member) == (offset), #object "." #member)
#define VALUE(name, value) _Static_assert((name) == (value), #name)

// Handles.

IS_TYPE((ol_context_handle_t)0, struct ol_context_impl_t *);
IS_TYPE((ol_device_handle_t)0, struct ol_device_impl_t *);
IS_TYPE((ol_event_handle_t)0, struct ol_event_impl_t *);
IS_TYPE((ol_platform_handle_t)0, struct ol_platform_impl_t *);
IS_TYPE((ol_program_handle_t)0, struct ol_program_impl_t *);
IS_TYPE((ol_queue_handle_t)0, struct ol_queue_impl_t *);
IS_TYPE((ol_symbol_handle_t)0, struct ol_symbol_impl_t *);

// Enumerations.

_Static_assert(sizeof(ol_alloc_type_t) == 4, "ol_alloc_type_t");
VALUE(OL_ALLOC_TYPE_HOST, 0);
VALUE(OL_ALLOC_TYPE_DEVICE, 1);
VALUE(OL_ALLOC_TYPE_MANAGED, 2);
VALUE(OL_ALLOC_TYPE_LAST, 3);
VALUE(OL_ALLOC_TYPE_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_device_fp_capability_flag_t) == 4, "ol_device_fp_capability_flag_t");
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_CORRECTLY_ROUNDED_DIVIDE_SQRT, 1);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_NEAREST, 2);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_ZERO, 4);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_ROUND_TO_INF, 8);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_INF_NAN, 16);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_DENORM, 32);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_FMA, 64);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_SOFT_FLOAT, 128);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_LAST, 256);
VALUE(OL_DEVICE_FP_CAPABILITY_FLAG_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_device_info_t) == 4, "ol_device_info_t");
VALUE(OL_DEVICE_INFO_TYPE, 0);
VALUE(OL_DEVICE_INFO_PLATFORM, 1);
VALUE(OL_DEVICE_INFO_NAME, 2);
VALUE(OL_DEVICE_INFO_PRODUCT_NAME, 3);
VALUE(OL_DEVICE_INFO_UID, 4);
VALUE(OL_DEVICE_INFO_VENDOR, 5);
VALUE(OL_DEVICE_INFO_DRIVER_VERSION, 6);
VALUE(OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, 7);
VALUE(OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION, 8);
VALUE(OL_DEVICE_INFO_MAX_WORK_SIZE, 9);
VALUE(OL_DEVICE_INFO_MAX_WORK_SIZE_PER_DIMENSION, 10);
VALUE(OL_DEVICE_INFO_VENDOR_ID, 11);
VALUE(OL_DEVICE_INFO_NUM_COMPUTE_UNITS, 12);
VALUE(OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY, 13);
VALUE(OL_DEVICE_INFO_MEMORY_CLOCK_RATE, 14);
VALUE(OL_DEVICE_INFO_ADDRESS_BITS, 15);
VALUE(OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, 16);
VALUE(OL_DEVICE_INFO_GLOBAL_MEM_SIZE, 17);
VALUE(OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE, 18);
VALUE(OL_DEVICE_INFO_SINGLE_FP_CONFIG, 19);
VALUE(OL_DEVICE_INFO_DOUBLE_FP_CONFIG, 20);
VALUE(OL_DEVICE_INFO_HALF_FP_CONFIG, 21);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, 22);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT, 23);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT, 24);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG, 25);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, 26);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE, 27);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF, 28);
VALUE(OL_DEVICE_INFO_SINGLE_FP_SUPPORT, 29);
VALUE(OL_DEVICE_INFO_DOUBLE_FP_SUPPORT, 30);
VALUE(OL_DEVICE_INFO_HALF_FP_SUPPORT, 31);
VALUE(OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT, 32);
VALUE(OL_DEVICE_INFO_LAST, 33);
VALUE(OL_DEVICE_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_device_type_t) == 4, "ol_device_type_t");
VALUE(OL_DEVICE_TYPE_DEFAULT, 0);
VALUE(OL_DEVICE_TYPE_ALL, 1);
VALUE(OL_DEVICE_TYPE_GPU, 2);
VALUE(OL_DEVICE_TYPE_CPU, 3);
VALUE(OL_DEVICE_TYPE_HOST, 4);
VALUE(OL_DEVICE_TYPE_LAST, 5);
VALUE(OL_DEVICE_TYPE_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_errc_t) == 4, "ol_errc_t");
VALUE(OL_ERRC_SUCCESS, 0);
VALUE(OL_ERRC_UNKNOWN, 1);
VALUE(OL_ERRC_HOST_IO, 2);
VALUE(OL_ERRC_INVALID_BINARY, 3);
VALUE(OL_ERRC_INVALID_NULL_POINTER, 4);
VALUE(OL_ERRC_INVALID_ARGUMENT, 5);
VALUE(OL_ERRC_NOT_FOUND, 6);
VALUE(OL_ERRC_OUT_OF_RESOURCES, 7);
VALUE(OL_ERRC_INVALID_SIZE, 8);
VALUE(OL_ERRC_INVALID_ENUMERATION, 9);
VALUE(OL_ERRC_HOST_TOOL_NOT_FOUND, 10);
VALUE(OL_ERRC_INVALID_VALUE, 11);
VALUE(OL_ERRC_UNIMPLEMENTED, 12);
VALUE(OL_ERRC_UNSUPPORTED, 13);
VALUE(OL_ERRC_ASSEMBLE_FAILURE, 14);
VALUE(OL_ERRC_COMPILE_FAILURE, 15);
VALUE(OL_ERRC_LINK_FAILURE, 16);
VALUE(OL_ERRC_BACKEND_FAILURE, 17);
VALUE(OL_ERRC_UNINITIALIZED, 18);
VALUE(OL_ERRC_INVALID_NULL_HANDLE, 19);
VALUE(OL_ERRC_INVALID_PLATFORM, 20);
VALUE(OL_ERRC_INVALID_DEVICE, 21);
VALUE(OL_ERRC_INVALID_QUEUE, 22);
VALUE(OL_ERRC_INVALID_EVENT, 23);
VALUE(OL_ERRC_SYMBOL_KIND, 24);
VALUE(OL_ERRC_LAST, 25);
VALUE(OL_ERRC_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_event_flags_t) == 4, "ol_event_flags_t");
VALUE(OL_EVENT_FLAGS_NONE, 0);
VALUE(OL_EVENT_FLAGS_ENABLE_PROFILING, 1);
VALUE(OL_EVENT_FLAGS_LAST, 2);
VALUE(OL_EVENT_FLAGS_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_event_info_t) == 4, "ol_event_info_t");
VALUE(OL_EVENT_INFO_QUEUE, 0);
VALUE(OL_EVENT_INFO_IS_COMPLETE, 1);
VALUE(OL_EVENT_INFO_LAST, 2);
VALUE(OL_EVENT_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_kernel_launch_prop_type_t) == 4, "ol_kernel_launch_prop_type_t");
VALUE(OL_KERNEL_LAUNCH_PROP_TYPE_NONE, 0);
VALUE(OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE, 1);
VALUE(OL_KERNEL_LAUNCH_PROP_TYPE_LAST, 2);
VALUE(OL_KERNEL_LAUNCH_PROP_TYPE_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_mem_info_t) == 4, "ol_mem_info_t");
VALUE(OL_MEM_INFO_DEVICE, 0);
VALUE(OL_MEM_INFO_BASE, 1);
VALUE(OL_MEM_INFO_SIZE, 2);
VALUE(OL_MEM_INFO_TYPE, 3);
VALUE(OL_MEM_INFO_LAST, 4);
VALUE(OL_MEM_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_mem_migration_flag_t) == 4, "ol_mem_migration_flag_t");
VALUE(OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE, 1);
VALUE(OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST, 2);
VALUE(OL_MEM_MIGRATION_FLAG_LAST, 4);
VALUE(OL_MEM_MIGRATION_FLAG_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_memory_register_flag_t) == 4, "ol_memory_register_flag_t");
VALUE(OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, 1);
VALUE(OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY, 2);
VALUE(OL_MEMORY_REGISTER_FLAG_LAST, 4);
VALUE(OL_MEMORY_REGISTER_FLAG_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_platform_backend_t) == 4, "ol_platform_backend_t");
VALUE(OL_PLATFORM_BACKEND_UNKNOWN, 0);
VALUE(OL_PLATFORM_BACKEND_CUDA, 1);
VALUE(OL_PLATFORM_BACKEND_AMDGPU, 2);
VALUE(OL_PLATFORM_BACKEND_LEVEL_ZERO, 3);
VALUE(OL_PLATFORM_BACKEND_HOST, 4);
VALUE(OL_PLATFORM_BACKEND_LAST, 5);
VALUE(OL_PLATFORM_BACKEND_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_platform_info_t) == 4, "ol_platform_info_t");
VALUE(OL_PLATFORM_INFO_NAME, 0);
VALUE(OL_PLATFORM_INFO_VENDOR_NAME, 1);
VALUE(OL_PLATFORM_INFO_VERSION, 2);
VALUE(OL_PLATFORM_INFO_BACKEND, 3);
VALUE(OL_PLATFORM_INFO_LAST, 4);
VALUE(OL_PLATFORM_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_queue_info_t) == 4, "ol_queue_info_t");
VALUE(OL_QUEUE_INFO_DEVICE, 0);
VALUE(OL_QUEUE_INFO_EMPTY, 1);
VALUE(OL_QUEUE_INFO_LAST, 2);
VALUE(OL_QUEUE_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_symbol_info_t) == 4, "ol_symbol_info_t");
VALUE(OL_SYMBOL_INFO_KIND, 0);
VALUE(OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, 1);
VALUE(OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, 2);
VALUE(OL_SYMBOL_INFO_LAST, 3);
VALUE(OL_SYMBOL_INFO_FORCE_UINT32, 0x7fffffff);
_Static_assert(sizeof(ol_symbol_kind_t) == 4, "ol_symbol_kind_t");
VALUE(OL_SYMBOL_KIND_KERNEL, 0);
VALUE(OL_SYMBOL_KIND_GLOBAL_VARIABLE, 1);
VALUE(OL_SYMBOL_KIND_LAST, 2);
VALUE(OL_SYMBOL_KIND_FORCE_UINT32, 0x7fffffff);

// Typedefs.

IS_TYPE((ol_device_fp_capability_flags_t)0, uint32_t);
IS_TYPE((ol_mem_migration_flags_t)0, uint32_t);
IS_TYPE((ol_memory_register_flags_t)0, uint32_t);
IS_TYPE((ol_result_t)0, const struct ol_error_struct_t *);

// Callbacks.

IS_TYPE((ol_device_iterate_cb_t)0, bool (*)(ol_device_handle_t Device, void* UserData));
IS_TYPE((ol_host_function_cb_t)0, void (*)(void* UserData));
IS_TYPE((ol_platform_rpc_cb_t)0, unsigned (*)(void* Port, unsigned NumLanes));

// Structures, on a 64-bit system.

MEMBER(ol_code_location_t, FunctionName, const char *, 0);
MEMBER(ol_code_location_t, SourceFile, const char *, 8);
MEMBER(ol_code_location_t, LineNumber, uint32_t, 16);
MEMBER(ol_code_location_t, ColumnNumber, uint32_t, 20);
_Static_assert(sizeof(ol_code_location_t) == 24, "ol_code_location_t");
MEMBER(ol_dimensions_t, x, uint32_t, 0);
MEMBER(ol_dimensions_t, y, uint32_t, 4);
MEMBER(ol_dimensions_t, z, uint32_t, 8);
_Static_assert(sizeof(ol_dimensions_t) == 12, "ol_dimensions_t");
MEMBER(ol_error_struct_t, Code, ol_errc_t, 0);
MEMBER(ol_error_struct_t, Details, const char *, 8);
_Static_assert(sizeof(ol_error_struct_t) == 16, "ol_error_struct_t");
MEMBER(ol_init_args_t, Size, size_t, 0);
MEMBER(ol_init_args_t, NumPlatforms, uint32_t, 8);
MEMBER(ol_init_args_t, Platforms, const ol_platform_backend_t *, 16);
_Static_assert(sizeof(ol_init_args_t) == 24, "ol_init_args_t");
MEMBER(ol_kernel_launch_prop_t, type, ol_kernel_launch_prop_type_t, 0);
MEMBER(ol_kernel_launch_prop_t, data, void *, 8);
_Static_assert(sizeof(ol_kernel_launch_prop_t) == 16, "ol_kernel_launch_prop_t");
MEMBER(ol_kernel_launch_size_args_t, Dimensions, size_t, 0);
MEMBER(ol_kernel_launch_size_args_t, NumGroups, struct ol_dimensions_t, 8);
MEMBER(ol_kernel_launch_size_args_t, GroupSize, struct ol_dimensions_t, 20);
MEMBER(ol_kernel_launch_size_args_t, DynSharedMemory, size_t, 32);
_Static_assert(sizeof(ol_kernel_launch_size_args_t) == 40, "ol_kernel_launch_size_args_t");

// Macros.

VALUE(OL_VERSION_MAJOR, 0);
VALUE(OL_VERSION_MINOR, 0);
VALUE(OL_VERSION_PATCH, 1);
static inline ol_result_t succeeds(void) { return OL_SUCCESS; }
static inline ol_init_args_t init_args(void) {
  ol_init_args_t args = OL_INIT_ARGS_INIT;
  return args;
}
static inline ol_kernel_launch_prop_t launch_end(void) {
  ol_kernel_launch_prop_t end = OL_KERNEL_LAUNCH_PROP_END;
  return end;
}

// Functions, each with its variant and the structure of pointers to its parameters.

ol_result_t olCalculateOptimalOccupancy(ol_device_handle_t Device, ol_symbol_handle_t Kernel, size_t SharedMemory, size_t* GroupSize);
ol_result_t olCalculateOptimalOccupancyWithCodeLoc(ol_device_handle_t Device, ol_symbol_handle_t Kernel, size_t SharedMemory, size_t* GroupSize, ol_code_location_t *CodeLocation);
MEMBER(ol_calculate_optimal_occupancy_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_calculate_optimal_occupancy_params_t, pKernel, ol_symbol_handle_t *, 8);
MEMBER(ol_calculate_optimal_occupancy_params_t, pSharedMemory, size_t *, 16);
MEMBER(ol_calculate_optimal_occupancy_params_t, pGroupSize, size_t* *, 24);
_Static_assert(sizeof(ol_calculate_optimal_occupancy_params_t) == 32, "ol_calculate_optimal_occupancy_params_t");

ol_result_t olCreateEvent(ol_queue_handle_t Queue, ol_event_flags_t Flags, ol_event_handle_t* Event);
ol_result_t olCreateEventWithCodeLoc(ol_queue_handle_t Queue, ol_event_flags_t Flags, ol_event_handle_t* Event, ol_code_location_t *CodeLocation);
MEMBER(ol_create_event_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_create_event_params_t, pFlags, ol_event_flags_t *, 8);
MEMBER(ol_create_event_params_t, pEvent, ol_event_handle_t* *, 16);
_Static_assert(sizeof(ol_create_event_params_t) == 24, "ol_create_event_params_t");

ol_result_t olCreateProgram(ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, ol_program_handle_t* Program);
ol_result_t olCreateProgramWithCodeLoc(ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, ol_program_handle_t* Program, ol_code_location_t *CodeLocation);
MEMBER(ol_create_program_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_create_program_params_t, pProgData, const void* *, 8);
MEMBER(ol_create_program_params_t, pProgDataSize, size_t *, 16);
MEMBER(ol_create_program_params_t, pProgram, ol_program_handle_t* *, 24);
_Static_assert(sizeof(ol_create_program_params_t) == 32, "ol_create_program_params_t");

ol_result_t olCreateQueue(ol_device_handle_t Device, ol_queue_handle_t* Queue);
ol_result_t olCreateQueueWithCodeLoc(ol_device_handle_t Device, ol_queue_handle_t* Queue, ol_code_location_t *CodeLocation);
MEMBER(ol_create_queue_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_create_queue_params_t, pQueue, ol_queue_handle_t* *, 8);
_Static_assert(sizeof(ol_create_queue_params_t) == 16, "ol_create_queue_params_t");

ol_result_t olDestroyEvent(ol_event_handle_t Event);
ol_result_t olDestroyEventWithCodeLoc(ol_event_handle_t Event, ol_code_location_t *CodeLocation);
MEMBER(ol_destroy_event_params_t, pEvent, ol_event_handle_t *, 0);
_Static_assert(sizeof(ol_destroy_event_params_t) == 8, "ol_destroy_event_params_t");

ol_result_t olDestroyProgram(ol_program_handle_t Program);
ol_result_t olDestroyProgramWithCodeLoc(ol_program_handle_t Program, ol_code_location_t *CodeLocation);
MEMBER(ol_destroy_program_params_t, pProgram, ol_program_handle_t *, 0);
_Static_assert(sizeof(ol_destroy_program_params_t) == 8, "ol_destroy_program_params_t");

ol_result_t olDestroyQueue(ol_queue_handle_t Queue);
ol_result_t olDestroyQueueWithCodeLoc(ol_queue_handle_t Queue, ol_code_location_t *CodeLocation);
MEMBER(ol_destroy_queue_params_t, pQueue, ol_queue_handle_t *, 0);
_Static_assert(sizeof(ol_destroy_queue_params_t) == 8, "ol_destroy_queue_params_t");

ol_result_t olGetDeviceInfo(ol_device_handle_t Device, ol_device_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetDeviceInfoWithCodeLoc(ol_device_handle_t Device, ol_device_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_device_info_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_get_device_info_params_t, pPropName, ol_device_info_t *, 8);
MEMBER(ol_get_device_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_device_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_device_info_params_t) == 32, "ol_get_device_info_params_t");

ol_result_t olGetDeviceInfoSize(ol_device_handle_t Device, ol_device_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetDeviceInfoSizeWithCodeLoc(ol_device_handle_t Device, ol_device_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_device_info_size_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_get_device_info_size_params_t, pPropName, ol_device_info_t *, 8);
MEMBER(ol_get_device_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_device_info_size_params_t) == 24, "ol_get_device_info_size_params_t");

ol_result_t olGetEventElapsedTime(ol_event_handle_t StartEvent, ol_event_handle_t EndEvent, float* ElapsedTime);
ol_result_t olGetEventElapsedTimeWithCodeLoc(ol_event_handle_t StartEvent, ol_event_handle_t EndEvent, float* ElapsedTime, ol_code_location_t *CodeLocation);
MEMBER(ol_get_event_elapsed_time_params_t, pStartEvent, ol_event_handle_t *, 0);
MEMBER(ol_get_event_elapsed_time_params_t, pEndEvent, ol_event_handle_t *, 8);
MEMBER(ol_get_event_elapsed_time_params_t, pElapsedTime, float* *, 16);
_Static_assert(sizeof(ol_get_event_elapsed_time_params_t) == 24, "ol_get_event_elapsed_time_params_t");

ol_result_t olGetEventInfo(ol_event_handle_t Event, ol_event_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetEventInfoWithCodeLoc(ol_event_handle_t Event, ol_event_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_event_info_params_t, pEvent, ol_event_handle_t *, 0);
MEMBER(ol_get_event_info_params_t, pPropName, ol_event_info_t *, 8);
MEMBER(ol_get_event_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_event_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_event_info_params_t) == 32, "ol_get_event_info_params_t");

ol_result_t olGetEventInfoSize(ol_event_handle_t Event, ol_event_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetEventInfoSizeWithCodeLoc(ol_event_handle_t Event, ol_event_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_event_info_size_params_t, pEvent, ol_event_handle_t *, 0);
MEMBER(ol_get_event_info_size_params_t, pPropName, ol_event_info_t *, 8);
MEMBER(ol_get_event_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_event_info_size_params_t) == 24, "ol_get_event_info_size_params_t");

ol_result_t olGetKernelMaxCooperativeGroupCount(ol_device_handle_t Device, ol_symbol_handle_t Kernel, const ol_kernel_launch_size_args_t* LaunchSizeArgs, uint32_t* MaxGroupCount);
ol_result_t olGetKernelMaxCooperativeGroupCountWithCodeLoc(ol_device_handle_t Device, ol_symbol_handle_t Kernel, const ol_kernel_launch_size_args_t* LaunchSizeArgs, uint32_t* MaxGroupCount, ol_code_location_t *CodeLocation);
MEMBER(ol_get_kernel_max_cooperative_group_count_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_get_kernel_max_cooperative_group_count_params_t, pKernel, ol_symbol_handle_t *, 8);
MEMBER(ol_get_kernel_max_cooperative_group_count_params_t, pLaunchSizeArgs, const ol_kernel_launch_size_args_t* *, 16);
MEMBER(ol_get_kernel_max_cooperative_group_count_params_t, pMaxGroupCount, uint32_t* *, 24);
_Static_assert(sizeof(ol_get_kernel_max_cooperative_group_count_params_t) == 32, "ol_get_kernel_max_cooperative_group_count_params_t");

ol_result_t olGetMemInfo(const void* Ptr, ol_mem_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetMemInfoWithCodeLoc(const void* Ptr, ol_mem_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_mem_info_params_t, pPtr, const void* *, 0);
MEMBER(ol_get_mem_info_params_t, pPropName, ol_mem_info_t *, 8);
MEMBER(ol_get_mem_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_mem_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_mem_info_params_t) == 32, "ol_get_mem_info_params_t");

ol_result_t olGetMemInfoSize(const void* Ptr, ol_mem_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetMemInfoSizeWithCodeLoc(const void* Ptr, ol_mem_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_mem_info_size_params_t, pPtr, const void* *, 0);
MEMBER(ol_get_mem_info_size_params_t, pPropName, ol_mem_info_t *, 8);
MEMBER(ol_get_mem_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_mem_info_size_params_t) == 24, "ol_get_mem_info_size_params_t");

ol_result_t olGetPlatformInfo(ol_platform_handle_t Platform, ol_platform_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetPlatformInfoWithCodeLoc(ol_platform_handle_t Platform, ol_platform_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_platform_info_params_t, pPlatform, ol_platform_handle_t *, 0);
MEMBER(ol_get_platform_info_params_t, pPropName, ol_platform_info_t *, 8);
MEMBER(ol_get_platform_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_platform_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_platform_info_params_t) == 32, "ol_get_platform_info_params_t");

ol_result_t olGetPlatformInfoSize(ol_platform_handle_t Platform, ol_platform_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetPlatformInfoSizeWithCodeLoc(ol_platform_handle_t Platform, ol_platform_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_platform_info_size_params_t, pPlatform, ol_platform_handle_t *, 0);
MEMBER(ol_get_platform_info_size_params_t, pPropName, ol_platform_info_t *, 8);
MEMBER(ol_get_platform_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_platform_info_size_params_t) == 24, "ol_get_platform_info_size_params_t");

ol_result_t olGetQueueInfo(ol_queue_handle_t Queue, ol_queue_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetQueueInfoWithCodeLoc(ol_queue_handle_t Queue, ol_queue_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_queue_info_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_get_queue_info_params_t, pPropName, ol_queue_info_t *, 8);
MEMBER(ol_get_queue_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_queue_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_queue_info_params_t) == 32, "ol_get_queue_info_params_t");

ol_result_t olGetQueueInfoSize(ol_queue_handle_t Queue, ol_queue_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetQueueInfoSizeWithCodeLoc(ol_queue_handle_t Queue, ol_queue_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_queue_info_size_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_get_queue_info_size_params_t, pPropName, ol_queue_info_t *, 8);
MEMBER(ol_get_queue_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_queue_info_size_params_t) == 24, "ol_get_queue_info_size_params_t");

ol_result_t olGetSymbol(ol_program_handle_t Program, const char* Name, ol_symbol_kind_t Kind, ol_symbol_handle_t* Symbol);
ol_result_t olGetSymbolWithCodeLoc(ol_program_handle_t Program, const char* Name, ol_symbol_kind_t Kind, ol_symbol_handle_t* Symbol, ol_code_location_t *CodeLocation);
MEMBER(ol_get_symbol_params_t, pProgram, ol_program_handle_t *, 0);
MEMBER(ol_get_symbol_params_t, pName, const char* *, 8);
MEMBER(ol_get_symbol_params_t, pKind, ol_symbol_kind_t *, 16);
MEMBER(ol_get_symbol_params_t, pSymbol, ol_symbol_handle_t* *, 24);
_Static_assert(sizeof(ol_get_symbol_params_t) == 32, "ol_get_symbol_params_t");

ol_result_t olGetSymbolInfo(ol_symbol_handle_t Symbol, ol_symbol_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetSymbolInfoWithCodeLoc(ol_symbol_handle_t Symbol, ol_symbol_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
MEMBER(ol_get_symbol_info_params_t, pSymbol, ol_symbol_handle_t *, 0);
MEMBER(ol_get_symbol_info_params_t, pPropName, ol_symbol_info_t *, 8);
MEMBER(ol_get_symbol_info_params_t, pPropSize, size_t *, 16);
MEMBER(ol_get_symbol_info_params_t, pPropValue, void* *, 24);
_Static_assert(sizeof(ol_get_symbol_info_params_t) == 32, "ol_get_symbol_info_params_t");

ol_result_t olGetSymbolInfoSize(ol_symbol_handle_t Symbol, ol_symbol_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetSymbolInfoSizeWithCodeLoc(ol_symbol_handle_t Symbol, ol_symbol_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
MEMBER(ol_get_symbol_info_size_params_t, pSymbol, ol_symbol_handle_t *, 0);
MEMBER(ol_get_symbol_info_size_params_t, pPropName, ol_symbol_info_t *, 8);
MEMBER(ol_get_symbol_info_size_params_t, pPropSizeRet, size_t* *, 16);
_Static_assert(sizeof(ol_get_symbol_info_size_params_t) == 24, "ol_get_symbol_info_size_params_t");

ol_result_t olInit(const ol_init_args_t* InitArgs);
ol_result_t olInitWithCodeLoc(const ol_init_args_t* InitArgs, ol_code_location_t *CodeLocation);
MEMBER(ol_init_params_t, pInitArgs, const ol_init_args_t* *, 0);
_Static_assert(sizeof(ol_init_params_t) == 8, "ol_init_params_t");

ol_result_t olIsValidBinary(ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, bool* Valid);
ol_result_t olIsValidBinaryWithCodeLoc(ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, bool* Valid, ol_code_location_t *CodeLocation);
MEMBER(ol_is_valid_binary_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_is_valid_binary_params_t, pProgData, const void* *, 8);
MEMBER(ol_is_valid_binary_params_t, pProgDataSize, size_t *, 16);
MEMBER(ol_is_valid_binary_params_t, pValid, bool* *, 24);
_Static_assert(sizeof(ol_is_valid_binary_params_t) == 32, "ol_is_valid_binary_params_t");

ol_result_t olIterateDevices(ol_device_iterate_cb_t Callback, void* UserData);
ol_result_t olIterateDevicesWithCodeLoc(ol_device_iterate_cb_t Callback, void* UserData, ol_code_location_t *CodeLocation);
MEMBER(ol_iterate_devices_params_t, pCallback, ol_device_iterate_cb_t *, 0);
MEMBER(ol_iterate_devices_params_t, pUserData, void* *, 8);
_Static_assert(sizeof(ol_iterate_devices_params_t) == 16, "ol_iterate_devices_params_t");

ol_result_t olLaunchHostFunction(ol_queue_handle_t Queue, ol_host_function_cb_t Callback, void* UserData);
ol_result_t olLaunchHostFunctionWithCodeLoc(ol_queue_handle_t Queue, ol_host_function_cb_t Callback, void* UserData, ol_code_location_t *CodeLocation);
MEMBER(ol_launch_host_function_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_launch_host_function_params_t, pCallback, ol_host_function_cb_t *, 8);
MEMBER(ol_launch_host_function_params_t, pUserData, void* *, 16);
_Static_assert(sizeof(ol_launch_host_function_params_t) == 24, "ol_launch_host_function_params_t");

ol_result_t olLaunchKernel(ol_queue_handle_t Queue, ol_device_handle_t Device, ol_symbol_handle_t Kernel, const ol_kernel_launch_size_args_t* LaunchSizeArgs, const ol_kernel_launch_prop_t* Properties, size_t NumArgs, void** ArgPtrs, const size_t* ArgSizes);
ol_result_t olLaunchKernelWithCodeLoc(ol_queue_handle_t Queue, ol_device_handle_t Device, ol_symbol_handle_t Kernel, const ol_kernel_launch_size_args_t* LaunchSizeArgs, const ol_kernel_launch_prop_t* Properties, size_t NumArgs, void** ArgPtrs, const size_t* ArgSizes, ol_code_location_t *CodeLocation);
MEMBER(ol_launch_kernel_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_launch_kernel_params_t, pDevice, ol_device_handle_t *, 8);
MEMBER(ol_launch_kernel_params_t, pKernel, ol_symbol_handle_t *, 16);
MEMBER(ol_launch_kernel_params_t, pLaunchSizeArgs, const ol_kernel_launch_size_args_t* *, 24);
MEMBER(ol_launch_kernel_params_t, pProperties, const ol_kernel_launch_prop_t* *, 32);
MEMBER(ol_launch_kernel_params_t, pNumArgs, size_t *, 40);
MEMBER(ol_launch_kernel_params_t, pArgPtrs, void** *, 48);
MEMBER(ol_launch_kernel_params_t, pArgSizes, const size_t* *, 56);
_Static_assert(sizeof(ol_launch_kernel_params_t) == 64, "ol_launch_kernel_params_t");

ol_result_t olMemAlloc(ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, void** AllocationOut);
ol_result_t olMemAllocWithCodeLoc(ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, void** AllocationOut, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_alloc_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_mem_alloc_params_t, pType, ol_alloc_type_t *, 8);
MEMBER(ol_mem_alloc_params_t, pSize, size_t *, 16);
MEMBER(ol_mem_alloc_params_t, pAllocationOut, void** *, 24);
_Static_assert(sizeof(ol_mem_alloc_params_t) == 32, "ol_mem_alloc_params_t");

ol_result_t olMemAllocAligned(ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, size_t Alignment, void** AllocationOut);
ol_result_t olMemAllocAlignedWithCodeLoc(ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, size_t Alignment, void** AllocationOut, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_alloc_aligned_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_mem_alloc_aligned_params_t, pType, ol_alloc_type_t *, 8);
MEMBER(ol_mem_alloc_aligned_params_t, pSize, size_t *, 16);
MEMBER(ol_mem_alloc_aligned_params_t, pAlignment, size_t *, 24);
MEMBER(ol_mem_alloc_aligned_params_t, pAllocationOut, void** *, 32);
_Static_assert(sizeof(ol_mem_alloc_aligned_params_t) == 40, "ol_mem_alloc_aligned_params_t");

ol_result_t olMemFill(ol_queue_handle_t Queue, void* Ptr, size_t PatternSize, const void* PatternPtr, size_t FillSize);
ol_result_t olMemFillWithCodeLoc(ol_queue_handle_t Queue, void* Ptr, size_t PatternSize, const void* PatternPtr, size_t FillSize, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_fill_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_mem_fill_params_t, pPtr, void* *, 8);
MEMBER(ol_mem_fill_params_t, pPatternSize, size_t *, 16);
MEMBER(ol_mem_fill_params_t, pPatternPtr, const void* *, 24);
MEMBER(ol_mem_fill_params_t, pFillSize, size_t *, 32);
_Static_assert(sizeof(ol_mem_fill_params_t) == 40, "ol_mem_fill_params_t");

ol_result_t olMemFree(void* Address);
ol_result_t olMemFreeWithCodeLoc(void* Address, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_free_params_t, pAddress, void* *, 0);
_Static_assert(sizeof(ol_mem_free_params_t) == 8, "ol_mem_free_params_t");

ol_result_t olMemPrefetch(ol_queue_handle_t Queue, size_t Count, const void** Mems, const size_t* Sizes, ol_mem_migration_flags_t Flags);
ol_result_t olMemPrefetchWithCodeLoc(ol_queue_handle_t Queue, size_t Count, const void** Mems, const size_t* Sizes, ol_mem_migration_flags_t Flags, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_prefetch_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_mem_prefetch_params_t, pCount, size_t *, 8);
MEMBER(ol_mem_prefetch_params_t, pMems, const void** *, 16);
MEMBER(ol_mem_prefetch_params_t, pSizes, const size_t* *, 24);
MEMBER(ol_mem_prefetch_params_t, pFlags, ol_mem_migration_flags_t *, 32);
_Static_assert(sizeof(ol_mem_prefetch_params_t) == 40, "ol_mem_prefetch_params_t");

ol_result_t olMemRegister(ol_device_handle_t Device, void* Ptr, size_t Size, ol_memory_register_flags_t Flags, void** PinnedPtr);
ol_result_t olMemRegisterWithCodeLoc(ol_device_handle_t Device, void* Ptr, size_t Size, ol_memory_register_flags_t Flags, void** PinnedPtr, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_register_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_mem_register_params_t, pPtr, void* *, 8);
MEMBER(ol_mem_register_params_t, pSize, size_t *, 16);
MEMBER(ol_mem_register_params_t, pFlags, ol_memory_register_flags_t *, 24);
MEMBER(ol_mem_register_params_t, pPinnedPtr, void** *, 32);
_Static_assert(sizeof(ol_mem_register_params_t) == 40, "ol_mem_register_params_t");

ol_result_t olMemUnregister(ol_device_handle_t Device, void* Ptr, ol_memory_register_flags_t Flags);
ol_result_t olMemUnregisterWithCodeLoc(ol_device_handle_t Device, void* Ptr, ol_memory_register_flags_t Flags, ol_code_location_t *CodeLocation);
MEMBER(ol_mem_unregister_params_t, pDevice, ol_device_handle_t *, 0);
MEMBER(ol_mem_unregister_params_t, pPtr, void* *, 8);
MEMBER(ol_mem_unregister_params_t, pFlags, ol_memory_register_flags_t *, 16);
_Static_assert(sizeof(ol_mem_unregister_params_t) == 24, "ol_mem_unregister_params_t");

ol_result_t olMemcpy(ol_queue_handle_t Queue, void* DstPtr, ol_device_handle_t DstDevice, const void* SrcPtr, ol_device_handle_t SrcDevice, size_t Size);
ol_result_t olMemcpyWithCodeLoc(ol_queue_handle_t Queue, void* DstPtr, ol_device_handle_t DstDevice, const void* SrcPtr, ol_device_handle_t SrcDevice, size_t Size, ol_code_location_t *CodeLocation);
MEMBER(ol_memcpy_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_memcpy_params_t, pDstPtr, void* *, 8);
MEMBER(ol_memcpy_params_t, pDstDevice, ol_device_handle_t *, 16);
MEMBER(ol_memcpy_params_t, pSrcPtr, const void* *, 24);
MEMBER(ol_memcpy_params_t, pSrcDevice, ol_device_handle_t *, 32);
MEMBER(ol_memcpy_params_t, pSize, size_t *, 40);
_Static_assert(sizeof(ol_memcpy_params_t) == 48, "ol_memcpy_params_t");

ol_result_t olPlatformRegisterRPCCallback(ol_platform_handle_t Platform, ol_platform_rpc_cb_t Callback);
ol_result_t olPlatformRegisterRPCCallbackWithCodeLoc(ol_platform_handle_t Platform, ol_platform_rpc_cb_t Callback, ol_code_location_t *CodeLocation);
MEMBER(ol_platform_register_rpc_callback_params_t, pPlatform, ol_platform_handle_t *, 0);
MEMBER(ol_platform_register_rpc_callback_params_t, pCallback, ol_platform_rpc_cb_t *, 8);
_Static_assert(sizeof(ol_platform_register_rpc_callback_params_t) == 16, "ol_platform_register_rpc_callback_params_t");

ol_result_t olQueryQueue(ol_queue_handle_t Queue, bool* IsQueueWorkCompleted);
ol_result_t olQueryQueueWithCodeLoc(ol_queue_handle_t Queue, bool* IsQueueWorkCompleted, ol_code_location_t *CodeLocation);
MEMBER(ol_query_queue_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_query_queue_params_t, pIsQueueWorkCompleted, bool* *, 8);
_Static_assert(sizeof(ol_query_queue_params_t) == 16, "ol_query_queue_params_t");

ol_result_t olShutDown(void);
ol_result_t olShutDownWithCodeLoc(ol_code_location_t *CodeLocation);

ol_result_t olSyncEvent(ol_event_handle_t Event);
ol_result_t olSyncEventWithCodeLoc(ol_event_handle_t Event, ol_code_location_t *CodeLocation);
MEMBER(ol_sync_event_params_t, pEvent, ol_event_handle_t *, 0);
_Static_assert(sizeof(ol_sync_event_params_t) == 8, "ol_sync_event_params_t");

ol_result_t olSyncQueue(ol_queue_handle_t Queue);
ol_result_t olSyncQueueWithCodeLoc(ol_queue_handle_t Queue, ol_code_location_t *CodeLocation);
MEMBER(ol_sync_queue_params_t, pQueue, ol_queue_handle_t *, 0);
_Static_assert(sizeof(ol_sync_queue_params_t) == 8, "ol_sync_queue_params_t");

ol_result_t olWaitEvents(ol_queue_handle_t Queue, ol_event_handle_t* Events, size_t NumEvents);
ol_result_t olWaitEventsWithCodeLoc(ol_queue_handle_t Queue, ol_event_handle_t* Events, size_t NumEvents, ol_code_location_t *CodeLocation);
MEMBER(ol_wait_events_params_t, pQueue, ol_queue_handle_t *, 0);
MEMBER(ol_wait_events_params_t, pEvents, ol_event_handle_t* *, 8);
MEMBER(ol_wait_events_params_t, pNumEvents, size_t *, 16);
_Static_assert(sizeof(ol_wait_events_params_t) == 24, "ol_wait_events_params_t");

int main(void) { return succeeds() != OL_SUCCESS || init_args().Size == 0 || launch_end().type != OL_KERNEL_LAUNCH_PROP_TYPE_NONE; }
