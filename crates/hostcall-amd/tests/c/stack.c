/* Handlers that use much of their stack, in a program with large variables of each thread. The first argument says how
 * much: "deep", or "over" and "leap" for more than there is, by many small frames and by one large one. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVICE = 77, DEEP = 7 << 20, LEAP = 9 << 20 };

static _Thread_local volatile char of_each_thread[3 << 20];

static int deep(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    volatile char large[DEEP];
    for (size_t at = 0; at < sizeof large; at += 4096)
        large[at] = (char)at;
    of_each_thread[sizeof of_each_thread - 1] = large[0];
    payload[0] += 1;
    return 0;
}

static volatile int always = 1;

static uint64_t recurse(uint64_t depth) {
    volatile char frame[512];
    frame[0] = (char)depth;
    return always ? recurse(depth + 1) + (uint64_t)frame[0] : depth;
}

static int over(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    payload[0] = recurse(0);
    return 0;
}

static int leap(void *state, uint32_t service, uint64_t *payload) {
    (void)state, (void)service;
    volatile char large[LEAP];
    large[0] = (char)payload[0];
    payload[0] = (uint64_t)large[0];
    return 0;
}

static void before(int signal) {
    static const char text[] = "the program's own handler\n";
    (void)signal;
    if (write(2, text, sizeof text - 1) < 0)
        _exit(5);
    _exit(7);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (argc > 2)
        signal(SIGSEGV, before);
    amd_hostcall_consumer_t *consumer;
    void *buffer = malloc(amd_hostcall_get_buffer_size(2));
    amd_hostcall_service_handler_t handler = strcmp(what, "over") == 0 ? over : strcmp(what, "leap") == 0 ? leap : deep;
    if (!buffer || amd_hostcall_initialize_buffer(buffer, 2) || amd_hostcall_create_consumer(&consumer) ||
        amd_hostcall_register_service(SERVICE, handler, NULL) || amd_hostcall_register_buffer(consumer, buffer) ||
        amd_hostcall_launch_consumer(consumer))
        return 1;
    if (strcmp(what, "null") == 0)
        *(volatile int *)(uintptr_t)(argc > 9) = 1; /* A fault of the program's own. */
    printf("%u\n", (unsigned)hostcall_amd_preview(buffer, SERVICE, 41, 0, 0, 0, 0, 0, 0, 0).x);
    return amd_hostcall_destroy_consumer(consumer) != AMD_HOSTCALL_SUCCESS;
}
