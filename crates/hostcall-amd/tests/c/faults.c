/* What ends the process, and what a forked child may do. The first argument says which. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

/* v0's name, which the header has under AMD_HOSTCALL_V0 only. */
extern amd_hostcall_consumer_t *hostcall_amd_v0_create_consumer(void);

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

/* As AMD's clients do, which wait until the control word is 0, or as ours, which ask to be told of a refusal. */
static void submit(hostcall_amd_buffer_t *buffer, uint32_t service, uint32_t control) {
    uint64_t packet = buffer->free_stack;
    uint64_t index = packet & ((UINT64_C(1) << buffer->index_size) - 1);
    buffer->free_stack = buffer->headers[index].next;
    buffer->headers[index].service = service;
    buffer->headers[index].active_mask = 1;
    buffer->headers[index].control = control;
    buffer->headers[index].next = 0;
    __atomic_store_n(&buffer->ready_stack, packet, __ATOMIC_RELEASE);
    CHECK(hostcall_amd_ring(buffer->doorbell) == AMD_HOSTCALL_SUCCESS);
}

/* The sum of all control words. */
static uint32_t controls(hostcall_amd_buffer_t *buffer) {
    uint32_t sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += buffer->headers[i].control;
    return sum;
}

/* A child forked while the parent's consumer serves. */
static int child(amd_hostcall_consumer_t *consumer, void *buffer) {
    void *fresh = new_buffer();
    /* Nobody here would answer: the threads of the parent's consumer are the parent's. */
    uint64_t payload[1][8] = {{1}};
    CHECK(hostcall_amd_call(buffer, 77, 1, payload) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_register_buffer(consumer, fresh) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_ERROR_CONSUMER_INACTIVE);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_service(78, answers, NULL) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_consumer_t *own = serving(fresh);
    CHECK(hostcall_amd_preview(fresh, 78, 1, 0, 0, 0, 0, 0, 0, 0).x == 79);
    /* The copy of the parent's buffer is memory of this process, and may be used as such. */
    CHECK(amd_hostcall_initialize_buffer(buffer, 8) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_buffer(own, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(hostcall_amd_preview(buffer, 78, 2, 0, 0, 0, 0, 0, 0, 0).x == 80);
    CHECK(amd_hostcall_destroy_consumer(own) == AMD_HOSTCALL_SUCCESS);
    return 0;
}

/* Gives up what root may: limits count for others. */
static void be_nobody(void) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        puts("skipped: root cannot become another user here");
        exit(0);
    }
}

static void limit(int what, rlim_t value) {
    struct rlimit now;
    CHECK(getrlimit(what, &now) == 0);
    now.rlim_cur = value;
    CHECK(setrlimit(what, &now) == 0);
}

/* A system without threads for the consumer, then with one, then with enough. */
static void no_threads(amd_hostcall_consumer_t *consumer) {
    be_nobody();
    int refused = 0;
    for (rlim_t threads = 1;; ++threads) {
        limit(RLIMIT_NPROC, threads);
        amd_hostcall_error_t error = amd_hostcall_launch_consumer(consumer);
        if (error == AMD_HOSTCALL_SUCCESS)
            break;
        CHECK(error == AMD_HOSTCALL_ERROR_CONSUMER_LAUNCH_FAILED && threads < 100000);
        ++refused;
    }
    printf("%s\n", refused > 0 ? "no thread, then served" : "skipped: the limit of threads does not count here");
}

/* As many consumers as there are doorbells, and one more. */
static void many_consumers(void) {
    enum { MOST = 1024 };
    static amd_hostcall_consumer_t *consumers[MOST];
    amd_hostcall_consumer_t *more = NULL;
    for (int i = 0; i < MOST; ++i)
        CHECK(amd_hostcall_create_consumer(&consumers[i]) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_create_consumer(&more) == AMD_HOSTCALL_INTERNAL_ERROR && more == NULL);
    CHECK(hostcall_amd_v0_create_consumer() == NULL);
    /* A doorbell that was left is there for the next one. */
    CHECK(amd_hostcall_destroy_consumer(consumers[7]) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_create_consumer(&consumers[7]) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_create_consumer(&more) == AMD_HOSTCALL_INTERNAL_ERROR);
    void *buffer = new_buffer();
    CHECK(amd_hostcall_register_buffer(consumers[7], buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumers[7]) == AMD_HOSTCALL_SUCCESS);
    CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
    for (int i = 0; i < MOST; ++i)
        CHECK(amd_hostcall_destroy_consumer(consumers[i]) == AMD_HOSTCALL_SUCCESS);
    puts("1024, and no more");
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
    if (strcmp(what, "many consumers") == 0) {
        many_consumers();
        return 0;
    }
    if (strcmp(what, "no threads") == 0) {
        amd_hostcall_consumer_t *late;
        CHECK(amd_hostcall_create_consumer(&late) == AMD_HOSTCALL_SUCCESS);
        CHECK(amd_hostcall_register_buffer(late, buffer) == AMD_HOSTCALL_SUCCESS);
        no_threads(late);
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
        CHECK(amd_hostcall_destroy_consumer(late) == AMD_HOSTCALL_SUCCESS);
        return 0;
    }
    if (strcmp(what, "nice") == 0) {
        be_nobody();
        limit(RLIMIT_NICE, 0);
    }
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
        submit((hostcall_amd_buffer_t *)buffer, 62, HOSTCALL_AMD_READY | HOSTCALL_AMD_TELL);
        submit((hostcall_amd_buffer_t *)buffer, 62, HOSTCALL_AMD_READY);
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
        CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_INTERNAL_ERROR);
        CHECK(controls((hostcall_amd_buffer_t *)buffer) == HOSTCALL_AMD_REFUSED);
        puts("its wave was refused");
        return 0;
    } else if (strcmp(what, "deregister") == 0) {
        void *other = new_buffer();
        CHECK(amd_hostcall_register_buffer(consumer, other) == AMD_HOSTCALL_SUCCESS);
        submit((hostcall_amd_buffer_t *)buffer, 62, HOSTCALL_AMD_READY | HOSTCALL_AMD_TELL);
        submit((hostcall_amd_buffer_t *)buffer, 62, HOSTCALL_AMD_READY);
        /* Answered by a thread that has taken over from the handler that does not end. */
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
        CHECK(amd_hostcall_deregister_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
        CHECK(controls((hostcall_amd_buffer_t *)buffer) == HOSTCALL_AMD_REFUSED);
        free(buffer);
        CHECK(hostcall_amd_preview(other, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
        puts("its wave was refused, and the consumer goes on");
        return 0;
    } else
        CHECK(hostcall_amd_preview(buffer, 61, 1, 0, 0, 0, 0, 0, 0, 0).x == 62);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    return 0;
}
