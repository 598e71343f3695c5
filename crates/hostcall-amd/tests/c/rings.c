/* A program with AMD's runtime: it makes HSA calls of its own, and rings the doorbell as AMD's tests and device libraries do.
 * A thousand producers, ten calls each. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);            \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum { SERVICE = 23, PRODUCERS = 1000, CALLS = 10 };

uint32_t hsa_init(void);
void hsa_signal_add_screlease(uint64_t signal, int64_t value);

static hostcall_amd_buffer_t *buffer;

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] += 1;
    return 0;
}

static uint64_t index_of(uint64_t pointer) { return pointer & ((UINT64_C(1) << buffer->index_size) - 1); }

static void put(uint64_t *stack, uint64_t pointer) {
    uint64_t below = __atomic_load_n(stack, __ATOMIC_RELAXED);
    do
        __atomic_store_n(&buffer->headers[index_of(pointer)].next, below, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(stack, &below, pointer, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void *produce(void *argument) {
    uint64_t id = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < CALLS; ++i) {
        uint64_t top = __atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE);
        uint64_t below;
        do {
            CHECK(top != 0);
            below = __atomic_load_n(&buffer->headers[index_of(top)].next, __ATOMIC_RELAXED);
        } while (!__atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
        hostcall_amd_header_t *header = &buffer->headers[index_of(top)];
        uint64_t *words = buffer->payloads[index_of(top)].lanes[0];
        header->service = SERVICE;
        header->active_mask = 1;
        __atomic_store_n(&header->control, header->control | 1, __ATOMIC_RELAXED);
        words[0] = id * i;
        put(&buffer->ready_stack, top);
        hsa_signal_add_screlease(buffer->doorbell, 1);
        while (__atomic_load_n(&header->control, __ATOMIC_ACQUIRE) & 1) {
            struct timespec pause = {0, 50000};
            nanosleep(&pause, NULL);
        }
        CHECK(words[0] == id * i + 1);
        uint64_t step = UINT64_C(1) << buffer->index_size, back = top + step;
        put(&buffer->free_stack, back ? back : step);
    }
    return NULL;
}

int main(void) {
    CHECK(hsa_init() == 0);
    buffer = (hostcall_amd_buffer_t *)malloc(amd_hostcall_get_buffer_size(PRODUCERS));
    CHECK(buffer && amd_hostcall_initialize_buffer(buffer, PRODUCERS) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_consumer_t *consumer;
    CHECK(amd_hostcall_create_consumer(&consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(SERVICE, add_one, NULL) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    static pthread_t producers[PRODUCERS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    for (uintptr_t i = 0; i < PRODUCERS; ++i)
        CHECK(pthread_create(&producers[i], &attributes, produce, (void *)i) == 0);
    for (int i = 0; i < PRODUCERS; ++i)
        pthread_join(producers[i], NULL);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    free(buffer);
    puts("passed");
    return 0;
}
