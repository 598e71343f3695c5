/* Uses nothing but what AMD's library has: the packet is filled and its end awaited by hand. No doorbell is rung, as none of AMD's
 * functions rings one: the consumer finds the packet by itself. */
#include <amd_hostcall.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    uint64_t next, active_mask;
    uint32_t service, control;
} header_t;

typedef struct {
    header_t *headers;
    uint64_t (*payloads)[64][8];
    uint64_t doorbell, free_stack, ready_stack;
    uint32_t index_size;
} buffer_t;

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)service;
    payload[0] += *(uint64_t *)state;
    return 0;
}

int main(void) {
    uint64_t one = 1;
    amd_hostcall_consumer_t *consumer;
    buffer_t *buffer = (buffer_t *)malloc(amd_hostcall_get_buffer_size(1));
    if (amd_hostcall_create_consumer(&consumer) || amd_hostcall_initialize_buffer(buffer, 1) ||
        amd_hostcall_register_service(23, add_one, &one) || amd_hostcall_register_buffer(consumer, buffer) ||
        amd_hostcall_launch_consumer(consumer))
        return 1;
    uint64_t packet = buffer->free_stack;
    buffer->free_stack = 0;
    buffer->headers[0].service = 23;
    buffer->headers[0].active_mask = 1;
    buffer->headers[0].control |= 1;
    buffer->headers[0].next = 0;
    buffer->payloads[0][0][0] = 42;
    __atomic_store_n(&buffer->ready_stack, packet, __ATOMIC_RELEASE);
    while (__atomic_load_n(&buffer->headers[0].control, __ATOMIC_ACQUIRE) & 1)
        ;
    printf("%" PRIu64 "\n", buffer->payloads[0][0][0]);
    if (amd_hostcall_deregister_buffer(consumer, buffer) || amd_hostcall_destroy_consumer(consumer))
        return 2;
    free(buffer);
    return 0;
}
