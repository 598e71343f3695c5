/*
 * Calls whose recording needs more than their arguments. Usage: recorded IMAGE
 *
 * Data through two queues and back, addresses in structures and in the middle of allocations, global variables, host functions, memory that only
 * the program knows, errors, and a second session. Every kernel runs as one group of one item, so that host images will do.
 */
#include <OffloadAPI.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ok(__LINE__, #call, (call))

static void ok(int line, const char *what, ol_result_t result) {
    if (result) {
        printf("line %d: %s: %s\n", line, what, result->Details);
        exit(1);
    }
}

static void must(int line, int holds) {
    if (!holds) {
        printf("line %d: the result is wrong\n", line);
        exit(1);
    }
}

static bool take(ol_device_handle_t device, void *data) {
    memcpy(data, &device, sizeof device);
    return true;
}

static void add_one(void *data) { ++*(int *)data; }

static char image[1 << 20];
static size_t image_size;

static void session(void) {
    ol_platform_backend_t backends[] = {OL_PLATFORM_BACKEND_HOST};
    ol_init_args_t init = OL_INIT_ARGS_INIT;
    ol_device_handle_t host;
    ol_program_handle_t program;
    ol_symbol_handle_t add, read_table, table;
    ol_queue_handle_t first, second;
    ol_event_handle_t event;
    uint32_t *memory, *aligned, a = 30, b = 12, sum = 0, own = 0, pattern = 7, filled[4] = {0}, values[2] = {0};
    ol_kernel_launch_size_args_t one = {1, {1, 1, 1}, {1, 1, 1}, 0};
    ol_kernel_launch_prop_t properties[] = {OL_KERNEL_LAUNCH_PROP_END};
    void *address;
    size_t size;
    int calls = 0;

    init.NumPlatforms = 1;
    init.Platforms = backends;
    OK(olInit(&init));
    OK(olIterateDevices(take, &host));
    OK(olCreateProgram(host, image, image_size, &program));
    OK(olGetSymbol(program, "add", OL_SYMBOL_KIND_KERNEL, &add));
    OK(olGetSymbol(program, "read_table", OL_SYMBOL_KIND_KERNEL, &read_table));
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    OK(olCreateQueue(host, &first));
    OK(olCreateQueue(host, &second));
    OK(olMemAlloc(host, OL_ALLOC_TYPE_DEVICE, 64, (void **)&memory));
    OK(olMemAllocAligned(host, OL_ALLOC_TYPE_DEVICE, 16, 4096, (void **)&aligned));

    /* Into the middle of an allocation, over another queue, and back. */
    OK(olMemcpy(first, memory, host, &a, host, sizeof a));
    OK(olMemcpy(first, memory + 5, host, &b, host, sizeof b));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_NONE, &event));
    OK(olWaitEvents(second, &event, 1));
    {
        uint32_t *x = memory, *y = memory + 5, *z = aligned + 1;
        void *pointers[] = {&x, &y, &z};
        size_t sizes[] = {sizeof x, sizeof y, sizeof z};
        OK(olLaunchKernel(second, host, add, &one, properties, 3, pointers, sizes));
    }
    OK(olMemcpy(second, &sum, host, aligned + 1, host, sizeof sum));
    OK(olLaunchHostFunction(second, add_one, &calls));
    OK(olSyncQueue(second));
    must(__LINE__, sum == 42 && calls == 1);

    /* Read back when an event is waited for; what one copy leaves, the next one takes. */
    OK(olMemFill(first, memory, sizeof pattern, &pattern, 16));
    OK(olMemcpy(first, filled, host, memory, host, sizeof filled));
    OK(olMemcpy(first, aligned, host, filled, host, sizeof filled));
    OK(olDestroyEvent(event));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_NONE, &event));
    OK(olSyncEvent(event));
    OK(olMemcpy(NULL, values, host, aligned + 2, host, sizeof values));
    must(__LINE__, filled[3] == 7 && values[0] == 7 && values[1] == 7);

    /* Who waits for a queue that has waited for another has waited for both: what the program writes then is its own. */
    OK(olMemcpy(first, filled, host, memory, host, sizeof filled));
    OK(olDestroyEvent(event));
    OK(olCreateEvent(first, OL_EVENT_FLAGS_NONE, &event));
    OK(olWaitEvents(second, &event, 1));
    OK(olSyncQueue(second));
    filled[1] = 9;
    OK(olMemcpy(NULL, aligned, host, filled, host, sizeof filled));
    OK(olMemcpy(NULL, values, host, aligned, host, sizeof values));
    must(__LINE__, values[0] == 7 && values[1] == 9);

    /* A global variable by its address, and memory that the library never sees. */
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof address, &address));
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_SIZE, sizeof size, &size));
    must(__LINE__, size == 64 * sizeof(uint32_t));
    OK(olMemcpy(NULL, address, host, &b, host, sizeof b));
    {
        uint32_t *x = memory + 4;
        void *pointers[] = {&x};
        size_t sizes[] = {sizeof x};
        OK(olLaunchKernel(NULL, host, read_table, &one, NULL, 1, pointers, sizes));
    }
    OK(olMemcpy(NULL, &sum, host, memory + 4, host, sizeof sum));
    must(__LINE__, sum == 12);
    {
        uint32_t *x = memory, *y = memory, *z = &own;
        void *pointers[] = {&x, &y, &z};
        size_t sizes[] = {sizeof x, sizeof y, sizeof z};
        OK(olLaunchKernel(NULL, host, add, &one, NULL, 3, pointers, sizes));
    }
    must(__LINE__, own == 14);

    /* Errors are results, too. */
    must(__LINE__, olMemFree(memory + 1) != NULL && olMemFree(&own) != NULL);
    must(__LINE__, olGetSymbol(program, "nothing of this name", OL_SYMBOL_KIND_KERNEL, &add) != NULL);
    must(__LINE__, olMemcpy(NULL, memory, host, &a, host, (size_t)1 << 63) != NULL);
    must(__LINE__, olCreateProgram(host, image, 100, &program) != NULL);
    OK(olMemFree(memory));
    OK(olDestroyQueue(second));
    must(__LINE__, olSyncQueue(second) != NULL);
    OK(olShutDown());
}

int main(int count, char **arguments) {
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file)
        return 2;
    image_size = fread(image, 1, sizeof image, file);
    fclose(file);
    session();
    session();
    return 0;
}
