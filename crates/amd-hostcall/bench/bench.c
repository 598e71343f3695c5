/* Packets per second through this library, beside a plain loop of the same protocol, in one run.
 *
 *   bench [MILLISECONDS PER ROW]
 *
 * The plain loop is what the protocol asks for and nothing else: one consumer that spins on the doorbell and takes the ready stack,
 * producers that spin on their packet's control word, no back-off. It is written here from the description of the protocol. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SERVICE = 23, MOST = 64, ROUNDS = 5 };

typedef struct {
    hostcall_amd_buffer_t *buffer;
    uint64_t calls;
    int kind;
} producer_t;

enum { PLAIN, PLAIN_PRODUCERS, OURS };

static atomic_int stop, consumer_stop;
static _Alignas(64) uint64_t doorbell;

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

static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] += 1;
    return 0;
}

static uint64_t index_of(hostcall_amd_buffer_t *buffer, uint64_t pointer) {
    return pointer & ((UINT64_C(1) << buffer->index_size) - 1);
}

static void put(hostcall_amd_buffer_t *buffer, uint64_t *stack, uint64_t pointer) {
    uint64_t below = __atomic_load_n(stack, __ATOMIC_RELAXED);
    do
        __atomic_store_n(&buffer->headers[index_of(buffer, pointer)].next, below, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(stack, &below, pointer, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void plain_call(hostcall_amd_buffer_t *buffer, uint64_t value, int kind) {
    uint64_t top = __atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE), below;
    do
        below = __atomic_load_n(&buffer->headers[index_of(buffer, top)].next, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, top)];
    uint64_t *words = buffer->payloads[index_of(buffer, top)].lanes[0];
    header->service = SERVICE;
    header->active_mask = 1;
    __atomic_store_n(&header->control, 1, __ATOMIC_RELAXED);
    words[0] = value;
    put(buffer, &buffer->ready_stack, top);
    if (kind == PLAIN)
        __atomic_fetch_add(&doorbell, 1, __ATOMIC_RELEASE);
    else
        hostcall_amd_ring(buffer->doorbell);
    while (__atomic_load_n(&header->control, __ATOMIC_ACQUIRE) & 1)
        relax();
    if (words[0] != value + 1)
        abort();
    uint64_t step = UINT64_C(1) << buffer->index_size, back = top + step;
    put(buffer, &buffer->free_stack, back ? back : step);
}

static void *produce(void *argument) {
    producer_t *producer = argument;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        if (producer->kind == OURS) {
            uint64_t payload[1][8] = {{producer->calls}};
            if (hostcall_amd_call(producer->buffer, SERVICE, 1, payload) || payload[0][0] != producer->calls + 1)
                abort();
        } else
            plain_call(producer->buffer, producer->calls, producer->kind);
        ++producer->calls;
    }
    return NULL;
}

static void *plain_consumer(void *argument) {
    hostcall_amd_buffer_t *buffer = argument;
    uint64_t seen = 0;
    while (!atomic_load_explicit(&consumer_stop, memory_order_relaxed)) {
        uint64_t value = __atomic_load_n(&doorbell, __ATOMIC_ACQUIRE);
        if (value == seen) {
            relax();
            continue;
        }
        seen = value;
        uint64_t at = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQUIRE), next;
        for (; at; at = next) {
            hostcall_amd_header_t *header = &buffer->headers[index_of(buffer, at)];
            next = header->next;
            for (int lane = 0; lane < 64; ++lane)
                if (header->active_mask >> lane & 1)
                    add_one(NULL, header->service, buffer->payloads[index_of(buffer, at)].lanes[lane]);
            __atomic_store_n(&header->control, 0, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

static hostcall_amd_buffer_t *new_buffer(void) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, amd_hostcall_get_buffer_size(MOST)) || amd_hostcall_initialize_buffer(memory, MOST))
        abort();
    return memory;
}

/* Calls per second. */
static double rate(int kind, int threads, double seconds) {
    hostcall_amd_buffer_t *buffer = new_buffer();
    pthread_t consumer_thread, ids[MOST];
    amd_hostcall_consumer_t *consumer = NULL;
    atomic_store(&consumer_stop, 0);
    doorbell = 0;
    if (kind == PLAIN)
        pthread_create(&consumer_thread, NULL, plain_consumer, buffer);
    else if (amd_hostcall_create_consumer(&consumer) || amd_hostcall_register_buffer(consumer, buffer) || amd_hostcall_launch_consumer(consumer))
        abort();
    producer_t producers[MOST];
    atomic_store(&stop, 0);
    double begin = now();
    for (int i = 0; i < threads; ++i) {
        producers[i] = (producer_t){buffer, 0, kind};
        pthread_create(&ids[i], NULL, produce, &producers[i]);
    }
    usleep((useconds_t)(1e6 * seconds));
    atomic_store(&stop, 1);
    uint64_t calls = 0;
    for (int i = 0; i < threads; ++i) {
        pthread_join(ids[i], NULL);
        calls += producers[i].calls;
    }
    double time = now() - begin;
    atomic_store(&consumer_stop, 1);
    if (kind == PLAIN)
        pthread_join(consumer_thread, NULL);
    else if (amd_hostcall_destroy_consumer(consumer))
        abort();
    free(buffer);
    return (double)calls / time;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    double seconds = (argc > 1 ? atof(argv[1]) : 300) / 1000;
    if (amd_hostcall_register_service(SERVICE, add_one, NULL))
        return 1;
    printf("processors: %ld; rows are medians of %d runs of %.0f ms, taken in turns\n", sysconf(_SC_NPROCESSORS_ONLN), ROUNDS, 1e3 * seconds);
    printf("| threads | plain loop | plain producers, this library | this library | ratio |\n|--:|--:|--:|--:|--:|\n");
    const int threads[] = {1, 2, 4, 8};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
        double runs[3][ROUNDS];
        for (int round = 0; round < ROUNDS; ++round)
            for (int kind = 0; kind < 3; ++kind)
                runs[kind][round] = rate(kind, threads[t], seconds);
        for (int kind = 0; kind < 3; ++kind)
            qsort(runs[kind], ROUNDS, sizeof(double), compare);
        double plain = runs[PLAIN][ROUNDS / 2], ours = runs[OURS][ROUNDS / 2];
        printf("| %d | %.0f/s | %.0f/s | %.0f/s | %.2fx |\n", threads[t], plain, runs[PLAIN_PRODUCERS][ROUNDS / 2], ours, ours / plain);
        fflush(stdout);
    }
    /* At rest, and woken. */
    hostcall_amd_buffer_t *buffer = new_buffer();
    amd_hostcall_consumer_t *consumer;
    if (amd_hostcall_create_consumer(&consumer) || amd_hostcall_register_buffer(consumer, buffer) || amd_hostcall_launch_consumer(consumer))
        abort();
    sleep(2);
    double before = processor_time();
    sleep(2);
    printf("at rest: %.2f %% of a processor\n", 50 * (processor_time() - before));
    double wakes[51];
    for (int i = 0; i < 51; ++i) {
        usleep(50000);
        uint64_t payload[1][8] = {{1}};
        double begin = now();
        if (hostcall_amd_call(buffer, SERVICE, 1, payload))
            abort();
        wakes[i] = 1e6 * (now() - begin);
    }
    qsort(wakes, 51, sizeof(double), compare);
    printf("first call after 50 ms of silence, there and back: median %.1f us, slowest of 51 %.1f us\n", wakes[25], wakes[50]);
    return amd_hostcall_destroy_consumer(consumer) ? 1 : 0;
}
