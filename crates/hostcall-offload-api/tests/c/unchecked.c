/* Without checks of arguments (OFFLOAD_DISABLE_VALIDATION) a fill writes as many bytes as it says and no more: the last pattern is cut. */
#include "checks.h"
#include <string.h>

static bool take_last(ol_device_handle_t device, void *found) {
    *(ol_device_handle_t *)found = device;
    return true;
}

int main(void) {
    ol_device_handle_t host = NULL;
    ol_queue_handle_t queue = NULL;
    const unsigned char pattern[4] = {1, 2, 3, 4};
    void *memory = NULL;
    on = "host";
    OK(olInit(NULL));
    OK(olIterateDevices(take_last, &host));
    OK(olCreateQueue(host, &queue));
    OK(olMemAlloc(host, OL_ALLOC_TYPE_MANAGED, 16, &memory));
    for (size_t size = 0; size < 16; size++) {
        unsigned char wanted[16];
        for (size_t i = 0; i < 16; i++)
            wanted[i] = i < size ? pattern[i % 4] : 0xaa;
        memset(memory, 0xaa, 16);
        OK(olMemFill(queue, memory, 4, pattern, size));
        OK(olSyncQueue(queue));
        CHECK(memcmp(memory, wanted, 16) == 0);
    }
    FAILS(INVALID_SIZE, olMemFill(queue, memory, 0, pattern, 4));
    FAILS(INVALID_SIZE, olMemFill(queue, memory, 4, pattern, 17));
    OK(olMemFree(memory));
    OK(olShutDown());
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
