// What the header of LLVM 24's Offload API says otherwise than that of LLVM 23, written down independently of any
// definition: enumerators that are new or have another number, and prototypes that are new or have other parameters.
// (What they share is in llvm23.c.)
//
// This file compiles as C11 if and only if `OffloadAPI.h` agrees. A prototype that is declared a second time must be
// the same.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "OffloadAPI.h"

#define VALUE(name, value) _Static_assert((name) == (value), #name)

VALUE(OL_DEVICE_INFO_NUM_LANES, 19);
VALUE(OL_DEVICE_INFO_SINGLE_FP_CONFIG, 20);
VALUE(OL_DEVICE_INFO_DOUBLE_FP_CONFIG, 21);
VALUE(OL_DEVICE_INFO_HALF_FP_CONFIG, 22);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, 23);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT, 24);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT, 25);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG, 26);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, 27);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE, 28);
VALUE(OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_HALF, 29);
VALUE(OL_DEVICE_INFO_SINGLE_FP_SUPPORT, 30);
VALUE(OL_DEVICE_INFO_DOUBLE_FP_SUPPORT, 31);
VALUE(OL_DEVICE_INFO_HALF_FP_SUPPORT, 32);
VALUE(OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT, 33);
VALUE(OL_DEVICE_INFO_DRIVER_ID, 34);
VALUE(OL_DEVICE_INFO_COMPUTE_UNIT_KIND, 35);
VALUE(OL_DEVICE_INFO_TIMESTAMP_FREQUENCY, 36);
VALUE(OL_DEVICE_INFO_HARDWARE_PARALLELISM, 37);
VALUE(OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE, 38);
VALUE(OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS, 39);
VALUE(OL_DEVICE_INFO_LAST, 40);
VALUE(OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE, 18);
VALUE(OL_ERRC_INVALID_EVENT, 23);
VALUE(OL_ERRC_INVALID_CONTEXT, 24);
VALUE(OL_ERRC_SYMBOL_KIND, 25);
VALUE(OL_ERRC_LAST, 26);
VALUE(OL_PLATFORM_INFO_ACTIVE, 4);
VALUE(OL_QUEUE_INFO_DEVICE, 0);
VALUE(OL_QUEUE_INFO_CONTEXT, 1);
VALUE(OL_QUEUE_INFO_EMPTY, 2);
VALUE(OL_SYMBOL_INFO_NAME, 3);
VALUE(OL_CONTEXT_INFO_NUM_DEVICES, 0);
VALUE(OL_CONTEXT_INFO_DEVICES, 1);
VALUE(OL_CONTEXT_INFO_PLATFORM, 2);
VALUE(OL_VERSION_PATCH, 1);

static bool platform(ol_platform_handle_t Platform, void *UserData) { return !Platform && !UserData; }
static bool symbol(ol_symbol_handle_t Symbol, void *UserData) { return !Symbol && !UserData; }
const ol_platform_iterate_cb_t platforms = platform;
const ol_symbol_iterate_cb_t symbols = symbol;

ol_result_t olCreateContext(size_t DevicesCount, ol_device_handle_t* Devices, ol_context_handle_t* Context);
ol_result_t olCreateContextWithCodeLoc(size_t DevicesCount, ol_device_handle_t* Devices, ol_context_handle_t* Context, ol_code_location_t *CodeLocation);
ol_result_t olCreateProgram(ol_context_handle_t Context, ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, ol_program_handle_t* Program);
ol_result_t olCreateProgramWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, const void* ProgData, size_t ProgDataSize, ol_program_handle_t* Program, ol_code_location_t *CodeLocation);
ol_result_t olCreateQueue(ol_context_handle_t Context, ol_device_handle_t Device, ol_queue_handle_t* Queue);
ol_result_t olCreateQueueWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, ol_queue_handle_t* Queue, ol_code_location_t *CodeLocation);
ol_result_t olDestroyContext(ol_context_handle_t Context);
ol_result_t olDestroyContextWithCodeLoc(ol_context_handle_t Context, ol_code_location_t *CodeLocation);
ol_result_t olGetContextInfo(ol_context_handle_t Context, ol_context_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetContextInfoWithCodeLoc(ol_context_handle_t Context, ol_context_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
ol_result_t olGetContextInfoSize(ol_context_handle_t Context, ol_context_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetContextInfoSizeWithCodeLoc(ol_context_handle_t Context, ol_context_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
ol_result_t olGetMemInfo(ol_context_handle_t Context, const void* Ptr, ol_mem_info_t PropName, size_t PropSize, void* PropValue);
ol_result_t olGetMemInfoWithCodeLoc(ol_context_handle_t Context, const void* Ptr, ol_mem_info_t PropName, size_t PropSize, void* PropValue, ol_code_location_t *CodeLocation);
ol_result_t olGetMemInfoSize(ol_context_handle_t Context, const void* Ptr, ol_mem_info_t PropName, size_t* PropSizeRet);
ol_result_t olGetMemInfoSizeWithCodeLoc(ol_context_handle_t Context, const void* Ptr, ol_mem_info_t PropName, size_t* PropSizeRet, ol_code_location_t *CodeLocation);
ol_result_t olIterateCompatibleDevices(const void* ProgData, size_t ProgDataSize, ol_device_iterate_cb_t Callback, void* UserData);
ol_result_t olIterateCompatibleDevicesWithCodeLoc(const void* ProgData, size_t ProgDataSize, ol_device_iterate_cb_t Callback, void* UserData, ol_code_location_t *CodeLocation);
ol_result_t olIteratePlatforms(ol_platform_iterate_cb_t Callback, void* UserData);
ol_result_t olIteratePlatformsWithCodeLoc(ol_platform_iterate_cb_t Callback, void* UserData, ol_code_location_t *CodeLocation);
ol_result_t olIterateSymbols(ol_program_handle_t Program, ol_symbol_kind_t Kind, ol_symbol_iterate_cb_t Callback, void* UserData);
ol_result_t olIterateSymbolsWithCodeLoc(ol_program_handle_t Program, ol_symbol_kind_t Kind, ol_symbol_iterate_cb_t Callback, void* UserData, ol_code_location_t *CodeLocation);
ol_result_t olMemAlloc(ol_context_handle_t Context, ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, void** AllocationOut);
ol_result_t olMemAllocWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, void** AllocationOut, ol_code_location_t *CodeLocation);
ol_result_t olMemAllocAligned(ol_context_handle_t Context, ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, size_t Alignment, void** AllocationOut);
ol_result_t olMemAllocAlignedWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, ol_alloc_type_t Type, size_t Size, size_t Alignment, void** AllocationOut, ol_code_location_t *CodeLocation);
ol_result_t olMemAllocAlignedHost(ol_context_handle_t Context, ol_device_handle_t Device, size_t Size, size_t Alignment, void** AllocationOut);
ol_result_t olMemAllocAlignedHostWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, size_t Size, size_t Alignment, void** AllocationOut, ol_code_location_t *CodeLocation);
ol_result_t olMemAllocHost(ol_context_handle_t Context, ol_device_handle_t Device, size_t Size, void** AllocationOut);
ol_result_t olMemAllocHostWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, size_t Size, void** AllocationOut, ol_code_location_t *CodeLocation);
ol_result_t olMemFree(ol_context_handle_t Context, void* Address);
ol_result_t olMemFreeWithCodeLoc(ol_context_handle_t Context, void* Address, ol_code_location_t *CodeLocation);
ol_result_t olMemIsAccessible(ol_context_handle_t Context, ol_device_handle_t Device, const void* Ptr, size_t Size, bool* IsAccessible);
ol_result_t olMemIsAccessibleWithCodeLoc(ol_context_handle_t Context, ol_device_handle_t Device, const void* Ptr, size_t Size, bool* IsAccessible, ol_code_location_t *CodeLocation);
