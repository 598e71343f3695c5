/* Eight threads call at once, each `argv[1]` times: calls that succeed, that fail in the same way, and that fail in ever new ways. */
#define _POSIX_C_SOURCE 200809L
#include <OffloadAPI.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stub_install(void);

static ol_device_handle_t device;
static int count;

static bool take(ol_device_handle_t found, void *data) {
    (void)data;
    device = found;
    return false;
}

static void *work(void *data) {
    size_t number = (size_t)data;
    char name[201];
    ol_symbol_handle_t symbol;
    ol_queue_handle_t queue;
    if (olCreateQueue(device, &queue) != OL_SUCCESS)
        exit(2);
    memset(name, 'a' + (int)number, 200);
    name[200] = 0;
    for (int i = 0; i < count; i++) {
        ol_code_location_t location = {"work", "threads.c", (uint32_t)i, (uint32_t)number};
        ol_result_t failed = olGetSymbolWithCodeLoc(NULL, name, OL_SYMBOL_KIND_KERNEL, &symbol, &location);
        ol_result_t same = olMemFree(NULL);
        if (failed == OL_SUCCESS || failed->Code != OL_ERRC_INVALID_NULL_HANDLE || same == OL_SUCCESS || same->Code != OL_ERRC_INVALID_NULL_POINTER)
            exit(3);
        if (olSyncQueue(queue) != OL_SUCCESS)
            exit(4);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[8];
    count = argc > 1 ? atoi(argv[1]) : 1;
    stub_install();
    if (olInit(NULL) != OL_SUCCESS || olIterateDevices(take, NULL) != OL_SUCCESS)
        return 1;
    for (size_t i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    for (size_t i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
