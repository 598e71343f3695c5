/* What calls cost on the host's device, over this library or over LLVM's: the same source, compiled with the header of either.
 *
 *   cc -O2 -I HERE/include calls.c -L HERE/lib -lhostcall_offload -o ours
 *   cc -O2 -DLLVM -I /usr/lib/llvm-22/include/offload calls.c /usr/lib/llvm-22/lib/libLLVMOffload.so -o llvms
 *
 * Each line is the least of 15 rounds, in nanoseconds for a call. A call that the library refuses is said, and not measured.
 */
#define _POSIX_C_SOURCE 199309L
/* LLVM 22's header uses bool without it. */
#include <stdbool.h>
#include <OffloadAPI.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static ol_device_handle_t host;
static char from[4096], to[4096];

static bool keep_host(ol_device_handle_t device, void *unused) {
    (void)unused;
    ol_device_type_t type;
    if (olGetDeviceInfo(device, OL_DEVICE_INFO_TYPE, sizeof type, &type) == NULL && type == OL_DEVICE_TYPE_HOST)
        host = device;
    return true;
}

static ol_result_t number(void) {
    ol_device_type_t type;
    return olGetDeviceInfo(host, OL_DEVICE_INFO_TYPE, sizeof type, &type);
}

static ol_result_t text(void) {
    char name[256];
    return olGetDeviceInfo(host, OL_DEVICE_INFO_NAME, sizeof name, name);
}

/* The error is what is wanted. */
static ol_result_t error(void) {
    ol_device_type_t type;
    ol_result_t result = olGetDeviceInfo(NULL, OL_DEVICE_INFO_TYPE, sizeof type, &type);
    static struct ol_error_struct_t none = {OL_ERRC_UNKNOWN, "a null device is taken"};
    return result ? NULL : &none;
}

static ol_result_t block(void) {
    void *memory;
    ol_result_t result = olMemAlloc(host, OL_ALLOC_TYPE_HOST, 64, &memory);
    return result ? result : olMemFree(memory);
}

static ol_result_t copy(void) { return olMemcpy(NULL, to, host, from, host, sizeof from); }

static ol_result_t both(void) {
    ol_result_t result = olInit(
#ifndef LLVM
        NULL
#endif
    );
    return result ? result : olShutDown();
}

static void measure(const char *what, ol_result_t (*call)(void), int count) {
    double least = 1e18;
    for (int round = 0; round < 15; round++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < count; i++) {
            ol_result_t result = call();
            if (result) {
                printf("%-50s refused: %s\n", what, result->Details ? result->Details : "");
                return;
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        double took = ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / count;
        least = took < least ? took : least;
    }
    printf("%-50s %10.1f\n", what, least);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ol_result_t result = olInit(
#ifndef LLVM
        NULL
#endif
    );
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (result) {
        printf("olInit: %s\n", result->Details ? result->Details : "failed");
        return 1;
    }
    printf("%-50s %10.1f\n", "the first olInit", (end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec));
    olIterateDevices(keep_host, NULL);
    if (!host) {
        printf("no host device\n");
        return 1;
    }
    measure("olGetDeviceInfo, a number", number, 100000);
    measure("olGetDeviceInfo, a text", text, 100000);
    measure("olGetDeviceInfo of no device, an error", error, 100000);
    measure("olMemAlloc and olMemFree, 64 bytes", block, 20000);
    measure("olMemcpy of 4 KiB without a queue", copy, 20000);
    measure("olInit and olShutDown, once more", both, 20000);
    olShutDown();
    return 0;
}
