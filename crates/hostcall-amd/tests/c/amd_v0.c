/* A program of v0 that has never heard of this library: it declares v0's functions as AMD's header does, under AMD's
 * names, and uses nothing else. Packets are filled, and their ends awaited, by hand; an answered packet's control word
 * is 0. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef int code_t;
typedef struct consumer_t consumer_t;
typedef void (*handler_t)(void *data, uint32_t service, uint64_t *payload);
typedef void (*error_handler_t)(code_t error, void *data);
const char *amd_hostcall_error_string(code_t error);
consumer_t *amd_hostcall_create_consumer(void);
void amd_hostcall_destroy_consumer(consumer_t *consumer);
void amd_hostcall_register_service(consumer_t *consumer, uint32_t service, handler_t handler, void *data);
size_t amd_hostcall_get_buffer_size(uint32_t packets);
uint32_t amd_hostcall_get_buffer_alignment(void);
code_t amd_hostcall_initialize_buffer(void *buffer, uint32_t packets);
void amd_hostcall_register_buffer(consumer_t *consumer, void *buffer);
code_t amd_hostcall_deregister_buffer(consumer_t *consumer, void *buffer);
code_t amd_hostcall_launch_consumer(consumer_t *consumer);
code_t amd_hostcall_on_error(consumer_t *consumer, error_handler_t handler, void *data);
void amd_hostcall_enable_debug(void);
#ifdef __cplusplus
}
#endif

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(1);                                                \
        }                                                           \
    } while (0)

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

enum { PACKETS = 3, SERVICE = 23 };

static void add(void *data, uint32_t service, uint64_t *payload) { payload[0] += *(uint64_t *)data + service; }

static void told(code_t error, void *data) {
    printf("told: %s %s\n", amd_hostcall_error_string(error), (const char *)data);
    fflush(stdout);
}

static uint64_t call(buffer_t *buffer, uint32_t service, uint64_t value) {
    uint64_t mask = (UINT64_C(1) << buffer->index_size) - 1, packet = buffer->free_stack;
    CHECK(packet != 0);
    header_t *header = &buffer->headers[packet & mask];
    uint64_t *words = buffer->payloads[packet & mask][0];
    buffer->free_stack = header->next;
    header->service = service;
    header->active_mask = 1;
    header->control |= 1;
    header->next = 0;
    words[0] = value;
    __atomic_store_n(&buffer->ready_stack, packet, __ATOMIC_RELEASE);
    while (__atomic_load_n(&header->control, __ATOMIC_ACQUIRE) != 0) {
        struct timespec pause = {0, 50000};
        nanosleep(&pause, NULL);
    }
    packet += mask + 1;
    header->next = buffer->free_stack;
    buffer->free_stack = packet;
    return words[0];
}

int main(int argc, char **argv) {
    (void)argv;
    static char name[] = "once";
    uint64_t one = 1, ten = 10;
    CHECK(amd_hostcall_get_buffer_alignment() == 8);
    consumer_t *consumer = amd_hostcall_create_consumer();
    buffer_t *buffer = (buffer_t *)calloc(1, amd_hostcall_get_buffer_size(PACKETS));
    CHECK(consumer && buffer);
    /* Laid out after it was registered. */
    amd_hostcall_register_buffer(consumer, buffer);
    CHECK(amd_hostcall_initialize_buffer(buffer, PACKETS) == 0);
    amd_hostcall_register_service(consumer, SERVICE, add, &ten);
    amd_hostcall_register_service(consumer, SERVICE, add, &one);
    CHECK(amd_hostcall_on_error(consumer, told, name) == 0);
    CHECK(amd_hostcall_launch_consumer(consumer) == 0);
    CHECK(strcmp(amd_hostcall_error_string(amd_hostcall_launch_consumer(consumer)), "AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE") == 0);
    for (uint64_t i = 0; i < 20; ++i)
        CHECK(call(buffer, SERVICE, i) == i + 24);
    if (argc > 1)
        printf("%" PRIu64 "\n", call(buffer, 77, 0)); /* No handler: the process ends, or the packet is refused. */
    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == 0);
    amd_hostcall_destroy_consumer(consumer);
    free(buffer);
    puts("passed");
    return 0;
}
