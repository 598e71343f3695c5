/* The earlier interface: the same names, other parameters. */
#define AMD_HOSTCALL_V0
#include <amd_hostcall.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);            \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static void add(void *data, uint32_t service, uint64_t *payload) { payload[0] += *(uint64_t *)data + service; }

static void told(amd_hostcall_error_t error, void *data) {
    printf("told: %s %s\n", amd_hostcall_error_string(error), (const char *)data);
    fflush(stdout);
}

static uint64_t call(void *buffer, uint32_t service, uint64_t value) {
    uint64_t payload[1][8] = {{0}};
    payload[0][0] = value;
    CHECK(hostcall_amd_call(buffer, service, 1, payload) == AMD_HOSTCALL_SUCCESS);
    return payload[0][0];
}

int main(int argc, char **argv) {
    (void)argv;
    static char name[] = "once";
    uint64_t one = 1, ten = 10;
    amd_hostcall_consumer_t *consumer = amd_hostcall_create_consumer();
    amd_hostcall_consumer_t *other = amd_hostcall_create_consumer();
    CHECK(consumer && other);
    /* Functions without a result say on standard error what they cannot do. */
    amd_hostcall_consumer_t *stranger = (amd_hostcall_consumer_t *)(uintptr_t)0x77777770;
    uint64_t room = 0;
    amd_hostcall_destroy_consumer(NULL);
    amd_hostcall_destroy_consumer(stranger);
    amd_hostcall_register_service(NULL, 5, add, &one);
    amd_hostcall_register_service(stranger, 5, add, &one);
    amd_hostcall_register_service(consumer, 5, NULL, &one);
    amd_hostcall_register_buffer(NULL, &room);
    amd_hostcall_register_buffer(consumer, NULL);
    amd_hostcall_register_buffer(consumer, (char *)&room + 4);
    CHECK(room == 0);
    CHECK(amd_hostcall_on_error(NULL, told, name) == AMD_HOSTCALL_ERROR_NULLPTR);
    CHECK(amd_hostcall_on_error(stranger, told, name) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(amd_hostcall_on_error(consumer, NULL, name) == AMD_HOSTCALL_ERROR_NULLPTR);
    CHECK(amd_hostcall_launch_consumer(NULL) == AMD_HOSTCALL_ERROR_NULLPTR);
    CHECK(amd_hostcall_deregister_buffer(NULL, &room) == AMD_HOSTCALL_ERROR_NULLPTR);
    void *buffers[2];
    for (int i = 0; i < 2; ++i) {
        buffers[i] = malloc(amd_hostcall_get_buffer_size(4));
        CHECK(amd_hostcall_initialize_buffer(buffers[i], 4) == AMD_HOSTCALL_SUCCESS);
    }
    amd_hostcall_register_buffer(consumer, buffers[0]);
    amd_hostcall_register_buffer(other, buffers[1]);
    amd_hostcall_register_buffer(other, buffers[0]);
    /* Registered before they are laid out, which AMD's library allows: zeros, and whatever malloc has left. */
    void *early[2] = {calloc(1, amd_hostcall_get_buffer_size(4)), malloc(amd_hostcall_get_buffer_size(4))};
    CHECK(early[0] && early[1]);
    memset(early[1], 0xff, amd_hostcall_get_buffer_size(4));
    for (int i = 0; i < 2; ++i) {
        amd_hostcall_register_buffer(consumer, early[i]);
        CHECK(amd_hostcall_initialize_buffer(early[i], 4) == AMD_HOSTCALL_SUCCESS);
    }
    amd_hostcall_register_service(consumer, 5, add, &one);
    amd_hostcall_register_service(consumer, 5, add, &ten);
    amd_hostcall_register_service(other, 5, add, &one);
    CHECK(amd_hostcall_on_error(consumer, told, name) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(other) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_on_error(consumer, told, name) == AMD_HOSTCALL_ERROR_CONSUMER_ACTIVE);
    CHECK(call(buffers[0], 5, 100) == 115);
    CHECK(call(early[0], 5, 100) == 115 && call(early[1], 5, 100) == 115);
    CHECK(call(buffers[1], 5, 100) == 106);
    amd_hostcall_register_service(consumer, 0, add, &one);
    CHECK(call(buffers[0], 77, 100) == 178);
    if (argc > 1)
        call(buffers[1], 77, 0); /* No handler: the process ends. */
    CHECK(amd_hostcall_deregister_buffer(consumer, buffers[0]) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_destroy_consumer(consumer);
    amd_hostcall_destroy_consumer(other);
    free(early[0]);
    free(early[1]);
    free(buffers[0]);
    free(buffers[1]);
    puts("passed");
    return 0;
}
