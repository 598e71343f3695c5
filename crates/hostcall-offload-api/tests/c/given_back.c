/*
 * What is given back while work in queues uses it stays until that is done. Usage: given_back IMAGE...
 *
 * Each device is tried with the first image that it can load: those of ../images/kernels.c. Work is held back by a function that has not returned.
 */
#include "checks.h"
#include <pthread.h>
#include <string.h>

enum { ITEMS = 64, BYTES = ITEMS * 4, OTHERS = 200, LARGE = 2 << 20 };

static ol_device_handle_t host;

struct gate {
    int is_open, is_awaited;
};

static void wait_for_gate(void *data) {
    struct gate *gate = data;
    while (!__atomic_load_n(&gate->is_open, __ATOMIC_SEQ_CST)) {
    }
}

static void open_gate(struct gate *gate) { __atomic_store_n(&gate->is_open, 1, __ATOMIC_SEQ_CST); }

/* Opens the gate when somebody is about to wait for it. */
static void *open_when_awaited(void *data) {
    struct gate *gate = data;
    while (!__atomic_load_n(&gate->is_awaited, __ATOMIC_SEQ_CST)) {
    }
    open_gate(gate);
    return NULL;
}

static ol_result_t launch(ol_queue_handle_t queue, ol_device_handle_t device, ol_symbol_handle_t kernel, uint32_t items, void *memory) {
    void *values[] = {&memory};
    size_t sizes[] = {sizeof memory};
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {items, 1, 1}, 0};
    return olLaunchKernel(queue, device, kernel, &size, NULL, 1, values, sizes);
}

/* Memory that kernels write: nobody else gets it before they have. With LLVM 24's API it may go with its context. */
static void memory(ol_device_handle_t device, ol_symbol_handle_t foo, uint32_t items, size_t size, bool with_context) {
    static void *others[OTHERS];
    static unsigned char read[LARGE];
    const unsigned char mine = 0xab;
    size_t count = size > BYTES ? 4 : OTHERS, wrong = 0;
    ol_queue_handle_t queue = NULL;
    struct gate gate = {0, 0};
    void *block = NULL;
    OK(olCreateQueue(device, &queue));
#ifdef WITH_CONTEXTS_H
    ol_context_handle_t context = NULL;
    if (with_context) {
        OK(olCreateContext(1, &device, &context));
        OK((olMemAlloc)(context, device, OL_ALLOC_TYPE_DEVICE, size, &block));
    }
#endif
    if (!block)
        OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, size, &block));
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    OK(launch(queue, device, foo, items, block));
#ifdef WITH_CONTEXTS_H
    if (with_context)
        OK(olDestroyContext(context));
#endif
    if (!with_context)
        OK(olMemFree(block));
    for (size_t i = 0; i < count; i++) {
        OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, size, &others[i]));
        OK(olMemFill(NULL, others[i], 1, &mine, size));
    }
    open_gate(&gate);
    OK(olSyncQueue(queue));
    for (size_t i = 0; i < count; i++) {
        OK(olMemcpy(NULL, read, host, others[i], device, size));
        for (size_t at = 0; at < size; at++)
            wrong += read[at] != mine;
        OK(olMemFree(others[i]));
    }
    CHECK(wrong == 0);
    OK(olDestroyQueue(queue));
}

/* A program's kernel, and its variable, which a copy reads. */
static void program(ol_device_handle_t device, const struct image *image, uint32_t items) {
    ol_program_handle_t own = NULL;
    ol_symbol_handle_t foo = NULL, table = NULL;
    ol_queue_handle_t queue = NULL;
    struct gate gate = {0, 0};
    uint32_t read[ITEMS], wrong = 0;
    void *block = NULL, *variable = NULL;
    memset(read, 0xff, sizeof read);
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &block));
    if (!OK(olCreateProgram(device, image->bytes, image->size, &own)))
        return;
    OK(olGetSymbol(own, "foo", OL_SYMBOL_KIND_KERNEL, &foo));
    OK(olGetSymbol(own, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof variable, &variable));
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    OK(launch(queue, device, foo, items, block));
    OK(olMemcpy(queue, block, device, variable, device, BYTES));
    OK(olDestroyProgram(own));
    open_gate(&gate);
    OK(olSyncQueue(queue));
    OK(olMemcpy(NULL, read, host, block, device, BYTES));
    for (size_t i = 0; i < ITEMS; i++)
        wrong += read[i] != 0;
    CHECK(wrong == 0);
    OK(olMemFree(block));
    OK(olDestroyQueue(queue));
}

/* Memory of the program is its own again when it is no longer registered: no copy reads it then. */
static void registered(ol_device_handle_t device) {
    const uint32_t lock = OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
    ol_queue_handle_t queue = NULL;
    struct gate gate = {0, 0};
    unsigned char *own = malloc(4096), read[BYTES];
    size_t wrong = 0;
    void *pinned = NULL, *block = NULL;
    pthread_t opener;
    if (!own || pthread_create(&opener, NULL, open_when_awaited, &gate))
        exit(2);
    memset(own, 7, 4096);
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &block));
    OK(olMemRegister(device, own, 4096, lock, &pinned));
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    OK(olMemcpy(queue, block, device, own, host, BYTES));
    __atomic_store_n(&gate.is_awaited, 1, __ATOMIC_SEQ_CST);
    OK(olMemUnregister(device, own, unlock));
    memset(own, 9, 4096);
    free(own);
    pthread_join(opener, NULL);
    OK(olSyncQueue(queue));
    OK(olMemcpy(NULL, read, host, block, device, BYTES));
    for (size_t at = 0; at < BYTES; at++)
        wrong += read[at] != 7;
    CHECK(wrong == 0);
    OK(olMemFree(block));
    OK(olDestroyQueue(queue));
}

/* Functions of a queue may give everything back, and what waits says that it would. */
struct given {
    ol_device_handle_t device;
    ol_queue_handle_t queue;
    ol_event_handle_t event;
    ol_program_handle_t program;
    void *small, *large, *own, *pinned;
    const struct image *image;
};

static void give_back(void *data) {
    struct given *given = data;
    const uint32_t unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
    OK(olMemFree(given->small));
    OK(olMemFree(given->large));
    OK(olMemFree(given->pinned));
    OK(olDestroyEvent(given->event));
    OK(olDestroyQueue(given->queue));
    OK(olDestroyProgram(given->program));
    FAILS(UNSUPPORTED, olMemUnregister(given->device, given->own, unlock));
    if (given->device != host) {
        void *memory = NULL;
        ol_program_handle_t program = NULL;
        FAILS(UNSUPPORTED, olMemAlloc(given->device, OL_ALLOC_TYPE_HOST, BYTES, &memory));
        FAILS(UNSUPPORTED, olMemAlloc(given->device, OL_ALLOC_TYPE_MANAGED, BYTES, &memory));
        FAILS(UNSUPPORTED, olCreateProgram(given->device, given->image->bytes, given->image->size, &program));
    }
}

static void in_functions(ol_device_handle_t device, const struct image *image) {
    const uint32_t lock = OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
    static unsigned char own[4096];
    struct given given = {.device = device, .own = own, .image = image};
    struct gate gate = {0, 0};
    ol_queue_handle_t queue = NULL;
    void *pinned = NULL;
    OK(olCreateQueue(device, &queue));
    OK(olCreateQueue(device, &given.queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &given.small));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, LARGE, &given.large));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_HOST, BYTES, &given.pinned));
    OK(olMemRegister(device, own, sizeof own, lock, &pinned));
    OK(olCreateProgram(device, image->bytes, image->size, &given.program));
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    OK(olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &given.event));
    OK(olLaunchHostFunction(queue, give_back, &given));
    open_gate(&gate);
    OK(olSyncQueue(queue));
    OK(olMemUnregister(device, own, unlock));
    OK(olDestroyQueue(queue));
}

int main(int count, char **arguments) {
    static struct devices devices;
    static char name[256];
    if (!OK(olInit(NULL)))
        return 1;
    OK(olIterateDevices(take_device, &devices));
    host = devices.host;
    for (size_t i = 0; i < devices.count; i++) {
        ol_device_handle_t device = devices.all[i];
        OK(olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name));
        on = name;
        for (int at = 1; at < count; at++) {
            struct image image = read_image(arguments[at]);
            ol_program_handle_t all = NULL;
            ol_symbol_handle_t foo = NULL;
            bool valid = false;
            /* Host images have one item. */
            uint32_t items = strstr(arguments[at], "host") ? 1 : ITEMS;
            OK(olIsValidBinary(device, image.bytes, image.size, &valid));
            if (valid && OK(olCreateProgram(device, image.bytes, image.size, &all))) {
                OK(olGetSymbol(all, "foo", OL_SYMBOL_KIND_KERNEL, &foo));
                memory(device, foo, items, BYTES, false);
                memory(device, foo, items, LARGE, false);
#ifdef WITH_CONTEXTS_H
                memory(device, foo, items, BYTES, true);
                memory(device, foo, items, LARGE, true);
#endif
                program(device, &image, items);
                registered(device);
                in_functions(device, &image);
                OK(olDestroyProgram(all));
                printf("%s: %s\n", name, arguments[at]);
                fflush(stdout);
            }
            free(image.bytes);
        }
    }
    OK(olShutDown());
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
