/* What ends the process, and what a forked child may do. The first argument says which. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);            \
            exit(3);                                                           \
        }                                                                      \
    } while (0)

static int fails(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service, (void)payload;
    return -7;
}

static int answers(void *state, uint32_t service, uint64_t *payload) {
    (void)state;
    payload[0] += service;
    return 0;
}

static int sleeps(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service, (void)payload;
    for (;;)
        pause();
    return 0;
}

static void adds(uint64_t *output, const uint64_t *input) {
    output[0] = input[0] + input[1];
    output[1] = 0;
}

static void told(void *state, int error) {
    printf("told: %d %s\n", error, (const char *)state);
    fflush(stdout);
}

static void *new_buffer(void) {
    void *buffer = malloc(amd_hostcall_get_buffer_size(8));
    CHECK(buffer && amd_hostcall_initialize_buffer(buffer, 8) == AMD_HOSTCALL_SUCCESS);
    return buffer;
}

static amd_hostcall_consumer_t *serving(void *buffer) {
    amd_hostcall_consumer_t *consumer;
    CHECK(amd_hostcall_create_consumer(&consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    return consumer;
}

static void submit(hostcall_amd_buffer_t *buffer, uint32_t service) {
    uint64_t packet = buffer->free_stack;
    uint64_t index = packet & ((UINT64_C(1) << buffer->index_size) - 1);
    buffer->free_stack = buffer->headers[index].next;
    buffer->headers[index].service = service;
    buffer->headers[index].active_mask = 1;
    buffer->headers[index].control = 1;
    buffer->headers[index].next = 0;
    __atomic_store_n(&buffer->ready_stack, packet, __ATOMIC_RELEASE);
    CHECK(hostcall_amd_ring(buffer->doorbell) == AMD_HOSTCALL_SUCCESS);
}

/* A child forked while the parent's consumer serves. */
static int child(amd_hostcall_consumer_t *consumer, void *buffer) {
    void *fresh = new_buffer();
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_register_buffer(consumer, fresh) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(78, answers, NULL) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_consumer_t *own = serving(fresh);
    CHECK(hostcall_amd_preview(fresh, 78, 1, 0, 0, 0, 0, 0, 0, 0).x == 79);
    CHECK(amd_hostcall_destroy_consumer(own) == AMD_HOSTCALL_SUCCESS);
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    void *buffer = new_buffer();
    static char state[] = "with its state";
    if (strcmp(what, "fork") == 0) {
        CHECK(amd_hostcall_register_service(77, answers, NULL) == AMD_HOSTCALL_SUCCESS);
        amd_hostcall_consumer_t *consumer = serving(buffer);
        for (int round = 0; round < 30; ++round) {
            CHECK(hostcall_amd_preview(buffer, 77, 1, 0, 0, 0, 0, 0, 0, 0).x == 78);
            pid_t forked = fork();
            CHECK(forked >= 0);
            if (forked == 0)
                _exit(child(consumer, buffer));
            int status;
            CHECK(waitpid(forked, &status, 0) == forked && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        CHECK(hostcall_amd_preview(buffer, 77, 1, 0, 0, 0, 0, 0, 0, 0).x == 78);
        CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
        puts("passed");
        return 0;
    }
    if (strcmp(what, "debug") == 0)
        amd_hostcall_enable_debug();
    if (strstr(what, "told")) {
        CHECK(amd_hostcall_on_error(told, state) == AMD_HOSTCALL_SUCCESS);
        CHECK(amd_hostcall_on_error(told, state) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    }
    CHECK(amd_hostcall_register_service(60, fails, NULL) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(61, answers, NULL) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(62, sleeps, NULL) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_consumer_t *consumer = serving(buffer);
    if (strstr(what, "unknown"))
        printf("refused: %u\n", hostcall_amd_preview(buffer, 4711, 5, 0, 0, 0, 0, 0, 0, 0).refused);
    else if (strstr(what, "fails"))
        printf("refused: %u\n", hostcall_amd_preview(buffer, 60, 5, 0, 0, 0, 0, 0, 0, 0).refused);
    else if (strcmp(what, "unchecked") == 0) {
        /* Null is no function, whatever is wished. */
        CHECK(hostcall_amd_preview(buffer, 1, 0, 0, 0, 0, 0, 0, 0, 0).refused);
        hostcall_amd_result_t result = hostcall_amd_preview(buffer, 1, (uint64_t)(uintptr_t)&adds, 4, 5, 0, 0, 0, 0, 0);
        printf("refused: %u, result %u\n", result.refused, (unsigned)result.x);
    } else if (strcmp(what, "for ever") == 0) {
        submit((hostcall_amd_buffer_t *)buffer, 62);
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
        CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_INTERNAL_ERROR);
        uint32_t controls = 0;
        for (int i = 0; i < 8; ++i)
            controls |= ((hostcall_amd_buffer_t *)buffer)->headers[i].control;
        CHECK(controls == HOSTCALL_AMD_REFUSED);
        puts("its wave was refused");
        return 0;
    } else
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    return 0;
}
