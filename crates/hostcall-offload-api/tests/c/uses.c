/*
 * What programs do with the API that suite.c does not: many things at once, from many threads, behind work that has not begun. Usage: uses
 * SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]
 *
 * Needs nothing but the library and images of ../images/kernels.c.
 */
#include "checks.h"
#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { THREADS = 20, ITEMS = 64, QUEUES = 16 };

static ol_device_handle_t host;

/* What is being done, and the seconds since it began: what does not end is named, and ends the program. */
static char step[300];
static int seconds;

static void *watch(void *data) {
    (void)data;
    for (;;) {
        struct timespec second = {1, 0};
        thrd_sleep(&second, NULL);
        if (__atomic_add_fetch(&seconds, 1, __ATOMIC_SEQ_CST) > 45) {
            printf("FAIL %s: `%s` does not end; %d checks passed before\n", on, step, __atomic_load_n(&passed, __ATOMIC_RELAXED));
            fflush(stdout);
            _Exit(1);
        }
    }
    return NULL;
}

/* Says what is done next, before it is begun. */
static void next(const char *what, size_t number) {
    if (number)
        snprintf(step, sizeof step, "%s %d", what, (int)number);
    else
        snprintf(step, sizeof step, "%s", what);
    __atomic_store_n(&seconds, 0, __ATOMIC_SEQ_CST);
    printf("%s: %s\n", on, step);
    fflush(stdout);
}

#define STEP(call) (next(#call, 0), (call))

static const ol_alloc_type_t types[] = {OL_ALLOC_TYPE_DEVICE, OL_ALLOC_TYPE_MANAGED, OL_ALLOC_TYPE_HOST};

/* Launches a kernel with one pointer as its argument, or with a number and a pointer. */
static ol_result_t launch(ol_queue_handle_t queue, ol_device_handle_t device, ol_symbol_handle_t kernel, uint32_t items, const uint32_t *number, void *memory) {
    uint32_t copy = number ? *number : 0;
    void *one[] = {&memory}, *two[] = {&copy, &memory};
    size_t one_size[] = {sizeof memory}, two_sizes[] = {sizeof copy, sizeof memory};
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {items, 1, 1}, 0};
    return olLaunchKernel(queue, device, kernel, &size, NULL, number ? 2 : 1, number ? two : one, number ? two_sizes : one_size);
}

/* Many blocks at once, of all kinds and sizes, none of which overlaps another. */
static void many_blocks(ol_device_handle_t device) {
    enum { COUNT = 300 };
    static void *blocks[COUNT];
    size_t overlapping = 0;
    for (size_t i = 0; i < COUNT; i++) {
        unsigned char first = (unsigned char)i, read = (unsigned char)~i;
        if (!OK(olMemAlloc(device, types[i % 3], 1024 * (i + 1), &blocks[i])))
            return;
        OK(olMemFill(NULL, blocks[i], 1, &first, 1024 * (i + 1)));
        OK(olMemcpy(NULL, &read, host, (char *)blocks[i] + 1024 * (i + 1) - 1, device, 1));
        CHECK(read == first);
        for (size_t j = 0; j < i; j++)
            overlapping += (char *)blocks[j] < (char *)blocks[i] + 1024 * (i + 1) && (char *)blocks[i] < (char *)blocks[j] + 1024 * (j + 1);
    }
    CHECK(overlapping == 0);
    for (size_t i = 0; i < COUNT; i++)
        OK(olMemFree(blocks[i]));
}

static void aligned(ol_device_handle_t device) {
    unsigned char out[1000], in[1000];
    memset(in, 42, sizeof in);
    for (int i = 0; i < 3; i++)
        for (size_t alignment = 8; alignment <= 256; alignment *= 2) {
            void *memory = NULL;
            OK(olMemAllocAligned(device, types[i], sizeof in, alignment, &memory));
            CHECK(memory != NULL && (size_t)memory % alignment == 0);
            memset(out, 0, sizeof out);
            OK(olMemcpy(NULL, memory, device, in, host, sizeof in));
            OK(olMemcpy(NULL, out, host, memory, device, sizeof out));
            CHECK(memcmp(in, out, sizeof in) == 0);
            OK(olMemFree(memory));
        }
}

/* Memory that both sides can use may be called either's; memory of the heap has neighbours. */
static void whose_memory(ol_device_handle_t device) {
    enum { BYTES = 4096 };
    ol_queue_handle_t queue = NULL;
    void *memory = NULL, *shared[2] = {NULL, NULL};
    unsigned char *heap = malloc(3 * BYTES);
    size_t wrong = 0;
    if (!heap)
        return;
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &memory));
    for (int type = 1; type < 3; type++) {
        OK(olMemAlloc(device, types[type], BYTES, &shared[0]));
        OK(olMemAlloc(device, types[type], BYTES, &shared[1]));
        memset(shared[0], 10 + type, BYTES);
        memset(shared[1], 0, BYTES);
        for (int as_host = 0; as_host < 2; as_host++) {
            OK(olMemcpy(queue, memory, device, shared[0], as_host ? host : device, BYTES));
            OK(olMemcpy(queue, shared[1], as_host ? host : device, memory, device, BYTES));
            OK(olSyncQueue(queue));
            CHECK(memcmp(shared[0], shared[1], BYTES) == 0);
            memset(shared[1], 0, BYTES);
        }
        memset(heap, 0xee, 3 * BYTES);
        OK(olMemcpy(queue, heap + BYTES, host, memory, device, BYTES));
        OK(olSyncQueue(queue));
        for (size_t i = 0; i < 3 * BYTES; i++)
            wrong += heap[i] != (i / BYTES == 1 ? 10 + type : 0xee);
        OK(olMemFree(shared[0]));
        OK(olMemFree(shared[1]));
    }
    CHECK(wrong == 0);
    OK(olMemFree(memory));
    OK(olDestroyQueue(queue));
    free(heap);
}

/* Memory of the program that begins and ends anywhere, registered twice. */
static void registered(ol_device_handle_t device) {
    const uint32_t lock = OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
    int numbers[50], elsewhere[50];
    void *first = NULL, *second = NULL, *third = NULL;
    OK(olMemRegister(device, numbers, sizeof numbers, lock, &first));
    CHECK(first != NULL);
    OK(olMemRegister(device, numbers, sizeof numbers, lock, &second));
    CHECK(second == first);
    FAILS(INVALID_ARGUMENT, olMemRegister(device, numbers + 2, sizeof numbers, lock, &third));
    FAILS(INVALID_ARGUMENT, olMemUnregister(device, elsewhere, unlock));
    FAILS(INVALID_NULL_POINTER, olMemUnregister(device, NULL, unlock));
    OK(olMemUnregister(device, first, unlock));
    OK(olMemUnregister(device, second, unlock));
    OK(olMemRegister(device, numbers, sizeof numbers, 0, &first));
    OK(olMemRegister(device, numbers, sizeof numbers, 0, &second));
    OK(olMemUnregister(device, numbers, 0));
    OK(olMemUnregister(device, numbers, 0));
}

struct common {
    ol_device_handle_t device;
    ol_queue_handle_t queue;
    ol_symbol_handle_t foo;
};

/* One queue and one kernel, used by all threads. */
static void *launch_in_one_queue(void *data) {
    struct common *common = data;
    uint32_t out[ITEMS], wrong = 0;
    void *memory = NULL;
    for (int round = 0; round < 8; round++) {
        OK(olMemAlloc(common->device, OL_ALLOC_TYPE_MANAGED, sizeof out, &memory));
        OK(launch(common->queue, common->device, common->foo, ITEMS, NULL, memory));
        OK(olSyncQueue(common->queue));
        memcpy(out, memory, sizeof out);
        for (uint32_t i = 0; i < ITEMS; i++)
            wrong += out[i] != i;
        OK(olMemFree(memory));
    }
    CHECK(wrong == 0);
    return NULL;
}

static void *allocate_a_little(void *data) {
    struct common *common = data;
    size_t bad = 0;
    for (int i = 0; i < 500; i++) {
        void *memory = NULL;
        bad += olMemAlloc(common->device, OL_ALLOC_TYPE_DEVICE, 8, &memory) != OL_SUCCESS || memory == NULL || olMemFree(memory) != OL_SUCCESS;
    }
    CHECK(bad == 0);
    return NULL;
}

static void by_threads(void *(*work)(void *), struct common *common) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, common))
            exit(2);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Each kernel reads what those before it wrote: in queues that wait for the events of others, of all others, and of themselves. */
static void chains(ol_device_handle_t device, ol_symbol_handle_t sequence) {
    for (int way = 0; way < 3; way++) {
        ol_queue_handle_t queues[QUEUES], one = NULL;
        ol_event_handle_t events[QUEUES];
        uint32_t out[QUEUES];
        void *memory = NULL;
        OK(olMemAlloc(device, OL_ALLOC_TYPE_MANAGED, sizeof out, &memory));
        OK(olCreateQueue(device, &one));
        for (uint32_t i = 0; i < QUEUES; i++) {
            queues[i] = one;
            if (way < 2)
                OK(olCreateQueue(device, &queues[i]));
            if (i > 0)
                OK(olWaitEvents(queues[i], way == 1 ? events : &events[i - 1], way == 1 ? i : 1));
            OK(launch(queues[i], device, sequence, 1, &i, memory));
            OK(olCreateEvent(queues[i], OL_EVENT_FLAGS_NONE, &events[i]));
        }
        for (int again = 0; again < 10; again++)
            OK(olSyncEvent(events[QUEUES - 1]));
        memcpy(out, memory, sizeof out);
        CHECK(out[15] == 610 && out[14] == 377);
        for (uint32_t i = 0; i < QUEUES; i++) {
            OK(olDestroyEvent(events[i]));
            if (way < 2)
                OK(olDestroyQueue(queues[i]));
        }
        OK(olDestroyQueue(one));
        OK(olMemFree(memory));
    }
}

struct gate {
    volatile int open;
};

static void wait_for_gate(void *data) {
    struct gate *gate = data;
    while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST)) {
    }
}

static void add_the_two_before(void *data) {
    uint32_t *number = data;
    number[0] = number[-1] + number[-2];
}

/* Functions of a queue are called one after the other. */
static void functions(ol_device_handle_t device) {
    ol_queue_handle_t queue = NULL;
    uint32_t numbers[16] = {1, 1};
    OK(olCreateQueue(device, &queue));
    for (int i = 2; i < 16; i++)
        OK(olLaunchHostFunction(queue, add_the_two_before, &numbers[i]));
    OK(olSyncQueue(queue));
    CHECK(numbers[15] == 987);
    OK(olDestroyQueue(queue));
}

static void open_gate(struct gate *gate) { __atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST); }

/* Fills behind a function that has not returned have not begun, and do not wait for it: it returns when they are in the queue. */
static void fills_behind(ol_device_handle_t device, ol_alloc_type_t type) {
    enum { BYTES = 64 * 33 };
    static unsigned char out[BYTES];
    const size_t sizes[] = {1, 2, 4, 8, 12, 16, 17, 24, 32, 33, 64};
    unsigned char pattern[64];
    ol_queue_handle_t queue = NULL;
    void *memory = NULL;
    bool done = true;
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, type, BYTES, &memory));
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)(i + 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = sizes[i], bytes = BYTES / size * size;
        const unsigned char zero = 0;
        struct gate gate = {0};
        size_t wrong = 0;
        next("a fill behind a function, bytes of the pattern:", size);
        OK(olMemFill(queue, memory, 1, &zero, BYTES));
        OK(olSyncQueue(queue));
        OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
        OK(olMemFill(queue, memory, size, pattern, bytes));
        OK(olQueryQueue(queue, &done));
        CHECK(!done);
        /* Memory of another kind may not be looked at while the queue uses it. */
        CHECK(type != OL_ALLOC_TYPE_HOST || *(volatile unsigned char *)memory == 0);
        open_gate(&gate);
        OK(olSyncQueue(queue));
        OK(olMemcpy(NULL, out, host, memory, device, BYTES));
        for (size_t at = 0; at < BYTES; at++)
            wrong += out[at] != (at < bytes ? pattern[at % size] : 0);
        CHECK(wrong == 0);
    }
    OK(olMemFree(memory));
    OK(olDestroyQueue(queue));
}

/* Launches and events behind such a function. A queue that is destroyed then does its work all the same. */
static void launches_behind(ol_device_handle_t device, ol_symbol_handle_t foo, bool is_destroyed) {
    ol_queue_handle_t queue = NULL, other = NULL;
    ol_event_handle_t launched = NULL, waited = NULL;
    struct gate gate = {0};
    void *memory = NULL;
    OK(olCreateQueue(device, &queue));
    OK(olCreateQueue(device, &other));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_HOST, ITEMS * sizeof(uint32_t), &memory));
    memset(memory, 0, ITEMS * sizeof(uint32_t));
    OK(olLaunchHostFunction(queue, wait_for_gate, &gate));
    OK(launch(queue, device, foo, ITEMS, NULL, memory));
    OK(olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &launched));
    OK(olWaitEvents(other, &launched, 1));
    OK(olCreateEvent(other, OL_EVENT_FLAGS_NONE, &waited));
    if (is_destroyed) {
        OK(olDestroyQueue(queue));
        OK(olDestroyQueue(other));
    }
    CHECK(((volatile uint32_t *)memory)[1] == 0);
    open_gate(&gate);
    OK(olSyncEvent(waited));
    CHECK(((uint32_t *)memory)[1] == 1 && ((uint32_t *)memory)[ITEMS - 1] == ITEMS - 1);
    OK(olSyncEvent(launched));
    OK(olDestroyEvent(launched));
    OK(olDestroyEvent(waited));
    OK(olMemFree(memory));
    if (!is_destroyed) {
        OK(olDestroyQueue(queue));
        OK(olDestroyQueue(other));
    }
}

/* Times do not run backwards: before any work, between two events with nothing in between, across copies and a wait. */
static void times(ol_device_handle_t device, ol_symbol_handle_t foo) {
    enum { EVENTS = 6 };
    const ol_event_flags_t profiling = OL_EVENT_FLAGS_ENABLE_PROFILING;
    ol_queue_handle_t queue = NULL;
    ol_event_handle_t events[EVENTS];
    uint32_t in[ITEMS] = {0};
    void *memory = NULL;
    OK(olCreateQueue(device, &queue));
    OK(olMemAlloc(device, OL_ALLOC_TYPE_MANAGED, sizeof in, &memory));
    OK(olCreateEvent(queue, profiling, &events[0]));
    OK(launch(queue, device, foo, ITEMS, NULL, memory));
    OK(olCreateEvent(queue, profiling, &events[1]));
    OK(olCreateEvent(queue, profiling, &events[2]));
    OK(olMemcpy(queue, memory, device, in, host, sizeof in));
    OK(olCreateEvent(queue, profiling, &events[3]));
    OK(olSyncQueue(queue));
    for (int i = 0; i < 8; i++)
        OK(launch(queue, device, foo, ITEMS, NULL, memory));
    OK(olCreateEvent(queue, profiling, &events[4]));
    OK(olCreateEvent(queue, profiling, &events[5]));
    OK(olSyncEvent(events[5]));
    for (int i = 0; i < EVENTS; i++)
        for (int j = i; j < EVENTS; j++) {
            float forward = -1, again = -1;
            OK(olGetEventElapsedTime(events[i], events[j], &forward));
            OK(olGetEventElapsedTime(events[i], events[j], &again));
            CHECK(forward >= 0 && forward == again);
        }
    for (int i = 0; i < EVENTS; i++)
        OK(olDestroyEvent(events[i]));
    OK(olMemFree(memory));
    OK(olDestroyQueue(queue));
}

/* Images that are whole, and for something else. */
static void foreign(ol_device_handle_t device, const struct image *images, int count) {
    for (int i = 0; i < count; i++) {
        ol_program_handle_t program = NULL;
        bool valid = true;
        OK(olIsValidBinary(device, images[i].bytes, images[i].size, &valid));
        if (!valid) {
            FAILS(INVALID_BINARY, olCreateProgram(device, images[i].bytes, images[i].size, &program));
            CHECK(program == NULL);
        }
    }
}

int main(int count, char **arguments) {
    struct image images[3];
    if (count < 3) {
        printf("usage: %s SIMULATOR-IMAGE HOST-IMAGE [GPU-IMAGE]\n", arguments[0]);
        return 2;
    }
    if (count > 4)
        count = 4;
    for (int i = 1; i < count; i++)
        images[i - 1] = read_image(arguments[i]);
    if (!OK(olInit(NULL)))
        return 1;
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch, NULL))
        return 2;
    static struct devices devices;
    OK(olIterateDevices(take_device, &devices));
    host = devices.host;
    for (size_t i = 0; i < devices.count; i++) {
        ol_device_handle_t device = devices.all[i];
        ol_program_handle_t program = NULL;
        struct common common = {device, NULL, NULL};
        ol_symbol_handle_t sequence = NULL;
        static char name[256];
        int image = device == host ? 0 : 2, before = passed;
        OK(olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name));
        on = name;
        STEP(many_blocks(device));
        STEP(aligned(device));
        STEP(whose_memory(device));
        STEP(registered(device));
        STEP(foreign(device, images, count - 1));
        if (image + 1 >= count) {
            printf("%s: no image for it\n", name);
            failed++;
            continue;
        }
        next("olCreateProgram", 0);
        if (!OK(olCreateProgram(device, images[image].bytes, images[image].size, &program)))
            continue;
        OK(olGetSymbol(program, "foo", OL_SYMBOL_KIND_KERNEL, &common.foo));
        OK(olGetSymbol(program, "sequence", OL_SYMBOL_KIND_KERNEL, &sequence));
        OK(olCreateQueue(device, &common.queue));
        STEP(by_threads(launch_in_one_queue, &common));
        STEP(by_threads(allocate_a_little, &common));
        STEP(chains(device, sequence));
        STEP(functions(device));
        for (int type = 0; type < 3; type++)
            STEP(fills_behind(device, types[type]));
        STEP(launches_behind(device, common.foo, false));
        STEP(launches_behind(device, common.foo, true));
        STEP(times(device, common.foo));
        OK(olDestroyQueue(common.queue));
        OK(olDestroyProgram(program));
        printf("%s%s: %d checks passed\n", name, device == host ? " (simulator images)" : "", passed - before);
    }
    next("olShutDown", 0);
    OK(olShutDown());
    for (int i = 1; i < count; i++)
        free(images[i - 1].bytes);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
