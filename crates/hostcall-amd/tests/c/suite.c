/* The interface of v1 from C and C++: layout, packets filled by hand, and the functions of the header. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);            \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

enum { SERVICE = 23, LIMIT = 20000 };

static int collect(void *state, uint32_t service, uint64_t *payload) {
    uint64_t *sum = (uint64_t *)state;
    CHECK(service == SERVICE);
    *sum += payload[0];
    payload[0] = payload[0] * 2;
    payload[7] = 99;
    return 0;
}

static void add_pairs(uint64_t *output, const uint64_t *input) {
    output[0] = input[0] + input[1];
    output[1] = input[2] + input[3];
}

static void pause_a_bit(void) {
    struct timespec time = {0, 50000};
    nanosleep(&time, NULL);
}

/* What a wave does, in plain C. */
static uint64_t take(hostcall_amd_buffer_t *buffer) {
    uint64_t top = __atomic_load_n(&buffer->free_stack, __ATOMIC_ACQUIRE);
    for (;;) {
        uint64_t index = top & ((UINT64_C(1) << buffer->index_size) - 1);
        uint64_t below = __atomic_load_n(&buffer->headers[index].next, __ATOMIC_RELAXED);
        CHECK(top != 0);
        if (__atomic_compare_exchange_n(&buffer->free_stack, &top, below, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            return top;
    }
}

static void put(hostcall_amd_buffer_t *buffer, uint64_t *stack, uint64_t pointer) {
    uint64_t below = __atomic_load_n(stack, __ATOMIC_RELAXED);
    uint64_t index = pointer & ((UINT64_C(1) << buffer->index_size) - 1);
    do
        __atomic_store_n(&buffer->headers[index].next, below, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(stack, &below, pointer, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void *aligned(size_t size) {
    char *memory = (char *)malloc(size + 64);
    CHECK(memory != NULL);
    memset(memory, 0xff, size + 64);
    return memory;
}

int main(void) {
    CHECK(sizeof(hostcall_amd_buffer_t) == 48 && sizeof(hostcall_amd_header_t) == 24 && sizeof(hostcall_amd_payload_t) == 4096);
    CHECK(offsetof(hostcall_amd_buffer_t, headers) == 0 && offsetof(hostcall_amd_buffer_t, payloads) == 8);
    CHECK(offsetof(hostcall_amd_buffer_t, doorbell) == 16 && offsetof(hostcall_amd_buffer_t, free_stack) == 24);
    CHECK(offsetof(hostcall_amd_buffer_t, ready_stack) == 32 && offsetof(hostcall_amd_buffer_t, index_size) == 40);
    CHECK(offsetof(hostcall_amd_header_t, next) == 0 && offsetof(hostcall_amd_header_t, active_mask) == 8);
    CHECK(offsetof(hostcall_amd_header_t, service) == 16 && offsetof(hostcall_amd_header_t, control) == 20);
    CHECK(amd_hostcall_get_buffer_alignment() == 8 && amd_hostcall_get_buffer_size(1) == 4168);
    CHECK(strcmp(amd_hostcall_error_string(7), "AMD_HOSTCALL_ERROR_NULLPTR") == 0);

    const uint32_t packets = 42;
    void *memory = aligned(amd_hostcall_get_buffer_size(packets));
    CHECK(amd_hostcall_initialize_buffer(NULL, packets) == AMD_HOSTCALL_ERROR_NULLPTR);
    CHECK(amd_hostcall_initialize_buffer((char *)memory + 1, packets) == AMD_HOSTCALL_ERROR_INCORRECT_ALIGNMENT);
    CHECK(amd_hostcall_initialize_buffer(memory, packets) == AMD_HOSTCALL_SUCCESS);
    hostcall_amd_buffer_t *buffer = (hostcall_amd_buffer_t *)memory;
    uint32_t free_packets = 0;
    for (uint64_t at = buffer->free_stack; at; at = buffer->headers[at & ((UINT64_C(1) << buffer->index_size) - 1)].next)
        ++free_packets;
    CHECK(free_packets == packets && buffer->ready_stack == 0);

    uint64_t sum = 0;
    CHECK(amd_hostcall_register_service(SERVICE, collect, &sum) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(SERVICE, collect, &sum) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    amd_hostcall_consumer_t *consumer = NULL;
    CHECK(amd_hostcall_create_consumer(&consumer) == AMD_HOSTCALL_SUCCESS && consumer != NULL);
    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(amd_hostcall_register_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(buffer->doorbell != 0);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE);

    /* A packet of four lanes, by hand. */
    uint64_t packet = take(buffer);
    uint64_t index = packet & ((UINT64_C(1) << buffer->index_size) - 1);
    buffer->headers[index].service = SERVICE;
    buffer->headers[index].active_mask = 0x8421;
    __atomic_store_n(&buffer->headers[index].control, buffer->headers[index].control | 1, __ATOMIC_RELAXED);
    const int lanes[4] = {0, 5, 10, 15};
    for (int i = 0; i < 4; ++i)
        buffer->payloads[index].lanes[lanes[i]][0] = 42 + (uint64_t)i;
    put(buffer, &buffer->ready_stack, packet);
    CHECK(hostcall_amd_ring(buffer->doorbell) == AMD_HOSTCALL_SUCCESS);
    int turns = 0;
    while ((__atomic_load_n(&buffer->headers[index].control, __ATOMIC_ACQUIRE) & 1) && ++turns < LIMIT)
        pause_a_bit();
    CHECK(turns < LIMIT && sum == 42 + 43 + 44 + 45);
    for (int i = 0; i < 4; ++i)
        CHECK(buffer->payloads[index].lanes[lanes[i]][0] == 2 * (42 + (uint64_t)i) && buffer->payloads[index].lanes[lanes[i]][7] == 99);
    put(buffer, &buffer->free_stack, packet + (UINT64_C(1) << buffer->index_size));

    /* The same by the header's call, and service 1. */
    hostcall_amd_result_t result = hostcall_amd_preview(buffer, SERVICE, 7, 8, 0, 0, 0, 0, 0, 0);
    CHECK(result.x == 14 && result.y == 8 && !result.refused);
    result = hostcall_amd_preview(buffer, 1, (uint64_t)(uintptr_t)add_pairs, 91, 5, 23, 17, 0, 0, 0);
    CHECK(result.refused && result.x == (uint64_t)(uintptr_t)add_pairs);
    CHECK(hostcall_amd_allow_call(add_pairs) == AMD_HOSTCALL_SUCCESS);
    result = hostcall_amd_preview(buffer, 1, (uint64_t)(uintptr_t)add_pairs, 91, 5, 23, 17, 0, 0, 0);
    CHECK(!result.refused && result.x == 96 && result.y == 40);

    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    free(memory);
    puts("passed");
    return 0;
}
