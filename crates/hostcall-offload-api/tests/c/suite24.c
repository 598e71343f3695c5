/*
 * What LLVM 24's API has that LLVM 23's has not, on every device that there is. Usage: suite24 SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]
 *
 * Needs nothing but the library and images of ../images/kernels.c. (What both have is tested by suite.c, compiled with with_contexts.h.)
 */
#include "checks.h"
#include <string.h>

#if OFFLOAD_API_LLVM != 24
#error "this is for LLVM 24's header"
#endif

/* What callbacks found. */
struct found {
    size_t count, most;
    void *handles[64];
};

static bool keep(struct found *found, void *handle) {
    if (found->count < 64)
        found->handles[found->count] = handle;
    return ++found->count < found->most;
}
static bool keep_device(ol_device_handle_t device, void *found) { return keep(found, device); }
static bool keep_platform(ol_platform_handle_t platform, void *found) { return keep(found, platform); }
static bool keep_symbol(ol_symbol_handle_t symbol, void *found) { return keep(found, symbol); }

static ol_platform_backend_t backend_of(ol_device_handle_t device) {
    ol_platform_handle_t platform = NULL;
    ol_platform_backend_t backend = OL_PLATFORM_BACKEND_UNKNOWN;
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_PLATFORM, sizeof platform, &platform));
    OK(olGetPlatformInfo(platform, OL_PLATFORM_INFO_BACKEND, sizeof backend, &backend));
    return backend;
}

static bool has(struct found *found, void *handle) {
    for (size_t i = 0; i < found->count; i++)
        if (found->handles[i] == handle)
            return true;
    return false;
}

static void platforms(void) {
    struct found all = {0, 64, {0}}, one = {0, 1, {0}}, devices = {0, 64, {0}};
    bool host_found = false;
    OK(olIteratePlatforms(keep_platform, &all));
    CHECK(all.count >= 1);
    OK(olIteratePlatforms(keep_platform, &one));
    CHECK(one.count == 1 && one.handles[0] == all.handles[0]);
    OK(olIterateDevices(keep_device, &devices));
    for (size_t i = 0; i < all.count; i++) {
        ol_platform_backend_t backend = OL_PLATFORM_BACKEND_UNKNOWN;
        bool active = false, has_devices = false;
        size_t size = 0;
        OK(olGetPlatformInfo(all.handles[i], OL_PLATFORM_INFO_BACKEND, sizeof backend, &backend));
        OK(olGetPlatformInfoSize(all.handles[i], OL_PLATFORM_INFO_ACTIVE, &size));
        CHECK(size == sizeof(bool));
        OK(olGetPlatformInfo(all.handles[i], OL_PLATFORM_INFO_ACTIVE, sizeof active, &active));
        for (size_t j = 0; j < devices.count; j++)
            has_devices = has_devices || backend_of(devices.handles[j]) == backend;
        /* Looking for devices has opened all there are. */
        CHECK(active == has_devices);
        host_found = host_found || backend == OL_PLATFORM_BACKEND_HOST;
    }
    CHECK(host_found);
    FAILS(INVALID_NULL_POINTER, olIteratePlatforms(NULL, NULL));
}

static void properties(ol_device_handle_t device) {
    uint32_t lanes = 0, driver = 99, group = 0, groups = 0, most = 0;
    uint64_t frequency = 0, parallelism = 0;
    size_t size = 0;
    char kind[128] = "";
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_NUM_LANES, sizeof lanes, &lanes));
    CHECK(lanes == 32 || lanes == 64);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_DRIVER_ID, sizeof driver, &driver));
    CHECK(driver != 99);
    OK(olGetDeviceInfoSize(device, OL_DEVICE_INFO_COMPUTE_UNIT_KIND, &size));
    CHECK(size > 1 && size <= sizeof kind);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_COMPUTE_UNIT_KIND, sizeof kind, kind));
    CHECK(strlen(kind) == size - 1);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_TIMESTAMP_FREQUENCY, sizeof frequency, &frequency));
    CHECK(frequency > 1000000);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_HARDWARE_PARALLELISM, sizeof parallelism, &parallelism));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, sizeof most, &most));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_LAUNCH_DEFAULT_WORK_GROUP_SIZE, sizeof group, &group));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_LAUNCH_DEFAULT_NUM_WORK_GROUPS, sizeof groups, &groups));
    CHECK(group >= 1 && group <= most && parallelism >= 1);
    CHECK(groups >= 1 && (uint64_t)groups * group <= parallelism * lanes);
}

static void contexts(ol_device_handle_t device, ol_device_handle_t other) {
    ol_context_handle_t context = NULL, second = NULL;
    ol_device_handle_t list[3] = {device, NULL, device}, back[3] = {0};
    ol_platform_handle_t platform = NULL, of_device = NULL;
    ol_queue_handle_t queue = NULL;
    size_t size = 0, count = 0;
    FAILS(INVALID_SIZE, olCreateContext(0, &device, &context));
    FAILS(INVALID_NULL_POINTER, olCreateContext(1, NULL, &context));
    FAILS(INVALID_NULL_POINTER, olCreateContext(1, &device, NULL));
    FAILS(INVALID_NULL_HANDLE, olCreateContext(2, list, &context));
    list[1] = (ol_device_handle_t)(void *)&failed;
    FAILS(INVALID_DEVICE, olCreateContext(2, list, &context));
    if (other) {
        list[1] = other;
        FAILS(INVALID_DEVICE, olCreateContext(2, list, &context));
    }
    CHECK(context == NULL);
    OK(olCreateContext(1, &device, &context));
    OK(olCreateContext(1, &device, &second));
    CHECK(context != second);
    OK(olGetContextInfo(context, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count, &count));
    CHECK(count == 1);
    OK(olGetContextInfoSize(context, OL_CONTEXT_INFO_DEVICES, &size));
    CHECK(size == sizeof device);
    OK(olGetContextInfo(context, OL_CONTEXT_INFO_DEVICES, sizeof back, back));
    CHECK(back[0] == device && back[1] == NULL);
    OK(olGetContextInfo(context, OL_CONTEXT_INFO_PLATFORM, sizeof platform, &platform));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_PLATFORM, sizeof of_device, &of_device));
    CHECK(platform == of_device);
    FAILS(INVALID_NULL_HANDLE, olGetContextInfo(NULL, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count, &count));
    FAILS(INVALID_SIZE, olGetContextInfo(context, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count - 1, &count));
    FAILS(INVALID_SIZE, olGetContextInfo(context, OL_CONTEXT_INFO_NUM_DEVICES, 0, &count));
    FAILS(INVALID_ENUMERATION, olGetContextInfo(context, OL_CONTEXT_INFO_FORCE_UINT32, sizeof count, &count));
    FAILS(INVALID_NULL_POINTER, olGetContextInfoSize(context, OL_CONTEXT_INFO_DEVICES, NULL));
    FAILS(INVALID_CONTEXT, olGetContextInfo((ol_context_handle_t)(void *)device, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count, &count));

    /* A queue knows its context, for as long as that is there. */
    OK(olCreateQueue(context, device, &queue));
    OK(olGetQueueInfo(queue, OL_QUEUE_INFO_CONTEXT, sizeof platform, &platform));
    CHECK((void *)platform == (void *)context);
    FAILS(INVALID_NULL_HANDLE, olCreateQueue(NULL, device, &queue));
    FAILS(INVALID_CONTEXT, olCreateQueue((ol_context_handle_t)(void *)&failed, device, &queue));
    if (other)
        FAILS(INVALID_DEVICE, olCreateQueue(context, other, &queue));
    OK(olDestroyContext(context));
    FAILS(INVALID_CONTEXT, olDestroyContext(context));
    FAILS(INVALID_CONTEXT, olGetQueueInfo(queue, OL_QUEUE_INFO_CONTEXT, sizeof platform, &platform));
    OK(olSyncQueue(queue));
    OK(olDestroyQueue(queue));
    OK(olDestroyContext(second));
    FAILS(INVALID_NULL_HANDLE, olDestroyContext(NULL));
}

/* All devices of a platform in one context. */
static void several(struct found *devices) {
    ol_context_handle_t context = NULL;
    ol_device_handle_t list[64];
    size_t count = 0, size = 0;
    for (size_t i = 0; i < devices->count; i++)
        if (backend_of(devices->handles[i]) == backend_of(devices->handles[0]))
            list[count++] = devices->handles[i];
    if (!OK(olCreateContext(count, list, &context)))
        return;
    OK(olGetContextInfoSize(context, OL_CONTEXT_INFO_DEVICES, &size));
    CHECK(size == count * sizeof list[0]);
    for (size_t i = 0; i < count; i++) {
        ol_queue_handle_t queue = NULL;
        void *memory = NULL;
        OK(olCreateQueue(context, list[i], &queue));
        OK(olMemAlloc(context, list[i], OL_ALLOC_TYPE_DEVICE, 64, &memory));
        OK(olMemFree(context, memory));
        OK(olDestroyQueue(queue));
    }
    OK(olDestroyContext(context));
}

static int is_accessible(int line, ol_context_handle_t context, ol_device_handle_t device, const void *address, size_t size) {
    bool answer = false;
    expect(line, "olMemIsAccessible", olMemIsAccessible(context, device, address, size, &answer), OL_ERRC_SUCCESS);
    return answer;
}
#define ACCESSIBLE(context, device, address, size) is_accessible(__LINE__, context, device, address, size)

static void memory(ol_device_handle_t device) {
    ol_context_handle_t context = NULL, other = NULL;
    void *here = NULL, *shared = NULL, *aligned = NULL, *managed = NULL;
    ol_alloc_type_t type = OL_ALLOC_TYPE_DEVICE;
    size_t size = 0;
    bool answer = false;
    int local = 0, is_host = backend_of(device) == OL_PLATFORM_BACKEND_HOST;
    OK(olCreateContext(1, &device, &context));
    OK(olCreateContext(1, &device, &other));
    OK(olMemAlloc(context, device, OL_ALLOC_TYPE_DEVICE, 1024, &here));
    OK(olMemAlloc(context, device, OL_ALLOC_TYPE_MANAGED, 1024, &managed));
    OK(olMemAllocHost(context, device, 1024, &shared));
    OK(olMemAllocAlignedHost(context, device, 100, 4096, &aligned));
    CHECK(((uintptr_t)aligned & 4095) == 0);
    memset(shared, 1, 1024);
    memset(aligned, 1, 100);
    OK(olGetMemInfo(context, shared, OL_MEM_INFO_TYPE, sizeof type, &type));
    CHECK(type == OL_ALLOC_TYPE_HOST);
    FAILS(INVALID_ENUMERATION, olMemAlloc(context, device, OL_ALLOC_TYPE_HOST, 8, &shared));
    FAILS(INVALID_ENUMERATION, olMemAllocAligned(context, device, OL_ALLOC_TYPE_HOST, 8, 8, &shared));
    FAILS(INVALID_SIZE, olMemAllocHost(context, device, 0, &shared));
    FAILS(INVALID_SIZE, olMemAllocAlignedHost(context, device, 0, 8, &shared));
    FAILS(INVALID_ARGUMENT, olMemAllocAlignedHost(context, device, 8, 0, &shared));
    FAILS(INVALID_ARGUMENT, olMemAllocAlignedHost(context, device, 8, 3, &shared));
    FAILS(INVALID_NULL_POINTER, olMemAllocHost(context, device, 8, NULL));
    FAILS(INVALID_NULL_HANDLE, olMemAllocHost(context, NULL, 8, &shared));
    FAILS(OUT_OF_RESOURCES, olMemAllocHost(context, device, (size_t)1 << 62, &shared));

    /* What kernels of the device can use. */
    CHECK(ACCESSIBLE(context, device, here, 1024) && ACCESSIBLE(context, device, shared, 1024) && ACCESSIBLE(context, device, managed, 1));
    CHECK(ACCESSIBLE(context, device, (char *)here + 1000, 24));
    CHECK(!ACCESSIBLE(context, device, (char *)here + 1000, 25) && !ACCESSIBLE(context, device, here, SIZE_MAX));
    CHECK(!ACCESSIBLE(other, device, here, 1024));
    if (is_host)
        CHECK(ACCESSIBLE(context, device, &local, sizeof local));
    FAILS(INVALID_NULL_POINTER, olMemIsAccessible(context, device, NULL, 1024, &answer));
    FAILS(INVALID_NULL_POINTER, olMemIsAccessible(context, device, here, 1024, NULL));
    FAILS(INVALID_NULL_HANDLE, olMemIsAccessible(NULL, device, here, 1024, &answer));

    /* Another context does not know it. */
    FAILS(NOT_FOUND, olMemFree(other, here));
    FAILS(NOT_FOUND, olGetMemInfo(other, here, OL_MEM_INFO_SIZE, sizeof size, &size));
    FAILS(NOT_FOUND, olGetMemInfoSize(other, here, OL_MEM_INFO_SIZE, &size));
    FAILS(INVALID_NULL_HANDLE, olMemFree(NULL, here));
    OK(olMemFree(context, here));
    FAILS(NOT_FOUND, olMemFree(context, here));
    OK(olMemFree(context, aligned));
    OK(olMemFree(context, managed));
    /* What is left is freed with the context. */
    OK(olDestroyContext(context));
    FAILS(NOT_FOUND, olGetMemInfo(other, shared, OL_MEM_INFO_SIZE, sizeof size, &size));
    OK(olDestroyContext(other));
}

static int name_is(ol_symbol_handle_t symbol, const char *name) {
    char text[256] = "";
    size_t size = 0;
    OK(olGetSymbolInfoSize(symbol, OL_SYMBOL_INFO_NAME, &size));
    OK(olGetSymbolInfo(symbol, OL_SYMBOL_INFO_NAME, sizeof text, text));
    CHECK(size == strlen(text) + 1);
    return strcmp(text, name) == 0;
}

static void symbols(ol_device_handle_t device, struct image image) {
    static const ol_symbol_kind_t kinds[2] = {OL_SYMBOL_KIND_KERNEL, OL_SYMBOL_KIND_GLOBAL_VARIABLE};
    static const char *names[2] = {"nothing", "table"};
    ol_context_handle_t context = NULL;
    ol_program_handle_t program = NULL;
    OK(olCreateContext(1, &device, &context));
    OK(olCreateProgram(context, device, image.bytes, image.size, &program));
    for (int i = 0; i < 2; i++) {
        struct found all = {0, 64, {0}}, one = {0, 1, {0}};
        ol_symbol_handle_t looked = NULL;
        int seen = 0;
        OK(olIterateSymbols(program, kinds[i], keep_symbol, &all));
        OK(olGetSymbol(program, names[i], kinds[i], &looked));
        CHECK(has(&all, looked));
        for (size_t j = 0; j < all.count && j < 64; j++) {
            ol_symbol_kind_t kind = OL_SYMBOL_KIND_FORCE_UINT32;
            OK(olGetSymbolInfo(all.handles[j], OL_SYMBOL_INFO_KIND, sizeof kind, &kind));
            CHECK(kind == kinds[i]);
            seen += name_is(all.handles[j], names[i]);
        }
        CHECK(seen == 1);
        OK(olIterateSymbols(program, kinds[i], keep_symbol, &one));
        CHECK(one.count == 1 && one.handles[0] == all.handles[0]);
        FAILS(INVALID_NULL_HANDLE, olIterateSymbols(NULL, kinds[i], keep_symbol, &all));
        FAILS(INVALID_NULL_POINTER, olIterateSymbols(program, kinds[i], NULL, NULL));
    }
    FAILS(INVALID_ENUMERATION, olIterateSymbols(program, OL_SYMBOL_KIND_FORCE_UINT32, keep_symbol, NULL));
    OK(olDestroyProgram(program));
    FAILS(INVALID_NULL_HANDLE, olCreateProgram(NULL, device, image.bytes, image.size, &program));
    OK(olDestroyContext(context));
}

static void compatible(struct found *devices, struct image image) {
    struct found fitting = {0, 64, {0}}, one = {0, 1, {0}}, none = {0, 64, {0}};
    OK(olIterateCompatibleDevices(image.bytes, image.size, keep_device, &fitting));
    OK(olIterateCompatibleDevices(image.bytes, image.size, keep_device, &one));
    CHECK(fitting.count >= 1 && one.count == 1);
    for (size_t i = 0; i < devices->count; i++) {
        bool valid = false;
        OK(olIsValidBinary(devices->handles[i], image.bytes, image.size, &valid));
        CHECK(valid == has(&fitting, devices->handles[i]));
    }
    OK(olIterateCompatibleDevices(image.bytes, 0, keep_device, &none));
    OK(olIterateCompatibleDevices(image.bytes, image.size < 100 ? image.size / 2 : 40, keep_device, &none));
    CHECK(none.count == 0);
    FAILS(INVALID_NULL_POINTER, olIterateCompatibleDevices(NULL, 4, keep_device, NULL));
    FAILS(INVALID_NULL_POINTER, olIterateCompatibleDevices(image.bytes, image.size, NULL, NULL));
}

/* A handle that was made in a context of an earlier session is none of this. */
static void sessions(ol_device_handle_t device) {
    ol_context_handle_t context = NULL;
    size_t count = 0;
    OK(olCreateContext(1, &device, &context));
    OK(olShutDown());
    FAILS(UNINITIALIZED, olDestroyContext(context));
    OK(olInit(NULL));
    FAILS(INVALID_CONTEXT, olGetContextInfo(context, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count, &count));
    FAILS(INVALID_CONTEXT, olDestroyContext(context));
}

int main(int argc, char **argv) {
    struct found devices = {0, 64, {0}};
    struct image images[3];
    int image_count = argc - 1 > 3 ? 3 : argc - 1;
    if (image_count < 2) {
        printf("usage: suite24 SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]\n");
        return 2;
    }
    for (int i = 0; i < image_count; i++)
        images[i] = read_image(argv[i + 1]);
    on = "platforms";
    if (!OK(olInit(NULL)))
        return 1;
    platforms();
    OK(olIterateDevices(keep_device, &devices));
    several(&devices);
    for (int i = 0; i < image_count; i++)
        compatible(&devices, images[i]);
    for (size_t i = 0; i < devices.count; i++) {
        ol_device_handle_t device = devices.handles[i], other = NULL;
        for (size_t j = 0; j < devices.count; j++)
            if (backend_of(devices.handles[j]) != backend_of(device))
                other = devices.handles[j];
        static char name[256];
        OK(olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name));
        on = name;
        properties(device);
        contexts(device, other);
        memory(device);
        for (int j = 0; j < image_count; j++) {
            bool valid = false;
            OK(olIsValidBinary(device, images[j].bytes, images[j].size, &valid));
            if (valid)
                symbols(device, images[j]);
        }
    }
    sessions(devices.handles[0]);
    OK(olShutDown());
    for (int i = 0; i < image_count; i++)
        free((void *)images[i].bytes);
    printf("%d devices, %d passed, %d failed\n", (int)devices.count, passed, failed);
    return failed != 0;
}
