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

static inline double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* If calls are counted: how many there will be, how many there were, and the serving thread's processor time at the first and the last. */
static uint64_t calls_wanted, calls_seen;
static double first_call, last_call;

static void note_call(void) {
    ++calls_seen;
    if (calls_seen != 1 && calls_seen != calls_wanted)
        return;
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    *(calls_seen == 1 ? &first_call : &last_call) = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] += 1;
    if (calls_wanted)
        note_call();
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

static inline uint64_t take(hostcall_amd_buffer_t *buffer) {
    uint64_t top = __atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE), below;
    do
        below = __atomic_load_n(&buffer->headers[index_of(buffer, top)].next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    return top;
}

/* Fills a packet for the lanes of a mask, whose first words are value. */
static inline void fill(hostcall_amd_buffer_t *buffer, uint64_t packet, uint64_t mask, uint64_t value) {
    hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, packet)];
    hostcall_amd_payload_t *payload = &buffer->payloads[index_of(buffer, packet)];
    header->service = SERVICE;
    header->active_mask = mask;
    __atomic_store_n(&header->control, 1, __ATOMIC_RELAXED);
    for (uint64_t left = mask; left; left &= left - 1)
        payload->lanes[__builtin_ctzll(left)][0] = value;
}

static inline void give_back(hostcall_amd_buffer_t *buffer, uint64_t packet) {
    uint64_t step = UINT64_C(1) << buffer->index_size, back = packet + step;
    put(buffer, &buffer->free_stack, back ? back : step);
}

/* Whether a packet is answered. */
static inline int answered(hostcall_amd_buffer_t *buffer, uint64_t packet) {
    return !(__atomic_load_n(&buffer->headers[index_of(buffer, packet)].control, __ATOMIC_ACQUIRE) & 1);
}

/* A plain consumer of either kind. */
typedef struct {
    void *const *all;
    int count, bare, mail;
    _Alignas(64) uint64_t doorbell;
    _Alignas(64) int sleeping;
    atomic_int stop;
    pthread_t thread;
    pthread_rwlock_t buffers, services;
    uint32_t limits[16];
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

static void serve_bare(hostcall_amd_buffer_t *buffer) {
    uint64_t at = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQUIRE), next;
    for (; at; at = next) {
        hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, at)];
        next = header->next;
        for (uint64_t left = header->active_mask; left; left &= left - 1)
            add_one(NULL, header->service, buffer->payloads[index_of(buffer, at)].lanes[__builtin_ctzll(left)]);
        __atomic_store_n(&header->control, 0, __ATOMIC_RELEASE);
    }
}

/* The lanes of a packet, one after another. */
static void serve_lanes(loop_t *loop, uint32_t service, uint64_t mask, hostcall_amd_payload_t *payload) {
    uint32_t place = service * 2654435761u % SERVICES;
    while (loop->table[place].handler && loop->table[place].service != service)
        place = (place + 1) % SERVICES;
    if (!loop->table[place].handler)
        abort();
    for (int lane = 0; lane < 64; ++lane) {
        if (!(mask & (UINT64_C(1) << lane)))
            continue;
        if (loop->table[place].handler(loop->table[place].state, service, payload->lanes[lane]))
            abort();
    }
}

static void serve_stacks(loop_t *loop, hostcall_amd_buffer_t *buffer) {
    uint64_t at = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQUIRE), next;
    for (; at; at = next) {
        hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, at)];
        next = header->next;
        serve_lanes(loop, header->service, header->active_mask, &buffer->payloads[index_of(buffer, at)]);
        __atomic_store_n(&header->control, header->control & ~1u, __ATOMIC_RELEASE);
    }
}

/* A buffer of mailboxes. */
typedef struct {
    uint32_t *device_phase, *host_phase, *occupied;
    struct {
        uint64_t active_mask;
        uint32_t service;
    } *headers;
    hostcall_amd_payload_t *payloads;
    uint64_t doorbell;
    uint32_t packets;
} mailboxes_t;

/* As ROCm serves mailboxes: all up to a limit, which is behind the last that was found, and everything if nothing was. */
static int serve_mailboxes(loop_t *loop, mailboxes_t *buffer, uint32_t *limit) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < (*limit ? *limit : buffer->packets); ++i) {
        uint32_t device = __atomic_load_n(&buffer->device_phase[i], __ATOMIC_RELAXED);
        uint32_t host = __atomic_load_n(&buffer->host_phase[i], __ATOMIC_RELAXED);
        if (device == host)
            continue;
        found = i + 1;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        serve_lanes(loop, buffer->headers[i].service, buffer->headers[i].active_mask, &buffer->payloads[i]);
        __atomic_store_n(&buffer->host_phase[i], host ^ 1, __ATOMIC_RELEASE);
    }
    *limit = found;
    return found != 0;
}

static void serve_as_amd(loop_t *loop) {
    pthread_rwlock_rdlock(&loop->buffers);
    pthread_rwlock_rdlock(&loop->services);
    for (int i = 0; i < loop->count; ++i) {
        if (loop->mail)
            serve_mailboxes(loop, loop->all[i], &loop->limits[i]);
        else
            serve_stacks(loop, loop->all[i]);
    }
    pthread_rwlock_unlock(&loop->services);
    pthread_rwlock_unlock(&loop->buffers);
}

static void *run_loop(void *argument) {
    loop_t *loop = argument;
    uint64_t seen = 0;
    while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
        if (loop->bare > 0) {
            uint64_t value = __atomic_load_n(&loop->doorbell, __ATOMIC_ACQUIRE);
            if (value == seen) {
                relax();
                continue;
            }
            seen = value;
            serve_bare(loop->all[0]);
        } else {
            /* Devices ring words of this library's, not the loop's: for them it looks all the time, which is faster than to wait. */
            if (loop->bare == 0)
                seen = wait_as_the_runtime(loop, seen);
            serve_as_amd(loop);
        }
    }
    return NULL;
}

/* A thread that serves so many buffers: bare is 1 for the bare loop, 0 for AMD's algorithm, -1 for the same without its wait. */
static loop_t *start_loop(void *const *buffers, int count, int mail, int bare) {
    loop_t *loop = aligned_alloc(64, (sizeof *loop + 63) / 64 * 64);
    memset(loop, 0, sizeof *loop);
    loop->all = buffers, loop->count = count, loop->mail = mail, loop->bare = bare;
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

static inline hostcall_amd_buffer_t *new_buffer(uint32_t packets) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, amd_hostcall_get_buffer_size(packets)) || amd_hostcall_initialize_buffer(memory, packets))
        abort();
    return memory;
}

static inline amd_hostcall_consumer_t *start_consumer(hostcall_amd_buffer_t *buffer) {
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
