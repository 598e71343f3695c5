/* What ROCm's device libraries ask for: printf in several calls, memory, and a report of the address sanitizer. The first
 * argument is "end" for a report that ends the process. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            exit(3);                                                \
        }                                                           \
    } while (0)

enum { PRINTF = 2, MEMORY = 3, SANITIZER = 4, BEGIN = 1, END = 2 };

static void *buffer;

static hostcall_amd_result_t call(uint32_t service, const uint64_t words[8]) {
    return hostcall_amd_preview(buffer, service, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
}

/* Bytes, filled up to words, in calls of seven words, as the device library sends them. The last call has more flags. */
static uint64_t append(uint64_t description, const void *bytes, size_t size, uint64_t more) {
    do {
        size_t part = size < 56 ? size : 56;
        uint64_t words[8] = {0};
        memcpy(words + 1, bytes, part);
        size -= part;
        bytes = (const char *)bytes + part;
        words[0] = (description & ~(UINT64_C(7) << 5)) | (uint64_t)((part + 7) / 8) << 5 | (size ? 0 : more);
        description = call(PRINTF, words).x;
    } while (size);
    return description;
}

static uint64_t begin(uint64_t stream) { return append(BEGIN, &stream, sizeof stream, 0); }

static uint64_t text(uint64_t description, const char *string, uint64_t more) { return append(description, string, strlen(string) + 1, more); }

static uint64_t got, returned;

static uint64_t allocate(void *state, uint64_t bytes, uint64_t alignment) {
    CHECK(state == &buffer && alignment == 4096);
    got += bytes;
    return 0x123000;
}

static void release(void *state, uint64_t address, uint64_t bytes) {
    CHECK(state == &buffer && address == 0x123000);
    returned += bytes;
}

int main(int argc, char **argv) {
    (void)argv;
    amd_hostcall_consumer_t *consumer;
    buffer = malloc(amd_hostcall_get_buffer_size(4));
    CHECK(buffer && amd_hostcall_initialize_buffer(buffer, 4) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_create_consumer(&consumer) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_register_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(hostcall_amd_serve_printf() == AMD_HOSTCALL_SUCCESS);
    CHECK(hostcall_amd_serve_printf() == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(hostcall_amd_serve_memory(1 << 20, allocate, NULL, &buffer) == AMD_HOSTCALL_ERROR_NULLPTR);
    CHECK(hostcall_amd_serve_memory(0, allocate, release, &buffer) == AMD_HOSTCALL_ERROR_INVALID_REQUEST);
    CHECK(hostcall_amd_serve_memory(10000, allocate, release, &buffer) == AMD_HOSTCALL_SUCCESS);
    CHECK(hostcall_amd_serve_sanitizer() == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);

    /* Between texts of the program's own. */
    printf("before\n");
    uint64_t message = begin(0), number = 42;
    double half = 0.5;
    message = text(message, "%s has %d and %.2f, in a format that takes more than one call to send\n", 0);
    message = text(message, "a lane", 0);
    message = append(message, &number, sizeof number, 0);
    uint64_t length = append(message, &half, sizeof half, END);
    CHECK(length == strlen("a lane has 42 and 0.50, in a format that takes more than one call to send\n"));
    printf("after\n");
    CHECK(text(begin(1), "on standard error\n", END) == strlen("on standard error\n"));
    CHECK(text(begin(5), "nowhere\n", END) == UINT64_MAX);
    CHECK(text(0x123400, "never begun\n", END) == UINT64_MAX);

    hostcall_amd_result_t result = call(MEMORY, (const uint64_t[8]){0, 6000});
    CHECK(!result.refused && result.x == 0x123000 && got == 6000);
    result = call(MEMORY, (const uint64_t[8]){0, 6000});
    CHECK(!result.refused && result.x == 0 && got == 6000);
    CHECK(call(MEMORY, (const uint64_t[8]){0x5000}).refused);
    CHECK(!call(MEMORY, (const uint64_t[8]){0x123000}).refused && returned == 6000);
    CHECK(call(MEMORY, (const uint64_t[8]){0x123000}).refused && returned == 6000);

    uint64_t lanes[64][8];
    memset(lanes, 0, sizeof lanes);
    for (uint64_t lane = 0; lane < 2; ++lane) {
        const uint64_t words[8] = {0x1000 + lane, 0xabc, 1, 2, 3, 9, 1 | (uint64_t)(argc == 1) << 32, 4};
        memcpy(lanes[lane], words, sizeof words);
    }
    CHECK(hostcall_amd_call(buffer, SANITIZER, 3, lanes) == AMD_HOSTCALL_SUCCESS);
    CHECK(amd_hostcall_destroy_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    free(buffer);
    puts("passed");
    return 0;
}
