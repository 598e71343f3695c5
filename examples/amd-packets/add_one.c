/* A packet, filled as a kernel fills it, and answered by a handler of the host. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ADD_ONE = 23, PACKETS = 64 };

static int add_one(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] += 1;
    return 0;
}

static void check(amd_hostcall_error_t error, const char *what) {
    if (error != AMD_HOSTCALL_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, amd_hostcall_error_string(error));
        exit(1);
    }
}

int main(void) {
    amd_hostcall_consumer_t *consumer;
    check(amd_hostcall_create_consumer(&consumer), "create");
    check(amd_hostcall_register_service(ADD_ONE, add_one, NULL), "register");
    void *buffer = aligned_alloc(4096, (amd_hostcall_get_buffer_size(PACKETS) + 4095) / 4096 * 4096);
    check(amd_hostcall_initialize_buffer(buffer, PACKETS), "initialize");
    check(amd_hostcall_register_buffer(consumer, buffer), "register the buffer");
    check(amd_hostcall_launch_consumer(consumer), "launch");

    hostcall_amd_result_t result = hostcall_amd_preview(buffer, ADD_ONE, 41, 0, 0, 0, 0, 0, 0, 0);
    printf("%" PRIu64 "\n", result.x);

    check(amd_hostcall_deregister_buffer(consumer, buffer), "deregister the buffer");
    check(amd_hostcall_destroy_consumer(consumer), "destroy");
    free(buffer);
    return result.x == 42 ? 0 : 1;
}
