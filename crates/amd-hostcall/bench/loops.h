/* The packet protocol in plain C, twice: as little as it asks for, and with what AMD's library does for each packet. Written here from the
 * description of the protocol and of that library's algorithm.
 *
 * What AMD's library does: one thread waits on a signal, by a look at a clock after each look at the signal and, after 200 us in vain,
 * asleep. Then it takes a reader's lock on its buffers and one on the services, goes through the buffers, takes a buffer's whole ready stack,
 * and for each packet finds the handler in a hash map, tries all 64 lanes of the mask in turn, compares what the handler returned, and clears
 * the ready bit. What it costs to copy a handler object, as its C++ does for each packet, is left out. */
#ifndef LOOPS_H
#define LOOPS_H

#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SERVICE = 23, SERVICES = 64, SPIN_NS = 200000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] += 1;
    return 0;
}

static inline uint64_t index_of(hostcall_amd_buffer_t *buffer, uint64_t pointer) {
    return pointer & ((UINT64_C(1) << buffer->index_size) - 1);
}

static void put(hostcall_amd_buffer_t *buffer, uint64_t *stack, uint64_t pointer) {
    hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, pointer)];
    uint64_t below = __atomic_load_n(stack, __ATOMIC_RELAXED);
    do
        __atomic_store_n(&header->next, below, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(stack, &below, pointer, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static uint64_t take(hostcall_amd_buffer_t *buffer) {
    uint64_t top = __atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE), below;
    do
        below = __atomic_load_n(&buffer->headers[index_of(buffer, top)].next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return top;
}

/* Fills a packet for the lanes of a mask, whose first words are value. */
static void fill(hostcall_amd_buffer_t *buffer, uint64_t packet, uint64_t mask, uint64_t value) {
    hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, packet)];
    hostcall_amd_payload_t *payload = &buffer->payloads[index_of(buffer, packet)];
    header->service = SERVICE;
    header->active_mask = mask;
    __atomic_store_n(&header->control, 1, __ATOMIC_RELAXED);
    for (uint64_t left = mask; left; left &= left - 1)
        payload->lanes[__builtin_ctzll(left)][0] = value;
}

static void give_back(hostcall_amd_buffer_t *buffer, uint64_t packet) {
    uint64_t step = UINT64_C(1) << buffer->index_size, back = packet + step;
    put(buffer, &buffer->free_stack, back ? back : step);
}

/* Whether a packet is answered. */
static inline int answered(hostcall_amd_buffer_t *buffer, uint64_t packet) {
    return !(__atomic_load_n(&buffer->headers[index_of(buffer, packet)].control, __ATOMIC_ACQUIRE) & 1);
}

/* A plain consumer of either kind. */
typedef struct {
    hostcall_amd_buffer_t *buffer;
    _Alignas(64) uint64_t doorbell;
    _Alignas(64) int sleeping;
    atomic_int stop;
    int bare;
    pthread_t thread;
    pthread_rwlock_t buffers, services;
    struct {
        uint32_t service;
        amd_hostcall_service_handler_t handler;
        void *state;
    } table[SERVICES];
} loop_t;

static void ring_loop(loop_t *loop) {
    __atomic_fetch_add(&loop->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&loop->sleeping, __ATOMIC_SEQ_CST) && __atomic_exchange_n(&loop->sleeping, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &loop->sleeping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* As the runtime waits, blocked. */
static uint64_t wait_as_the_runtime(loop_t *loop, uint64_t seen) {
    double begin = now();
    for (;;) {
        uint64_t value = __atomic_load_n(&loop->doorbell, __ATOMIC_ACQUIRE);
        if (value != seen)
            return value;
        if (now() - begin < 1e-9 * SPIN_NS) {
            relax();
            continue;
        }
        __atomic_store_n(&loop->sleeping, 1, __ATOMIC_SEQ_CST);
        struct timespec limit = {0, 10000000};
        if (__atomic_load_n(&loop->doorbell, __ATOMIC_SEQ_CST) == seen)
            syscall(SYS_futex, &loop->sleeping, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
        __atomic_store_n(&loop->sleeping, 0, __ATOMIC_SEQ_CST);
        if (atomic_load_explicit(&loop->stop, memory_order_relaxed))
            return seen + 1;
    }
}

static void serve_bare(loop_t *loop) {
    hostcall_amd_buffer_t *buffer = loop->buffer;
    uint64_t at = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQUIRE), next;
    for (; at; at = next) {
        hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, at)];
        next = header->next;
        for (uint64_t left = header->active_mask; left; left &= left - 1)
            add_one(NULL, header->service, buffer->payloads[index_of(buffer, at)].lanes[__builtin_ctzll(left)]);
        __atomic_store_n(&header->control, 0, __ATOMIC_RELEASE);
    }
}

static void serve_as_amd(loop_t *loop) {
    hostcall_amd_buffer_t *buffer = loop->buffer;
    pthread_rwlock_rdlock(&loop->buffers);
    pthread_rwlock_rdlock(&loop->services);
    uint64_t at = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQUIRE), next;
    for (; at; at = next) {
        hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, at)];
        next = header->next;
        uint32_t service = header->service, place = service * 2654435761u % SERVICES;
        while (loop->table[place].handler && loop->table[place].service != service)
            place = (place + 1) % SERVICES;
        if (!loop->table[place].handler)
            abort();
        uint64_t mask = header->active_mask;
        for (int lane = 0; lane < 64; ++lane) {
            if (!(mask & (UINT64_C(1) << lane)))
                continue;
            if (loop->table[place].handler(loop->table[place].state, service, buffer->payloads[index_of(buffer, at)].lanes[lane]))
                abort();
        }
        __atomic_store_n(&header->control, header->control & ~1u, __ATOMIC_RELEASE);
    }
    pthread_rwlock_unlock(&loop->services);
    pthread_rwlock_unlock(&loop->buffers);
}

static void *run_loop(void *argument) {
    loop_t *loop = argument;
    uint64_t seen = 0;
    while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
        if (loop->bare) {
            uint64_t value = __atomic_load_n(&loop->doorbell, __ATOMIC_ACQUIRE);
            if (value == seen) {
                relax();
                continue;
            }
            seen = value;
            serve_bare(loop);
        } else {
            seen = wait_as_the_runtime(loop, seen);
            serve_as_amd(loop);
        }
    }
    return NULL;
}

static loop_t *start_loop(hostcall_amd_buffer_t *buffer, int bare) {
    loop_t *loop = aligned_alloc(64, (sizeof *loop + 63) / 64 * 64);
    memset(loop, 0, sizeof *loop);
    loop->buffer = buffer, loop->bare = bare;
    pthread_rwlock_init(&loop->buffers, NULL), pthread_rwlock_init(&loop->services, NULL);
    uint32_t place = SERVICE * 2654435761u % SERVICES;
    loop->table[place].service = SERVICE, loop->table[place].handler = add_one;
    pthread_create(&loop->thread, NULL, run_loop, loop);
    return loop;
}

static void end_loop(loop_t *loop) {
    atomic_store(&loop->stop, 1);
    ring_loop(loop);
    pthread_join(loop->thread, NULL);
    free(loop);
}

static hostcall_amd_buffer_t *new_buffer(uint32_t packets) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, amd_hostcall_get_buffer_size(packets)) || amd_hostcall_initialize_buffer(memory, packets))
        abort();
    return memory;
}

static amd_hostcall_consumer_t *start_consumer(hostcall_amd_buffer_t *buffer) {
    amd_hostcall_consumer_t *consumer;
    if (amd_hostcall_create_consumer(&consumer) || amd_hostcall_register_buffer(consumer, buffer) || amd_hostcall_launch_consumer(consumer))
        abort();
    return consumer;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

#endif
