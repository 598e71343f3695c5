/*
 * Queues with functions, events, and memory and objects that are given back while queues use them: random sequences of launch, function, event, free and
 * destroy over eight queues, by four threads. Usage: queues SEQUENCES SEED IMAGE...
 *
 * Each device is tried with the first image that it can load. Needs nothing but the library and images of ../images/kernels.c. Every launch and every
 * function is counted, by itself and where it is put into a queue; what does not end is named, with the last step of each thread.
 */
#include "checks.h"
#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { THREADS = 4, QUEUES = 2, BLOCKS = 6, EVENTS = 4, ITEMS = 64, LARGE = 2 << 20 };

static ol_device_handle_t host;

/* One device's run. */
struct run {
    ol_device_handle_t device;
    struct image image;
    ol_program_handle_t program;
    ol_symbol_handle_t foo, count;
    /* Launches of functions go here. It is there to the end. */
    ol_queue_handle_t other;
    void *counter;
    unsigned long sequences, seed;
    uint32_t items;
    /* Whether programs are loaded and memory is registered meanwhile. A driver may have that wait for the device, and others for it: functions launch
     * nothing then. */
    bool makes;
    /* What was put into queues, and what was called. */
    unsigned long launched, functions, called;
};

struct thread {
    struct run *run;
    uint64_t random;
    const char *volatile step;
    ol_queue_handle_t queues[QUEUES];
    ol_event_handle_t events[EVENTS];
    void *blocks[BLOCKS];
};
static struct thread threads[THREADS];
static unsigned long steps;

static uint32_t next(struct thread *thread, uint32_t below) {
    thread->random = thread->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(thread->random >> 33) % below;
}

/* Ends the program if nothing happens any more. */
static void *watch(void *data) {
    (void)data;
    unsigned long before = 0, quiet = 0;
    for (;;) {
        struct timespec second = {1, 0};
        thrd_sleep(&second, NULL);
        unsigned long now = __atomic_load_n(&steps, __ATOMIC_SEQ_CST);
        quiet = now == before ? quiet + 1 : 0;
        before = now;
        if (quiet > 40) {
            printf("FAIL %s: nothing happens any more after %lu steps; threads are in", on, now);
            for (int i = 0; i < THREADS; i++)
                printf(" %s", threads[i].step ? threads[i].step : "nothing");
            printf("\n");
            fflush(stdout);
            _Exit(1);
        }
    }
    return NULL;
}

static ol_result_t launch(struct run *run, ol_queue_handle_t queue, ol_symbol_handle_t kernel, void *memory) {
    void *values[] = {&memory};
    size_t sizes[] = {sizeof memory};
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {kernel == run->foo ? run->items : 1, 1, 1}, 0};
    return olLaunchKernel(queue, run->device, kernel, &size, NULL, 1, values, sizes);
}

/* What a function gets: some of them give something back, or launch. */
struct task {
    struct run *run;
    void *block;
    ol_event_handle_t event;
    int launches;
};

static void called(void *data) {
    struct task *task = data;
    if (task->block)
        OK(olMemFree(task->block));
    if (task->event)
        OK(olDestroyEvent(task->event));
    if (task->launches && OK(launch(task->run, task->run->other, task->run->count, task->run->counter)))
        __atomic_fetch_add(&task->run->launched, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&task->run->called, 1, __ATOMIC_SEQ_CST);
    free(task);
}

static void call(struct thread *thread, ol_queue_handle_t queue, void *block, ol_event_handle_t event) {
    struct task *task = malloc(sizeof *task);
    if (!task)
        exit(2);
    *task = (struct task){thread->run, block, event, !thread->run->makes && next(thread, 8) == 0};
    if (OK(olLaunchHostFunction(queue, called, task)))
        __atomic_fetch_add(&thread->run->functions, 1, __ATOMIC_SEQ_CST);
}

#define STEP(call) (thread->step = #call, __atomic_fetch_add(&steps, 1, __ATOMIC_SEQ_CST), OK(call))

static void *block(struct thread *thread) {
    void *memory = NULL;
    size_t size = next(thread, 16) == 0 ? LARGE : ITEMS * sizeof(uint32_t);
    STEP(olMemAlloc(thread->run->device, OL_ALLOC_TYPE_DEVICE, size, &memory));
    return memory;
}

/* A program of its own, destroyed while a kernel of it and a copy from its variable are in a queue. */
static void program(struct thread *thread, ol_queue_handle_t queue, void *memory) {
    struct run *run = thread->run;
    ol_program_handle_t own = NULL;
    ol_symbol_handle_t kernel = NULL, variable = NULL;
    void *table = NULL;
    if (!STEP(olCreateProgram(run->device, run->image.bytes, run->image.size, &own)))
        return;
    STEP(olGetSymbol(own, "count", OL_SYMBOL_KIND_KERNEL, &kernel));
    STEP(olGetSymbol(own, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &variable));
    STEP(olGetSymbolInfo(variable, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof table, &table));
    if (STEP(launch(run, queue, kernel, run->counter)))
        __atomic_fetch_add(&run->launched, 1, __ATOMIC_SEQ_CST);
    STEP(olMemcpy(queue, memory, run->device, table, run->device, ITEMS * sizeof(uint32_t)));
    STEP(olDestroyProgram(own));
}

/* One sequence: a launch, what may come after it, and what is given back. */
static void sequence(struct thread *thread, unsigned long number) {
    struct run *run = thread->run;
    uint32_t which = next(thread, QUEUES);
    ol_queue_handle_t queue = thread->queues[which];
    for (uint32_t left = 1 + next(thread, 4); left > 0; left--) {
        uint32_t at = next(thread, BLOCKS), event = next(thread, EVENTS);
        if (!thread->blocks[at])
            thread->blocks[at] = block(thread);
        STEP(launch(run, queue, run->foo, thread->blocks[at]));
        if (next(thread, 2) && STEP(launch(run, queue, run->count, run->counter)))
            __atomic_fetch_add(&run->launched, 1, __ATOMIC_SEQ_CST);
        if (next(thread, 4) == 0)
            STEP(olMemcpy(queue, (char *)thread->blocks[at] + 128, run->device, thread->blocks[at], run->device, 64));
        if (next(thread, 3)) {
            /* Functions give back what is theirs then. */
            int gives_block = next(thread, 4) == 0, gives_event = next(thread, 4) == 0;
            thread->step = "olLaunchHostFunction";
            call(thread, queue, gives_block ? thread->blocks[at] : NULL, gives_event ? thread->events[event] : NULL);
            if (gives_block)
                thread->blocks[at] = NULL;
            if (gives_event)
                thread->events[event] = NULL;
        }
        if (!thread->events[event])
            STEP(olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &thread->events[event]));
        if (next(thread, 4) == 0) {
            ol_event_handle_t waits[] = {thread->events[event]};
            STEP(olWaitEvents(thread->queues[next(thread, QUEUES)], waits, 1));
        }
        if (thread->blocks[at] && next(thread, 2)) {
            STEP(olMemFree(thread->blocks[at]));
            thread->blocks[at] = NULL;
        }
        if (next(thread, 3) == 0) {
            STEP(olDestroyEvent(thread->events[event]));
            thread->events[event] = NULL;
        }
    }
    if (next(thread, 8) == 0) {
        STEP(olDestroyQueue(queue));
        STEP(olCreateQueue(run->device, &thread->queues[which]));
    } else if (next(thread, 16) == 0) {
        STEP(olSyncQueue(queue));
    }
    if (run->makes && number % 20 == 19) {
        if (!thread->blocks[0])
            thread->blocks[0] = block(thread);
        program(thread, thread->queues[0], thread->blocks[0]);
    }
    if (run->makes && number % 20 == 9) {
        static const uint32_t lock = OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, unlock = OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY;
        void *own = malloc(4096), *pinned = NULL;
        if (own && thread->blocks[0] && STEP(olMemRegister(run->device, own, 4096, lock, &pinned))) {
            STEP(olMemcpy(thread->queues[0], thread->blocks[0], run->device, own, host, 64));
            STEP(olMemUnregister(run->device, own, unlock));
        }
        free(own);
    }
}

static void *work(void *data) {
    struct thread *thread = data;
    struct run *run = thread->run;
    for (int i = 0; i < QUEUES; i++)
        STEP(olCreateQueue(run->device, &thread->queues[i]));
    for (unsigned long i = 0; i < run->sequences / THREADS; i++)
        sequence(thread, i);
    for (int i = 0; i < BLOCKS; i++)
        if (thread->blocks[i])
            STEP(olMemFree(thread->blocks[i]));
    for (int i = 0; i < EVENTS; i++)
        if (thread->events[i])
            STEP(olDestroyEvent(thread->events[i]));
    for (int i = 0; i < QUEUES; i++) {
        STEP(olSyncQueue(thread->queues[i]));
        STEP(olDestroyQueue(thread->queues[i]));
    }
    thread->step = "nothing";
    return NULL;
}

static void try_device(struct run *run) {
    pthread_t ids[THREADS];
    uint32_t counted = 0, zero = 0;
    unsigned long called = 0;
    if (!OK(olCreateProgram(run->device, run->image.bytes, run->image.size, &run->program)))
        return;
    OK(olGetSymbol(run->program, "foo", OL_SYMBOL_KIND_KERNEL, &run->foo));
    OK(olGetSymbol(run->program, "count", OL_SYMBOL_KIND_KERNEL, &run->count));
    OK(olCreateQueue(run->device, &run->other));
    OK(olMemAlloc(run->device, OL_ALLOC_TYPE_DEVICE, sizeof counted, &run->counter));
    OK(olMemcpy(NULL, run->counter, run->device, &zero, host, sizeof zero));
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.run = run, .random = run->seed * THREADS + (unsigned long)i, .step = "nothing"};
        if (pthread_create(&ids[i], NULL, work, &threads[i]))
            exit(2);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    /* Queues that were destroyed with work in them do it all the same, so functions may still be called. */
    for (;;) {
        called = __atomic_load_n(&run->called, __ATOMIC_SEQ_CST);
        if (called >= run->functions)
            break;
        struct timespec a_little = {0, 1000000};
        thrd_sleep(&a_little, NULL);
    }
    OK(olSyncQueue(run->other));
    /* The kernels of destroyed queues: as many as were launched, sooner or later. */
    do {
        OK(olMemcpy(NULL, &counted, host, run->counter, run->device, sizeof counted));
    } while (counted < run->launched);
    CHECK(counted == run->launched);
    CHECK(called == run->functions);
    printf("%s%s: %lu sequences, %lu launches and %lu functions counted\n", on, run->makes ? ", loading and registering" : "", run->sequences, run->launched, run->functions);
    fflush(stdout);
    OK(olDestroyQueue(run->other));
    OK(olMemFree(run->counter));
    OK(olDestroyProgram(run->program));
}

int main(int count, char **arguments) {
    static struct devices devices;
    static char name[256];
    pthread_t watcher;
    if (count < 4) {
        printf("usage: %s SEQUENCES SEED IMAGE...\n", arguments[0]);
        return 2;
    }
    if (!OK(olInit(NULL)) || pthread_create(&watcher, NULL, watch, NULL))
        return 1;
    OK(olIterateDevices(take_device, &devices));
    host = devices.host;
    for (size_t i = 0; i < devices.count; i++) {
        struct run run = {.device = devices.all[i], .sequences = strtoul(arguments[1], NULL, 10), .seed = strtoul(arguments[2], NULL, 10)};
        bool valid = false;
        OK(olGetDeviceInfo(run.device, OL_DEVICE_INFO_NAME, sizeof name, name));
        on = name;
        for (int image = 3; image < count && !valid; image++) {
            free(run.image.bytes);
            run.image = read_image(arguments[image]);
            OK(olIsValidBinary(run.device, run.image.bytes, run.image.size, &valid));
            /* Host images have one item. */
            run.items = strstr(arguments[image], "host") ? 1 : ITEMS;
        }
        for (int makes = 0; valid && makes < 2; makes++) {
            struct run one = run;
            one.makes = makes;
            one.sequences = run.sequences / 2;
            try_device(&one);
        }
        if (!valid)
            printf("%s: no image for it\n", name);
        free(run.image.bytes);
    }
    OK(olShutDown());
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
