/*
 * Calls that succeed on a device, for every function: the fixture of the generated conformance tests.
 *
 * OFFLOAD_TEST_IMAGE names an image of ../images/kernels.c; the device is the first that can load it.
 */
#include <OffloadAPI.h>
#if OFFLOAD_API_LLVM >= 24
/* What LLVM 24's functions want besides. */
#include "with_contexts.h"
#define IN_CONTEXT params->pContext = &now.context;
#else
#define IN_CONTEXT
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fixture(const char *function, void *call);

static char image[1 << 24];
static size_t image_size;
static ol_device_handle_t first;

/* What arguments point to. The test before may have changed any of them. */
static struct {
    ol_device_handle_t device;
    ol_platform_handle_t platform;
#if OFFLOAD_API_LLVM >= 24
    ol_context_handle_t context, made_context, *context_pointer;
    ol_context_info_t context_info;
    ol_device_handle_t *devices;
    ol_platform_iterate_cb_t iterate_platforms;
    ol_symbol_iterate_cb_t iterate_symbols;
#endif
    ol_queue_handle_t queue, no_queue, made_queue;
    ol_event_handle_t event, made_event, *events;
    ol_program_handle_t program, made_program;
    ol_symbol_handle_t kernel, variable, made_symbol;
    void *memory, *made_memory, *nowhere, *pattern_pointer, *value;
    const void *pattern, *data, *pieces[1], **piece_list;
    size_t size, one, zero, pattern_size, alignment, number, piece_size[1];
    const size_t *piece_sizes;
    ol_device_info_t device_info;
    ol_platform_info_t platform_info;
    ol_queue_info_t queue_info;
    ol_event_info_t event_info;
    ol_mem_info_t mem_info;
    ol_symbol_info_t symbol_info;
    ol_symbol_kind_t kind;
    ol_alloc_type_t type;
    ol_event_flags_t event_flags;
    uint32_t flags;
    const char *name;
    ol_kernel_launch_size_args_t shape;
    const ol_kernel_launch_size_args_t *shape_pointer;
    const ol_kernel_launch_prop_t *properties;
    void *argument, **arguments;
    size_t argument_size;
    const size_t *argument_sizes;
    ol_device_iterate_cb_t iterate;
    ol_host_function_cb_t host_function;
    ol_platform_rpc_cb_t answer;
    ol_init_args_t init;
    const ol_init_args_t *init_pointer;
    bool yes, *yes_pointer;
    float time, *time_pointer;
    uint32_t count, *count_pointer;
    size_t *size_pointer;
    void **memory_pointer;
    ol_queue_handle_t *queue_pointer;
    ol_event_handle_t *event_pointer;
    ol_program_handle_t *program_pointer;
    ol_symbol_handle_t *symbol_pointer;
} now;

static char host_memory[8192], value[4096], pattern[16];

static bool take(ol_device_handle_t device, void *data) {
    bool valid = false;
    (void)data;
    if (!first && !olIsValidBinary(device, image, image_size, &valid) && valid)
        first = device;
    return true;
}

static bool none(ol_device_handle_t device, void *data) {
    (void)device;
    (void)data;
    return false;
}

#if OFFLOAD_API_LLVM >= 24
static bool no_platform(ol_platform_handle_t platform, void *data) {
    (void)platform;
    (void)data;
    return false;
}

static bool no_symbol(ol_symbol_handle_t symbol, void *data) {
    (void)symbol;
    (void)data;
    return false;
}
#endif

static void nothing(void *data) { (void)data; }
static unsigned no_answer(void *port, unsigned lanes) {
    (void)port;
    return lanes - lanes;
}

static int start(void) {
    const char *path = getenv("OFFLOAD_TEST_IMAGE");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return 0;
    image_size = fread(image, 1, sizeof image, file);
    fclose(file);
    return !olInit(NULL) && !olIterateDevices(take, NULL) && first;
}

/* Makes what a call needs anew: the call before may have destroyed it. What is left over does not matter. */
static int renew(void) {
    memset(&now, 0, sizeof now);
    now.device = first;
    now.size = 64;
    now.one = 1;
    now.pattern_size = now.alignment = 16;
    now.pattern = pattern;
    now.value = value;
    now.data = image;
    now.number = sizeof value;
    now.pieces[0] = host_memory;
    now.piece_list = now.pieces;
    now.piece_size[0] = 64;
    now.piece_sizes = now.piece_size;
    now.name = "nothing";
    now.shape.Dimensions = 1;
    now.shape.NumGroups.x = now.shape.NumGroups.y = now.shape.NumGroups.z = 1;
    now.shape.GroupSize.x = 32;
    now.shape.GroupSize.y = now.shape.GroupSize.z = 1;
    now.shape_pointer = &now.shape;
    now.iterate = none;
    now.host_function = nothing;
    now.answer = no_answer;
    now.init.Size = sizeof now.init;
    now.init_pointer = &now.init;
    now.flags = 1;
    now.event_flags = OL_EVENT_FLAGS_ENABLE_PROFILING;
    now.yes_pointer = &now.yes;
    now.time_pointer = &now.time;
    now.count_pointer = &now.count;
    now.size_pointer = &now.number;
    now.memory_pointer = &now.made_memory;
    now.queue_pointer = &now.made_queue;
    now.event_pointer = &now.made_event;
    now.program_pointer = &now.made_program;
    now.symbol_pointer = &now.made_symbol;
    now.nowhere = host_memory;
    now.events = &now.event;
#if OFFLOAD_API_LLVM >= 24
    now.context_pointer = &now.made_context;
    now.devices = &now.device;
    now.iterate_platforms = no_platform;
    now.iterate_symbols = no_symbol;
    now.context = context_of(first);
    now.type = OL_ALLOC_TYPE_DEVICE;
#endif
    return !olGetDeviceInfo(first, OL_DEVICE_INFO_PLATFORM, sizeof now.platform, &now.platform) && !olCreateQueue(first, &now.queue) &&
           !olCreateEvent(now.queue, now.event_flags, &now.event) && !olSyncEvent(now.event) &&
           !olCreateProgram(first, image, image_size, &now.program) &&
           !olGetSymbol(now.program, "nothing", OL_SYMBOL_KIND_KERNEL, &now.kernel) &&
           !olGetSymbol(now.program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &now.variable) &&
           !olMemAlloc(first, OL_ALLOC_TYPE_DEVICE, 4096, &now.memory);
}

/* What renew made and no test destroyed. */
static void end(void) {
    olDestroyQueue(now.queue);
    olDestroyEvent(now.event);
    olDestroyProgram(now.program);
    olMemFree(now.memory);
}

#define IS(function_name) (strcmp(function, function_name) == 0)
#define INFO(name, type, handle_member, handle, prop)                                                                                      \
    if (IS("ol" name)) {                                                                                                                   \
        type *params = call;                                                                                                               \
        params->handle_member = &now.handle;                                                                                               \
        params->pPropName = &now.prop;                                                                                                     \
        params->pPropSize = &now.number;                                                                                                   \
        params->pPropValue = &now.value;                                                                                                   \
        return 1;                                                                                                                          \
    }
#define INFO_SIZE(name, type, handle_member, handle, prop)                                                                                 \
    if (IS("ol" name "Size")) {                                                                                                            \
        type *params = call;                                                                                                               \
        params->handle_member = &now.handle;                                                                                               \
        params->pPropName = &now.prop;                                                                                                     \
        params->pPropSizeRet = &now.size_pointer;                                                                                          \
        return 1;                                                                                                                          \
    }
#define ONE(name, type, member, value_member)                                                                                              \
    if (IS(name)) {                                                                                                                        \
        type *params = call;                                                                                                               \
        params->member = &now.value_member;                                                                                                \
        return 1;                                                                                                                          \
    }
#define FUNCTION(name, type)                                                                                                               \
    if (IS(name)) {                                                                                                                        \
        type *params = call;

#define END                                                                                                                                \
    return 1;                                                                                                                              \
    }

static int properties_of(const char *function, void *call) {
    INFO("GetDeviceInfo", ol_get_device_info_params_t, pDevice, device, device_info)
    INFO_SIZE("GetDeviceInfo", ol_get_device_info_size_params_t, pDevice, device, device_info)
    INFO("GetPlatformInfo", ol_get_platform_info_params_t, pPlatform, platform, platform_info)
    INFO_SIZE("GetPlatformInfo", ol_get_platform_info_size_params_t, pPlatform, platform, platform_info)
    INFO("GetQueueInfo", ol_get_queue_info_params_t, pQueue, queue, queue_info)
    INFO_SIZE("GetQueueInfo", ol_get_queue_info_size_params_t, pQueue, queue, queue_info)
    INFO("GetEventInfo", ol_get_event_info_params_t, pEvent, event, event_info)
    INFO_SIZE("GetEventInfo", ol_get_event_info_size_params_t, pEvent, event, event_info)
    INFO("GetSymbolInfo", ol_get_symbol_info_params_t, pSymbol, variable, symbol_info)
    INFO_SIZE("GetSymbolInfo", ol_get_symbol_info_size_params_t, pSymbol, variable, symbol_info)
    now.pieces[0] = now.memory;
    FUNCTION("olGetMemInfo", ol_get_mem_info_params_t)
    IN_CONTEXT
    params->pPtr = &now.pieces[0];
    params->pPropName = &now.mem_info;
    params->pPropSize = &now.number;
    params->pPropValue = &now.value;
    END
    FUNCTION("olGetMemInfoSize", ol_get_mem_info_size_params_t)
    IN_CONTEXT
    params->pPtr = &now.pieces[0];
    params->pPropName = &now.mem_info;
    params->pPropSizeRet = &now.size_pointer;
    END
    return 0;
}

static int memory_of(const char *function, void *call) {
    FUNCTION("olMemAlloc", ol_mem_alloc_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pType = &now.type;
    params->pSize = &now.size;
    params->pAllocationOut = &now.memory_pointer;
    END
    FUNCTION("olMemAllocAligned", ol_mem_alloc_aligned_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pType = &now.type;
    params->pSize = &now.size;
    params->pAlignment = &now.alignment;
    params->pAllocationOut = &now.memory_pointer;
    END
    FUNCTION("olMemFree", ol_mem_free_params_t)
    IN_CONTEXT
    params->pAddress = &now.memory;
    END
    FUNCTION("olMemcpy", ol_memcpy_params_t)
    now.pieces[0] = now.memory;
    params->pQueue = &now.no_queue;
    params->pDstPtr = &now.memory;
    params->pDstDevice = &now.device;
    params->pSrcPtr = &now.pieces[0];
    params->pSrcDevice = &now.device;
    params->pSize = &now.size;
    END
    FUNCTION("olMemFill", ol_mem_fill_params_t)
    params->pQueue = &now.queue;
    params->pPtr = &now.memory;
    params->pPatternSize = &now.pattern_size;
    params->pPatternPtr = &now.pattern;
    params->pFillSize = &now.size;
    END
    FUNCTION("olMemPrefetch", ol_mem_prefetch_params_t)
    params->pQueue = &now.queue;
    params->pCount = &now.one;
    params->pMems = &now.piece_list;
    params->pSizes = &now.piece_sizes;
    params->pFlags = &now.flags;
    END
    FUNCTION("olMemRegister", ol_mem_register_params_t)
    params->pDevice = &now.device;
    params->pPtr = &now.nowhere;
    params->pSize = &now.size;
    params->pFlags = &now.flags;
    params->pPinnedPtr = &now.memory_pointer;
    END
    FUNCTION("olMemUnregister", ol_mem_unregister_params_t)
    if (olMemRegister(first, now.nowhere, 64, 0, &now.made_memory))
        return 0;
    params->pDevice = &now.device;
    params->pPtr = &now.nowhere;
    params->pFlags = &now.flags;
    END
    return 0;
}

static int kernels_of(const char *function, void *call) {
    FUNCTION("olCalculateOptimalOccupancy", ol_calculate_optimal_occupancy_params_t)
    params->pDevice = &now.device;
    params->pKernel = &now.kernel;
    params->pSharedMemory = &now.zero;
    params->pGroupSize = &now.size_pointer;
    END
    FUNCTION("olGetKernelMaxCooperativeGroupCount", ol_get_kernel_max_cooperative_group_count_params_t)
    params->pDevice = &now.device;
    params->pKernel = &now.kernel;
    params->pLaunchSizeArgs = &now.shape_pointer;
    params->pMaxGroupCount = &now.count_pointer;
    END
    FUNCTION("olLaunchKernel", ol_launch_kernel_params_t)
    params->pQueue = &now.queue;
    params->pDevice = &now.device;
    params->pKernel = &now.kernel;
    params->pLaunchSizeArgs = &now.shape_pointer;
    params->pProperties = &now.properties;
    params->pNumArgs = &now.zero;
    params->pArgPtrs = &now.arguments;
    params->pArgSizes = &now.argument_sizes;
    END
    FUNCTION("olCreateProgram", ol_create_program_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pProgData = &now.data;
    params->pProgDataSize = &image_size;
    params->pProgram = &now.program_pointer;
    END
    FUNCTION("olIsValidBinary", ol_is_valid_binary_params_t)
    params->pDevice = &now.device;
    params->pProgData = &now.data;
    params->pProgDataSize = &image_size;
    params->pValid = &now.yes_pointer;
    END
    ONE("olDestroyProgram", ol_destroy_program_params_t, pProgram, program)
    FUNCTION("olGetSymbol", ol_get_symbol_params_t)
    params->pProgram = &now.program;
    params->pName = &now.name;
    params->pKind = &now.kind;
    params->pSymbol = &now.symbol_pointer;
    END
    return 0;
}

static int queues_of(const char *function, void *call) {
    FUNCTION("olCreateQueue", ol_create_queue_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pQueue = &now.queue_pointer;
    END
    ONE("olDestroyQueue", ol_destroy_queue_params_t, pQueue, queue)
    ONE("olSyncQueue", ol_sync_queue_params_t, pQueue, queue)
    FUNCTION("olQueryQueue", ol_query_queue_params_t)
    params->pQueue = &now.queue;
    params->pIsQueueWorkCompleted = &now.yes_pointer;
    END
    FUNCTION("olWaitEvents", ol_wait_events_params_t)
    params->pQueue = &now.queue;
    params->pEvents = &now.events;
    params->pNumEvents = &now.one;
    END
    FUNCTION("olLaunchHostFunction", ol_launch_host_function_params_t)
    params->pQueue = &now.queue;
    params->pCallback = &now.host_function;
    params->pUserData = &now.value;
    END
    FUNCTION("olCreateEvent", ol_create_event_params_t)
    params->pQueue = &now.queue;
    params->pFlags = &now.event_flags;
    params->pEvent = &now.event_pointer;
    END
    ONE("olDestroyEvent", ol_destroy_event_params_t, pEvent, event)
    ONE("olSyncEvent", ol_sync_event_params_t, pEvent, event)
    FUNCTION("olGetEventElapsedTime", ol_get_event_elapsed_time_params_t)
    params->pStartEvent = &now.event;
    params->pEndEvent = &now.event;
    params->pElapsedTime = &now.time_pointer;
    END
    return 0;
}

#if OFFLOAD_API_LLVM >= 24
static int of_llvm_24(const char *function, void *call) {
    INFO("GetContextInfo", ol_get_context_info_params_t, pContext, context, context_info)
    INFO_SIZE("GetContextInfo", ol_get_context_info_size_params_t, pContext, context, context_info)
    ONE("olDestroyContext", ol_destroy_context_params_t, pContext, context)
    FUNCTION("olCreateContext", ol_create_context_params_t)
    params->pDevicesCount = &now.one;
    params->pDevices = &now.devices;
    params->pContext = &now.context_pointer;
    END
    FUNCTION("olIteratePlatforms", ol_iterate_platforms_params_t)
    params->pCallback = &now.iterate_platforms;
    params->pUserData = &now.value;
    END
    FUNCTION("olIterateCompatibleDevices", ol_iterate_compatible_devices_params_t)
    params->pProgData = &now.data;
    params->pProgDataSize = &image_size;
    params->pCallback = &now.iterate;
    params->pUserData = &now.value;
    END
    FUNCTION("olIterateSymbols", ol_iterate_symbols_params_t)
    params->pProgram = &now.program;
    params->pKind = &now.kind;
    params->pCallback = &now.iterate_symbols;
    params->pUserData = &now.value;
    END
    FUNCTION("olMemAllocHost", ol_mem_alloc_host_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pSize = &now.size;
    params->pAllocationOut = &now.memory_pointer;
    END
    FUNCTION("olMemAllocAlignedHost", ol_mem_alloc_aligned_host_params_t)
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pSize = &now.size;
    params->pAlignment = &now.alignment;
    params->pAllocationOut = &now.memory_pointer;
    END
    FUNCTION("olMemIsAccessible", ol_mem_is_accessible_params_t)
    now.pieces[0] = now.memory;
    IN_CONTEXT
    params->pDevice = &now.device;
    params->pPtr = &now.pieces[0];
    params->pSize = &now.size;
    params->pIsAccessible = &now.yes_pointer;
    END
    return 0;
}
#else
#define of_llvm_24(function, call) 0
#endif

int fixture(const char *function, void *call) {
    static int started;
    if (!started) {
        if (!start()) {
            printf("OFFLOAD_TEST_IMAGE names no image that a device can load\n");
            return 0;
        }
        started = 1;
    } else {
        end();
    }
    if (!renew())
        return 0;
    FUNCTION("olInit", ol_init_params_t)
    params->pInitArgs = &now.init_pointer;
    END
    FUNCTION("olIterateDevices", ol_iterate_devices_params_t)
    params->pCallback = &now.iterate;
    params->pUserData = &now.value;
    END
    FUNCTION("olPlatformRegisterRPCCallback", ol_platform_register_rpc_callback_params_t)
    params->pPlatform = &now.platform;
    params->pCallback = &now.answer;
    END
    return of_llvm_24(function, call) || properties_of(function, call) || memory_of(function, call) || kernels_of(function, call) || queues_of(function, call);
}
