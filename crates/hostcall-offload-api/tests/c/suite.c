/*
 * What the API promises, on every device that there is. Usage: suite SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]
 *
 * Needs nothing but the library and images of ../images/kernels.c, so it runs where there is neither Rust nor a compiler.
 */
#include "checks.h"
#include <string.h>

static struct devices devices;
static ol_device_handle_t host;

static bool take_one(ol_device_handle_t device, void *data) {
    (void)device;
    ++*(int *)data;
    return false;
}

static ol_kernel_launch_size_args_t shape(uint32_t groups, uint32_t items) {
    ol_kernel_launch_size_args_t it = {1, {groups, 1, 1}, {items, 1, 1}, 0};
    return it;
}

static ol_symbol_handle_t kernel_of(ol_program_handle_t program, const char *name) {
    ol_symbol_handle_t kernel = NULL;
    OK(olGetSymbol(program, name, OL_SYMBOL_KIND_KERNEL, &kernel));
    return kernel;
}

/* Launches a kernel with pointers as arguments. */
static ol_result_t launch(ol_queue_handle_t queue, ol_device_handle_t device, ol_symbol_handle_t kernel, uint32_t groups, uint32_t items,
                          size_t count, void *a, void *b, void *c) {
    void *values[3], *pointers[3] = {&values[0], &values[1], &values[2]};
    size_t sizes[3] = {sizeof(void *), sizeof(void *), sizeof(void *)};
    ol_kernel_launch_size_args_t size = shape(groups, items);
    values[0] = a;
    values[1] = b;
    values[2] = c;
    return olLaunchKernel(queue, device, kernel, &size, NULL, count, count ? pointers : NULL, count ? sizes : NULL);
}

static void device_info(ol_device_handle_t device) {
    char text[256];
    size_t size;
    uint32_t number;
    uint64_t large;
    ol_dimensions_t dimensions;
    ol_platform_handle_t platform;
    ol_platform_backend_t backend;
    ol_device_info_t texts[] = {OL_DEVICE_INFO_NAME, OL_DEVICE_INFO_PRODUCT_NAME, OL_DEVICE_INFO_UID, OL_DEVICE_INFO_VENDOR, OL_DEVICE_INFO_DRIVER_VERSION};
    for (int i = 0; i < 5; i++) {
        OK(olGetDeviceInfoSize(device, texts[i], &size));
        memset(text, 'x', sizeof text);
        OK(olGetDeviceInfo(device, texts[i], size, text));
        CHECK(strlen(text) + 1 == size && text[size] == 'x');
        FAILS(INVALID_SIZE, olGetDeviceInfo(device, texts[i], size - 1, text));
    }
    for (int i = OL_DEVICE_INFO_TYPE; i < (int)OL_DEVICE_INFO_LAST; i++) {
        char value[256];
        OK(olGetDeviceInfoSize(device, (ol_device_info_t)i, &size));
        OK(olGetDeviceInfo(device, (ol_device_info_t)i, sizeof value, value));
    }
    /* Programs divide by these. */
    ol_device_info_t positive[] = {OL_DEVICE_INFO_MAX_WORK_SIZE, OL_DEVICE_INFO_VENDOR_ID, OL_DEVICE_INFO_NUM_COMPUTE_UNITS, OL_DEVICE_INFO_MAX_CLOCK_FREQUENCY, OL_DEVICE_INFO_MEMORY_CLOCK_RATE, OL_DEVICE_INFO_SINGLE_FP_CONFIG, OL_DEVICE_INFO_DOUBLE_FP_CONFIG, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_CHAR, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_SHORT, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_INT, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_LONG, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_FLOAT, OL_DEVICE_INFO_NATIVE_VECTOR_WIDTH_DOUBLE};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        number = 0;
        OK(olGetDeviceInfo(device, positive[i], sizeof number, &number));
        CHECK(number > 0);
    }
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, sizeof large, &large));
    CHECK(large > 0);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, sizeof number, &number));
    CHECK(number > 0);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE_PER_DIMENSION, sizeof dimensions, &dimensions));
    CHECK(dimensions.x > 0 && dimensions.y > 0 && dimensions.z > 0);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_GLOBAL_MEM_SIZE, sizeof large, &large));
    CHECK(large > 1 << 20);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_ADDRESS_BITS, sizeof number, &number));
    CHECK(number == 64);
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_PLATFORM, sizeof platform, &platform));
    OK(olGetPlatformInfo(platform, OL_PLATFORM_INFO_BACKEND, sizeof backend, &backend));
    CHECK((backend == OL_PLATFORM_BACKEND_HOST) == (device == host));
    for (int i = OL_PLATFORM_INFO_NAME; i <= (int)OL_PLATFORM_INFO_VERSION; i++) {
        OK(olGetPlatformInfoSize(platform, (ol_platform_info_t)i, &size));
        OK(olGetPlatformInfo(platform, (ol_platform_info_t)i, size, text));
        CHECK(strlen(text) + 1 == size);
        FAILS(INVALID_SIZE, olGetPlatformInfo(platform, (ol_platform_info_t)i, size - 1, text));
    }
    FAILS(INVALID_ENUMERATION, olGetDeviceInfo(device, OL_DEVICE_INFO_LAST, 8, text));
    FAILS(INVALID_ENUMERATION, olGetPlatformInfo(platform, OL_PLATFORM_INFO_LAST, 8, text));
    FAILS(INVALID_DEVICE, olGetDeviceInfo(BOGUS(ol_device_handle_t), OL_DEVICE_INFO_TYPE, 4, text));
    FAILS(INVALID_DEVICE, olGetDeviceInfo((ol_device_handle_t)platform, OL_DEVICE_INFO_TYPE, 4, text));
    FAILS(INVALID_PLATFORM, olGetPlatformInfo((ol_platform_handle_t)device, OL_PLATFORM_INFO_NAME, 4, text));
}

static void memory(ol_device_handle_t device) {
    ol_alloc_type_t types[] = {OL_ALLOC_TYPE_HOST, OL_ALLOC_TYPE_DEVICE, OL_ALLOC_TYPE_MANAGED};
    unsigned char out[4096], in[4096];
    void *address, *other;
    uint64_t all;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7);
    for (int i = 0; i < 3; i++) {
        ol_device_handle_t owner;
        ol_alloc_type_t type;
        size_t size;
        void *base;
        if (!OK(olMemAlloc(device, types[i], 4096, &address)))
            continue;
        OK(olGetMemInfo((char *)address + 100, OL_MEM_INFO_BASE, sizeof base, &base));
        CHECK(base == address);
        OK(olGetMemInfo((char *)address + 4095, OL_MEM_INFO_SIZE, sizeof size, &size));
        CHECK(size == 4096);
        OK(olGetMemInfo(address, OL_MEM_INFO_TYPE, sizeof type, &type));
        CHECK(type == types[i]);
        OK(olGetMemInfo(address, OL_MEM_INFO_DEVICE, sizeof owner, &owner));
        CHECK(owner == device);
        OK(olGetMemInfoSize(address, OL_MEM_INFO_TYPE, &size));
        CHECK(size == sizeof type);
        FAILS(INVALID_SIZE, olGetMemInfo(address, OL_MEM_INFO_BASE, 4, &base));
        FAILS(NOT_FOUND, olGetMemInfo((char *)address + (1 << 20) * 64L, OL_MEM_INFO_BASE, sizeof base, &base));
        OK(olMemcpy(NULL, address, device, in, host, sizeof in));
        memset(out, 0, sizeof out);
        OK(olMemcpy(NULL, out, host, address, device, sizeof out));
        CHECK(memcmp(in, out, sizeof in) == 0);
        if (types[i] != OL_ALLOC_TYPE_DEVICE)
            CHECK(memcmp(address, in, sizeof in) == 0);
        FAILS(INVALID_SIZE, olMemcpy(NULL, address, device, in, host, 4097));
        FAILS(INVALID_SIZE, olMemcpy(NULL, (char *)address + 4000, device, in, host, 97));
        FAILS(NOT_FOUND, olMemFree((char *)address + 8));
        OK(olMemFree(address));
        FAILS(NOT_FOUND, olMemFree(address));
    }
    for (size_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
        OK(olMemAllocAligned(device, OL_ALLOC_TYPE_DEVICE, 100, alignment, &address));
        CHECK((size_t)address % alignment == 0);
        OK(olMemFree(address));
    }
    FAILS(INVALID_ARGUMENT, olMemAllocAligned(device, OL_ALLOC_TYPE_DEVICE, 100, 0, &address));
    FAILS(INVALID_ARGUMENT, olMemAllocAligned(device, OL_ALLOC_TYPE_DEVICE, 100, 3, &address));
    FAILS(UNSUPPORTED, olMemAllocAligned(device, OL_ALLOC_TYPE_DEVICE, 100, (size_t)1 << 62, &address));
    if (device != host)
        FAILS(UNSUPPORTED, olMemAllocAligned(device, OL_ALLOC_TYPE_DEVICE, 100, (size_t)4 << 20, &address));
    FAILS(INVALID_SIZE, olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, 0, &address));
    FAILS(OUT_OF_RESOURCES, olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, (size_t)1 << 63, &address));
    FAILS(OUT_OF_RESOURCES, olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, (size_t)1 << 50, &address));
    FAILS(INVALID_ENUMERATION, olMemAlloc(device, OL_ALLOC_TYPE_LAST, 8, &address));
    FAILS(NOT_FOUND, olMemFree(in));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_GLOBAL_MEM_SIZE, sizeof all, &all));
    FAILS(OUT_OF_RESOURCES, olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, (size_t)all * 2, &address));
    /* Between devices. */
    for (size_t i = 0; i < devices.count; i++) {
        OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, 4096, &address));
        OK(olMemAlloc(devices.all[i], OL_ALLOC_TYPE_DEVICE, 4096, &other));
        OK(olMemcpy(NULL, address, device, in, host, sizeof in));
        OK(olMemcpy(NULL, other, devices.all[i], address, device, 4096));
        memset(out, 0, sizeof out);
        OK(olMemcpy(NULL, out, host, other, devices.all[i], sizeof out));
        CHECK(memcmp(in, out, sizeof in) == 0);
        OK(olMemFree(address));
        OK(olMemFree(other));
    }
    OK(olMemcpy(NULL, out, host, in, host, 0));
    memset(out, 0, sizeof out);
    OK(olMemcpy(NULL, out, host, in, host, sizeof in));
    CHECK(memcmp(in, out, sizeof in) == 0);
    FAILS(INVALID_SIZE, olMemcpy(NULL, out, host, in, host, (size_t)1 << 63));
}

static void registration(ol_device_handle_t device) {
    static char area[1 << 16];
    void *pinned = NULL, *again = NULL;
    const uint32_t lock = OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
    char *page = area + (4096 - (size_t)area % 4096);
    OK(olMemRegister(device, page, 8192, lock, &pinned));
    CHECK(pinned != NULL);
    OK(olMemRegister(device, page + 4096, 100, lock, &again));
    CHECK((char *)again - (char *)pinned == 4096);
    FAILS(INVALID_ARGUMENT, olMemRegister(device, page + 8000, 8192, lock, &again));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, page + 1, unlock));
    OK(olMemUnregister(device, page, unlock));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, page, unlock));
    OK(olMemUnregister(device, page + 4096, unlock));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, page + 4096, unlock));
    FAILS(INVALID_SIZE, olMemRegister(device, page, 0, lock, &pinned));
    FAILS(INVALID_SIZE, olMemRegister(device, page, (size_t)1 << 63, lock, &pinned));
    FAILS(INVALID_ENUMERATION, olMemRegister(device, page, 8, 0x40, &pinned));
    OK(olMemRegister(device, page, 4096, 0, &pinned));
    OK(olMemUnregister(device, page, 0));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, page, unlock));
    /* By the address that was given, which need not be the host's. */
    OK(olMemRegister(device, page, 4096, lock, &pinned));
    OK(olMemRegister(device, page, 4096, lock, &again));
    CHECK(again == pinned);
    OK(olMemUnregister(device, pinned, unlock));
    OK(olMemUnregister(device, again, unlock));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, pinned, unlock));
}

/* A fill of more patterns than a dimension of a grid can have, at an odd address, and at one of words. */
static void many_patterns(ol_device_handle_t device, ol_queue_handle_t queue, ol_alloc_type_t type) {
    enum { COUNT = 200000, SIZE = 12 };
    static unsigned char out[COUNT * SIZE + 2];
    const unsigned char pattern[SIZE] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8};
    void *memory = NULL;
    OK(olMemAlloc(device, type, sizeof out, &memory));
    for (size_t from = 0; from < 2; from++) {
        unsigned char zero = 0;
        size_t wrong = 0;
        OK(olMemFill(queue, memory, 1, &zero, sizeof out));
        OK(olMemFill(queue, (char *)memory + from, SIZE, pattern, COUNT * SIZE));
        OK(olMemcpy(queue, out, host, memory, device, sizeof out));
        OK(olSyncQueue(queue));
        for (size_t at = 0; at < COUNT * SIZE; at++)
            wrong += out[from + at] != pattern[at % SIZE];
        CHECK(wrong == 0 && out[from + COUNT * SIZE] == 0 && (from == 0 || out[0] == 0));
    }
    OK(olMemFree(memory));
}

static void fills(ol_device_handle_t device) {
    ol_queue_handle_t queue;
    unsigned char pattern[100], out[4800];
    size_t sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 33, 64, 65, 100};
    void *address;
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &address));
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)(i + 1);
    for (int with = 0; with < 2; with++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t size = sizes[i], all = sizeof out / size * size, wrong = 0;
            OK(olMemFill(with ? queue : NULL, address, size, pattern, all));
            OK(olSyncQueue(queue));
            OK(olMemcpy(NULL, out, host, address, device, all));
            for (size_t at = 0; at < all; at++)
                wrong += out[at] != pattern[at % size];
            CHECK(wrong == 0);
        }
    many_patterns(device, queue, OL_ALLOC_TYPE_DEVICE);
    many_patterns(device, queue, OL_ALLOC_TYPE_HOST);
    FAILS(INVALID_SIZE, olMemFill(queue, address, 0, pattern, 4));
    FAILS(INVALID_SIZE, olMemFill(queue, address, 3, pattern, 4));
    FAILS(INVALID_SIZE, olMemFill(queue, address, 1, pattern, sizeof out + 1));
    OK(olMemFill(queue, address, 1, pattern, 0));
    OK(olSyncQueue(queue));
    OK(olMemFree(address));
    OK(olDestroyQueue(queue));
}

static void kernels(ol_device_handle_t device, ol_program_handle_t program) {
    ol_queue_handle_t queue;
    enum { N = 256 };
    uint32_t out[N], twice[N], wrong = 0, number = 0;
    void *a, *b, *c;
    ol_kernel_launch_size_args_t size;
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &a));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &b));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &c));

    OK(launch(queue, device, kernel_of(program, "nothing"), 4, 64, 0, NULL, NULL, NULL));
    OK(launch(queue, device, kernel_of(program, "foo"), 4, 64, 1, a, NULL, NULL));
    OK(launch(queue, device, kernel_of(program, "foo"), 8, 32, 1, b, NULL, NULL));
    OK(launch(queue, device, kernel_of(program, "add"), 2, 128, 3, a, b, c));
    OK(olMemcpy(queue, out, host, a, device, sizeof out));
    OK(olMemcpy(queue, twice, host, c, device, sizeof out));
    OK(olSyncQueue(queue));
    for (uint32_t i = 0; i < N; i++)
        wrong += out[i] != i || twice[i] != 2 * i;
    CHECK(wrong == 0);

    /* Without a queue it has run when the call returns. */
    OK(olMemFill(NULL, a, 4, &number, sizeof out));
    OK(launch(NULL, device, kernel_of(program, "foo"), 1, N, 1, a, NULL, NULL));
    OK(olMemcpy(NULL, out, host, a, device, sizeof out));
    CHECK(out[1] == 1 && out[N - 1] == N - 1);

    /* Arguments of other sizes. */
    unsigned char byte = 0xa5, bytes[N];
    void *byte_arguments[] = {&byte, &a};
    size_t byte_sizes[] = {1, sizeof a};
    size = shape(1, N);
    OK(olLaunchKernel(queue, device, kernel_of(program, "byte"), &size, NULL, 2, byte_arguments, byte_sizes));
    OK(olMemcpy(queue, bytes, host, a, device, sizeof bytes));
    OK(olSyncQueue(queue));
    CHECK(bytes[0] == 0xa5 && bytes[N - 1] == 0xa5);
    char small = -5;
    short medium = 1000;
    uint64_t large = 70000;
    void *many_arguments[] = {&small, &a, &medium, &large};
    size_t many_sizes[] = {1, sizeof a, 2, 8};
    OK(olLaunchKernel(queue, device, kernel_of(program, "many"), &size, NULL, 4, many_arguments, many_sizes));
    OK(olMemcpy(queue, out, host, a, device, sizeof out));
    OK(olSyncQueue(queue));
    CHECK(out[0] == 70995 && out[N - 1] == 70995);
    struct {
        uint32_t a;
        uint8_t b;
        uint64_t c;
    } composite = {1, 2, 1ull << 40};
    uint64_t sums[N / 2];
    void *composite_arguments[] = {&composite, &a};
    size_t composite_sizes[] = {sizeof composite, sizeof a};
    size = shape(1, N / 2);
    OK(olLaunchKernel(queue, device, kernel_of(program, "whole"), &size, NULL, 2, composite_arguments, composite_sizes));
    OK(olMemcpy(queue, sums, host, a, device, sizeof sums));
    OK(olSyncQueue(queue));
    CHECK(sums[0] == (1ull << 40) + 3 && sums[N / 2 - 1] == (1ull << 40) + 3);

    /* The shape of the grid; dimensions that are not used do not matter. */
    uint32_t grid[6];
    ol_kernel_launch_size_args_t three = {3, {2, 3, 4}, {8, 4, 2}, 0}, one = {1, {2, 0, 9}, {8, 0, 9}, 0};
    void *shape_arguments[] = {&a};
    size_t shape_sizes[] = {sizeof a};
    OK(olLaunchKernel(queue, device, kernel_of(program, "shape"), &three, NULL, 1, shape_arguments, shape_sizes));
    OK(olMemcpy(queue, grid, host, a, device, sizeof grid));
    OK(olSyncQueue(queue));
    CHECK(grid[0] == 2 && grid[1] == 3 && grid[2] == 4 && grid[3] == 8 && grid[4] == 4 && grid[5] == 2);
    OK(olLaunchKernel(queue, device, kernel_of(program, "shape"), &one, NULL, 1, shape_arguments, shape_sizes));
    OK(olMemcpy(queue, grid, host, a, device, sizeof grid));
    OK(olSyncQueue(queue));
    CHECK(grid[0] == 2 && grid[1] == 1 && grid[2] == 1 && grid[3] == 8 && grid[4] == 1 && grid[5] == 1);

    OK(launch(queue, device, kernel_of(program, "barrier"), 4, 64, 2, a, b, NULL));
    OK(olMemcpy(queue, out, host, b, device, sizeof out));
    OK(olSyncQueue(queue));
    wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        wrong += out[i] != i / 64 * 64 + (i + 1) % 64;
    CHECK(wrong == 0);

    /* In order: each launch reads what the one before wrote. */
    for (uint32_t n = 0; n < 32; n++) {
        void *arguments[] = {&n, &a};
        size_t sizes[] = {sizeof n, sizeof a};
        size = shape(1, 32);
        OK(olLaunchKernel(queue, device, kernel_of(program, "sequence"), &size, NULL, 2, arguments, sizes));
    }
    OK(olMemcpy(queue, out, host, a, device, sizeof out));
    OK(olSyncQueue(queue));
    CHECK(out[31] == 1346269);

    OK(olMemFill(queue, a, 4, &number, 4));
    for (int i = 0; i < 20; i++)
        OK(launch(queue, device, kernel_of(program, "count"), 5, 32, 1, a, NULL, NULL));
    OK(olMemcpy(queue, &number, host, a, device, 4));
    OK(olSyncQueue(queue));
    CHECK(number == 20 * 5 * 32);

    /* What cannot be launched. */
    ol_symbol_handle_t foo = kernel_of(program, "foo"), table;
    void *arguments[] = {&a}, *null_argument[] = {NULL};
    size_t sizes[] = {sizeof a}, huge[] = {(size_t)1 << 63};
    uint32_t most;
    size = shape(1, 32);
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    FAILS(SYMBOL_KIND, olLaunchKernel(queue, device, table, &size, NULL, 0, NULL, NULL));
    FAILS(INVALID_NULL_POINTER, olLaunchKernel(queue, device, foo, &size, NULL, 1, null_argument, sizes));
    FAILS(INVALID_SIZE, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, huge));
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, NULL));
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, NULL, NULL));
    size.Dimensions = 4;
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, sizes));
    size.Dimensions = 0;
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, sizes));
    size = shape(0, 32);
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, sizes));
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_MAX_WORK_GROUP_SIZE, sizeof most, &most));
    size = shape(1, most + 1);
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, foo, &size, NULL, 1, arguments, sizes));
    size = shape(1, 32);
    FAILS(INVALID_DEVICE, olLaunchKernel(queue, BOGUS(ol_device_handle_t), foo, &size, NULL, 1, arguments, sizes));
    FAILS(INVALID_ARGUMENT, olLaunchKernel(queue, device, BOGUS(ol_symbol_handle_t), &size, NULL, 1, arguments, sizes));
    for (size_t i = 0; i < devices.count; i++)
        if (devices.all[i] != device)
            FAILS(INVALID_DEVICE, olLaunchKernel(queue, devices.all[i], foo, &size, NULL, 1, arguments, sizes));
    ol_kernel_launch_prop_t unknown[] = {{(ol_kernel_launch_prop_type_t)77, NULL}, OL_KERNEL_LAUNCH_PROP_END};
    FAILS(INVALID_ENUMERATION, olLaunchKernel(queue, device, foo, &size, unknown, 1, arguments, sizes));
    ol_kernel_launch_prop_t none[] = {{OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE, NULL}, OL_KERNEL_LAUNCH_PROP_END};
    FAILS(INVALID_NULL_POINTER, olLaunchKernel(queue, device, foo, &size, none, 1, arguments, sizes));
    OK(olSyncQueue(queue));

    OK(olMemFree(a));
    OK(olMemFree(b));
    OK(olMemFree(c));
    OK(olDestroyQueue(queue));
}

static void cooperative(ol_device_handle_t device, ol_program_handle_t program) {
    ol_symbol_handle_t meet = kernel_of(program, "meet"), table;
    ol_kernel_launch_size_args_t size = shape(0, 32);
    bool yes = true, supported;
    ol_kernel_launch_prop_t properties[] = {{OL_KERNEL_LAUNCH_PROP_TYPE_IS_COOPERATIVE, &yes}, OL_KERNEL_LAUNCH_PROP_END};
    uint32_t most = 0, zero = 0, last = 0;
    size_t best = 0;
    void *arrived, *out;
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_COOPERATIVE_LAUNCH_SUPPORT, sizeof supported, &supported));
    if (!supported)
        return;
    OK(olGetKernelMaxCooperativeGroupCount(device, meet, &size, &most));
    CHECK(most > 0);
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, 4, &arrived));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, 4 * (size_t)most, &out));
    OK(olMemFill(NULL, arrived, 4, &zero, 4));
    void *arguments[] = {&arrived, &out};
    size_t sizes[] = {sizeof arrived, sizeof out};
    size.NumGroups.x = most;
    OK(olLaunchKernel(NULL, device, meet, &size, properties, 2, arguments, sizes));
    OK(olMemcpy(NULL, &last, host, (char *)out + 4 * ((size_t)most - 1), device, 4));
    CHECK(last == most);
    size.NumGroups.x = most + 1;
    FAILS(OUT_OF_RESOURCES, olLaunchKernel(NULL, device, meet, &size, properties, 2, arguments, sizes));
    OK(olCalculateOptimalOccupancy(device, meet, 0, &best));
    CHECK(best > 0 && best <= 1024);
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    FAILS(SYMBOL_KIND, olCalculateOptimalOccupancy(device, table, 0, &best));
    FAILS(SYMBOL_KIND, olGetKernelMaxCooperativeGroupCount(device, table, &size, &most));
    OK(olMemFree(arrived));
    OK(olMemFree(out));
}

static void local_memory(ol_device_handle_t device, ol_program_handle_t program) {
    ol_symbol_handle_t dynamic, fixed;
    uint32_t out[64];
    uint64_t most;
    void *memory, *arguments[] = {&memory};
    size_t sizes[] = {sizeof memory};
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {64, 1, 1}, 64 * 4};
    if (olGetSymbol(program, "local_dynamic", OL_SYMBOL_KIND_KERNEL, &dynamic)) {
        ol_symbol_handle_t foo = kernel_of(program, "foo");
        OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &memory));
        OK(olLaunchKernel(NULL, device, foo, &size, NULL, 1, arguments, sizes));
        OK(olMemFree(memory));
        return;
    }
    OK(olGetSymbol(program, "local_static", OL_SYMBOL_KIND_KERNEL, &fixed));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof out, &memory));
    OK(olLaunchKernel(NULL, device, dynamic, &size, NULL, 1, arguments, sizes));
    OK(olMemcpy(NULL, out, host, memory, device, sizeof out));
    CHECK(out[0] == 63 + 7 && out[63] == 7);
    size.DynSharedMemory = 0;
    OK(olLaunchKernel(NULL, device, fixed, &size, NULL, 1, arguments, sizes));
    OK(olMemcpy(NULL, out, host, memory, device, sizeof out));
    CHECK(out[0] == 63 + 9 && out[63] == 9);
    /* What a device says that groups have, they have, but for what the image declares. */
    OK(olGetDeviceInfo(device, OL_DEVICE_INFO_WORK_GROUP_LOCAL_MEM_SIZE, sizeof most, &most));
    CHECK(most >= 32 << 10);
    if (device == host) {
        size.DynSharedMemory = most - 64 * 4;
        OK(olLaunchKernel(NULL, device, dynamic, &size, NULL, 1, arguments, sizes));
        size.DynSharedMemory++;
        FAILS(INVALID_ARGUMENT, olLaunchKernel(NULL, device, dynamic, &size, NULL, 1, arguments, sizes));
    }
    size.DynSharedMemory = 1 << 30;
    ol_result_t result = olLaunchKernel(NULL, device, dynamic, &size, NULL, 1, arguments, sizes);
    CHECK(result != NULL && result->Code != OL_ERRC_UNKNOWN);
    OK(olMemFree(memory));
}

static void symbols(ol_device_handle_t device, ol_program_handle_t program) {
    ol_symbol_handle_t table, again, foo, symbol;
    ol_symbol_kind_t kind;
    uint32_t values[64], read[64];
    void *address, *out;
    size_t size;
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &again));
    CHECK(table == again);
    foo = kernel_of(program, "foo");
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_KIND, sizeof kind, &kind));
    CHECK(kind == OL_SYMBOL_KIND_GLOBAL_VARIABLE);
    OK(olGetSymbolInfo(foo, OL_SYMBOL_INFO_KIND, sizeof kind, &kind));
    CHECK(kind == OL_SYMBOL_KIND_KERNEL);
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, sizeof size, &size));
    CHECK(size == sizeof values);
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof address, &address));
    OK(olGetSymbolInfoSize(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, &size));
    CHECK(size == sizeof address);
    FAILS(INVALID_SIZE, olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, 4, &address));
    FAILS(SYMBOL_KIND, olGetSymbolInfo(foo, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof address, &address));
    FAILS(SYMBOL_KIND, olGetSymbolInfoSize(foo, OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, &size));
    FAILS(NOT_FOUND, olGetSymbol(program, "no_such_kernel", OL_SYMBOL_KIND_KERNEL, &symbol));
    FAILS(NOT_FOUND, olGetSymbol(program, "", OL_SYMBOL_KIND_KERNEL, &symbol));
    FAILS(NOT_FOUND, olGetSymbol(program, "no_such_variable", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &symbol));
    FAILS(NOT_FOUND, olGetSymbol(program, "table", OL_SYMBOL_KIND_KERNEL, &symbol));
    FAILS(INVALID_ENUMERATION, olGetSymbol(program, "table", OL_SYMBOL_KIND_LAST, &symbol));

    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, sizeof values, &out));
    OK(launch(NULL, device, kernel_of(program, "write_table"), 1, 64, 0, NULL, NULL, NULL));
    OK(olMemcpy(NULL, read, host, address, device, sizeof read));
    CHECK(read[0] == 0 && read[63] == 126);
    for (uint32_t i = 0; i < 64; i++)
        values[i] = 1000 + i;
    OK(olMemcpy(NULL, address, device, values, host, sizeof values));
    OK(launch(NULL, device, kernel_of(program, "read_table"), 1, 64, 1, out, NULL, NULL));
    OK(olMemcpy(NULL, read, host, out, device, sizeof read));
    CHECK(memcmp(read, values, sizeof read) == 0);

    /* The constructor ran once, before the first kernel. */
    OK(launch(NULL, device, kernel_of(program, "read_made"), 1, 1, 1, out, NULL, NULL));
    OK(olMemcpy(NULL, read, host, out, device, 4));
    CHECK(read[0] == 42);
    OK(olMemFree(out));
}

struct gate {
    volatile int open, came;
};

static void wait_for_gate(void *data) {
    struct gate *gate = data;
    __atomic_store_n(&gate->came, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST)) {
    }
}

static void open_gate(struct gate *gate) { __atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST); }

static void note(void *data) { ++*(int *)data; }

static ol_queue_handle_t inside;
static ol_result_t from_inside[3];
static void call_back(void *data) {
    (void)data;
    from_inside[0] = olSyncQueue(inside);
    from_inside[1] = olShutDown();
    from_inside[2] = olGetQueueInfoSize(inside, OL_QUEUE_INFO_EMPTY, (size_t *)data);
}

static void queues(ol_device_handle_t device, ol_program_handle_t program) {
    ol_queue_handle_t first, second, gone;
    ol_event_handle_t event, later, bad[2];
    ol_device_handle_t owner;
    struct gate gate = {0, 0};
    bool idle, complete;
    int calls = 0;
    size_t size;
    float time = -1;
    void *memory, *pinned;
    uint32_t *out, zero = 0;
    enum { BYTES = 256 * 4 };
    /* A copy to memory that is not pinned may wait for the copy, here for a function that waits for this thread. */
    if (!OK(olMemAlloc(device, OL_ALLOC_TYPE_HOST, BYTES, &pinned)))
        return;
    out = pinned;
    OK(olCreateQueue(device, &first));
    OK(olCreateQueue(device, &second));
    CHECK(first != second);
    OK(olGetQueueInfo(first, OL_QUEUE_INFO_DEVICE, sizeof owner, &owner));
    CHECK(owner == device);
    OK(olGetQueueInfoSize(first, OL_QUEUE_INFO_EMPTY, &size));
    CHECK(size == sizeof idle);
    OK(olGetQueueInfo(first, OL_QUEUE_INFO_EMPTY, sizeof idle, &idle));
    CHECK(idle);
    OK(olSyncQueue(first));

    /* Work behind a function that has not returned has not begun, and neither has what waits for it in another queue. */
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &memory));
    OK(olMemFill(NULL, memory, 4, &zero, BYTES));
    OK(olLaunchHostFunction(first, wait_for_gate, &gate));
    OK(launch(first, device, kernel_of(program, "foo"), 4, 64, 1, memory, NULL, NULL));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_NONE, &event));
    OK(olWaitEvents(second, &event, 1));
    OK(olMemcpy(second, out, host, memory, device, BYTES));
    OK(olLaunchHostFunction(second, note, &calls));
    OK(olQueryQueue(first, &idle));
    CHECK(!idle);
    OK(olQueryQueue(second, NULL));
    OK(olGetEventInfo(event, OL_EVENT_INFO_IS_COMPLETE, sizeof complete, &complete));
    CHECK(!complete && calls == 0);
    open_gate(&gate);
    OK(olSyncQueue(second));
    CHECK(calls == 1 && out[255] == 255 && out[1] == 1);
    OK(olSyncEvent(event));
    OK(olGetEventInfo(event, OL_EVENT_INFO_IS_COMPLETE, sizeof complete, &complete));
    CHECK(complete);
    OK(olGetEventInfo(event, OL_EVENT_INFO_QUEUE, sizeof gone, &gone));
    CHECK(gone == first);
    OK(olGetEventInfoSize(event, OL_EVENT_INFO_QUEUE, &size));
    CHECK(size == sizeof gone);
    OK(olSyncQueue(first));
    OK(olQueryQueue(first, &idle));
    CHECK(idle);
    OK(olDestroyEvent(event));
    FAILS(INVALID_EVENT, olSyncEvent(event));
    FAILS(INVALID_EVENT, olDestroyEvent(event));

    /* Time. */
    ol_event_handle_t start, end, plain;
    OK(olCreateEvent(first, OL_EVENT_FLAGS_ENABLE_PROFILING, &start));
    OK(launch(first, device, kernel_of(program, "foo"), 4, 64, 1, memory, NULL, NULL));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_ENABLE_PROFILING, &end));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_NONE, &plain));
    OK(olSyncEvent(plain));
    OK(olGetEventElapsedTime(start, end, &time));
    CHECK(time >= 0);
    FAILS(INVALID_ARGUMENT, olGetEventElapsedTime(start, plain, &time));
    FAILS(INVALID_EVENT, olGetEventElapsedTime(start, event, &time));
    gate.open = 0;
    OK(olLaunchHostFunction(first, wait_for_gate, &gate));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_ENABLE_PROFILING, &later));
    FAILS(INVALID_ARGUMENT, olGetEventElapsedTime(start, later, &time));
    open_gate(&gate);
    OK(olSyncEvent(later));
    for (size_t i = 0; i < devices.count; i++)
        if (devices.all[i] != device) {
            ol_queue_handle_t other;
            ol_event_handle_t elsewhere;
            OK(olCreateQueue(devices.all[i], &other));
            OK(olCreateEvent(other, OL_EVENT_FLAGS_ENABLE_PROFILING, &elsewhere));
            OK(olSyncEvent(elsewhere));
            FAILS(INVALID_DEVICE, olGetEventElapsedTime(start, elsewhere, &time));
            OK(olDestroyEvent(elsewhere));
            OK(olDestroyQueue(other));
        }
    FAILS(INVALID_ENUMERATION, olCreateEvent(first, (ol_event_flags_t)9, &event));
    bad[0] = start;
    bad[1] = NULL;
    FAILS(INVALID_NULL_HANDLE, olWaitEvents(first, bad, 2));
    bad[1] = (ol_event_handle_t)first;
    FAILS(INVALID_EVENT, olWaitEvents(first, bad, 2));

    /* A queue that is destroyed with work in it does the work, and its event stays. */
    gate.open = 0;
    calls = 0;
    OK(olCreateQueue(device, &gone));
    OK(olLaunchHostFunction(gone, wait_for_gate, &gate));
    OK(olLaunchHostFunction(gone, note, &calls));
    OK(olCreateEvent(gone, OL_EVENT_FLAGS_NONE, &event));
    OK(olDestroyQueue(gone));
    FAILS(INVALID_QUEUE, olSyncQueue(gone));
    FAILS(INVALID_QUEUE, olDestroyQueue(gone));
    FAILS(INVALID_QUEUE, olGetEventInfo(event, OL_EVENT_INFO_QUEUE, sizeof gone, &gone));
    open_gate(&gate);
    OK(olSyncEvent(event));
    CHECK(calls == 1);
    OK(olDestroyEvent(event));

    /* A function of a queue must not wait. */
    inside = second;
    OK(olLaunchHostFunction(second, call_back, &size));
    OK(olSyncQueue(second));
    FAILS(UNSUPPORTED, from_inside[0]);
    FAILS(UNSUPPORTED, from_inside[1]);
    OK(from_inside[2]);

    /* Advice never fails where it has no effect. */
    const void *pieces[] = {memory};
    size_t lengths[] = {BYTES};
    OK(olMemPrefetch(first, 1, pieces, lengths, OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE));
    OK(olMemPrefetch(first, 0, NULL, NULL, OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE));
    FAILS(INVALID_NULL_POINTER, olMemPrefetch(first, 1, NULL, lengths, OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE));
    FAILS(INVALID_ENUMERATION, olMemPrefetch(first, 1, pieces, lengths, 0x10));
    void *managed;
    OK(olMemAlloc(device, OL_ALLOC_TYPE_MANAGED, BYTES, &managed));
    memset(managed, 0, BYTES);
    pieces[0] = managed;
    OK(olMemPrefetch(first, 1, pieces, lengths, OL_MEM_MIGRATION_FLAG_HOST_TO_DEVICE));
    OK(launch(first, device, kernel_of(program, "foo"), 4, 64, 1, managed, NULL, NULL));
    OK(olMemPrefetch(first, 1, pieces, lengths, OL_MEM_MIGRATION_FLAG_DEVICE_TO_HOST));
    OK(olSyncQueue(first));
    CHECK(((uint32_t *)managed)[255] == 255);
    OK(olMemFree(managed));

    OK(olDestroyEvent(start));
    OK(olDestroyEvent(end));
    OK(olDestroyEvent(plain));
    OK(olDestroyEvent(later));
    OK(olMemFree(memory));
    OK(olDestroyQueue(first));
    OK(olDestroyQueue(second));
    OK(olMemFree(pinned));
}

static void programs(ol_device_handle_t device, struct image image) {
    ol_program_handle_t program, other;
    ol_symbol_handle_t symbol;
    ol_symbol_kind_t kind;
    bool valid = false;
    OK(olIsValidBinary(device, image.bytes, image.size, &valid));
    CHECK(valid);
    OK(olCreateProgram(device, image.bytes, image.size, &program));
    OK(olCreateProgram(device, image.bytes, image.size, &other));
    CHECK(program != other);
    symbol = kernel_of(program, "foo");
    /* Each load has its own variables. */
    ol_symbol_handle_t tables[2];
    void *addresses[2];
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &tables[0]));
    OK(olGetSymbol(other, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &tables[1]));
    OK(olGetSymbolInfo(tables[0], OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof addresses[0], &addresses[0]));
    OK(olGetSymbolInfo(tables[1], OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof addresses[1], &addresses[1]));
    CHECK(addresses[0] != addresses[1]);
    OK(olDestroyProgram(program));
    FAILS(INVALID_ARGUMENT, olDestroyProgram(program));
    FAILS(INVALID_ARGUMENT, olGetSymbolInfo(symbol, OL_SYMBOL_INFO_KIND, sizeof kind, &kind));
    FAILS(INVALID_ARGUMENT, olGetSymbol(program, "foo", OL_SYMBOL_KIND_KERNEL, &symbol));
    OK(olDestroyProgram(other));

    FAILS(INVALID_BINARY, olCreateProgram(device, image.bytes, 0, &program));
    FAILS(INVALID_BINARY, olCreateProgram(device, "hello", 5, &program));
    FAILS(INVALID_SIZE, olCreateProgram(device, image.bytes, (size_t)1 << 63, &program));
    for (size_t cut = 1; cut < 64; cut++) {
        size_t size = image.size * cut / 64;
        ol_result_t result = olCreateProgram(device, image.bytes, size, &program);
        /* Text that is cut may still be a program, of fewer kernels. */
        if (!result)
            OK(olDestroyProgram(program));
        else
            CHECK(result->Code == OL_ERRC_INVALID_BINARY || result->Code == OL_ERRC_COMPILE_FAILURE || result->Code == OL_ERRC_LINK_FAILURE);
    }
    OK(olIsValidBinary(device, "hello", 5, &valid));
    CHECK(!valid);
    OK(olIsValidBinary(device, image.bytes, 0, &valid));
    CHECK(!valid);
}

/* Images as LLVM's host plugin has them. */
static void host_images(struct image image) {
    ol_program_handle_t program;
    ol_queue_handle_t queue;
    ol_kernel_launch_size_args_t size = shape(1, 1);
    uint32_t most = 0;
    size_t best = 0;
    on = "host image";
    programs(host, image);
    OK(olCreateProgram(host, image.bytes, image.size, &program));
    OK(olCreateQueue(host, &queue));
    uint32_t a[1] = {40}, b[1] = {2}, sum[1] = {0};
    OK(launch(queue, host, kernel_of(program, "add"), 1, 1, 3, a, b, sum));
    OK(olSyncQueue(queue));
    CHECK(sum[0] == 42);
    OK(launch(NULL, host, kernel_of(program, "read_made"), 1, 1, 1, sum, NULL, NULL));
    CHECK(sum[0] == 42);
    FAILS(INVALID_ARGUMENT, launch(queue, host, kernel_of(program, "foo"), 2, 1, 1, sum, NULL, NULL));
    FAILS(INVALID_ARGUMENT, launch(queue, host, kernel_of(program, "foo"), 1, 32, 1, sum, NULL, NULL));
    OK(olCalculateOptimalOccupancy(host, kernel_of(program, "foo"), 0, &best));
    OK(olGetKernelMaxCooperativeGroupCount(host, kernel_of(program, "foo"), &size, &most));
    CHECK(best == 1 && most == 1);
    /* A kernel that is in a queue keeps its code when its program is destroyed. */
    struct gate gate = {0, 0};
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    a[0] = 50;
    OK(launch(queue, host, kernel_of(program, "add"), 1, 1, 3, a, b, sum));
    OK(olDestroyProgram(program));
    open_gate(&gate);
    OK(olSyncQueue(queue));
    CHECK(sum[0] == 52);
    OK(olDestroyQueue(queue));
}

int main(int count, char **arguments) {
    struct image images[3];
    ol_init_args_t init = OL_INIT_ARGS_INIT;
    ol_platform_backend_t only_host[] = {OL_PLATFORM_BACKEND_HOST};
    int seen = 0;
    if (count < 3) {
        printf("usage: %s SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]\n", arguments[0]);
        return 2;
    }
    for (int i = 1; i < count && i < 4; i++)
        images[i - 1] = read_image(arguments[i]);

    on = "sessions";
    FAILS(UNINITIALIZED, olIterateDevices(take_device, &devices));
    FAILS(UNINITIALIZED, olShutDown());
    init.Size = 8;
    FAILS(INVALID_SIZE, olInit(&init));
    init.Size = sizeof init;
    init.NumPlatforms = 1;
    FAILS(INVALID_ARGUMENT, olInit(&init));
    init.Platforms = only_host;
    OK(olInit(&init));
    OK(olInit(NULL));
    OK(olIterateDevices(take_device, &devices));
    host = devices.host;
    CHECK(devices.count == 1 && host == devices.all[0]);
    ol_device_handle_t stale = host;
    OK(olShutDown());
    OK(olIterateDevices(take_one, &seen));
    OK(olShutDown());
    FAILS(UNINITIALIZED, olShutDown());
    devices.count = 0;
    OK(olInit(NULL));
    OK(olIterateDevices(take_device, &devices));
    host = devices.host;
    seen = 0;
    OK(olIterateDevices(take_one, &seen));
    CHECK(seen == 1 && devices.count >= 1 && host);
    uint32_t type;
    FAILS(INVALID_DEVICE, olGetDeviceInfo(stale, OL_DEVICE_INFO_TYPE, sizeof type, &type));

    for (size_t i = 0; i < devices.count; i++) {
        ol_device_handle_t device = devices.all[i];
        ol_program_handle_t program;
        char name[256];
        int image = device == host ? 0 : 2, before = passed;
        if (!OK(olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name)))
            continue;
        on = name;
        device_info(device);
        memory(device);
        registration(device);
        fills(device);
        if (image + 1 >= count) {
            printf("%s: no image for it\n", name);
            failed++;
            continue;
        }
        programs(device, images[image]);
        if (OK(olCreateProgram(device, images[image].bytes, images[image].size, &program))) {
            kernels(device, program);
            symbols(device, program);
            cooperative(device, program);
            local_memory(device, program);
            queues(device, program);
            OK(olDestroyProgram(program));
        }
        printf("%s%s: %d checks passed\n", name, device == host ? " (simulator images)" : "", passed - before);
    }
    host_images(images[1]);
    on = "end";
    OK(olShutDown());
    for (int i = 1; i < count && i < 4; i++)
        free(images[i - 1].bytes);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
