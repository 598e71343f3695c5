/*
 * A program that uses every way in which memory gets to a kernel and back. Usage: recorded IMAGE [crash]
 *
 * IMAGE is a simulator image of ../../../liboffload/tests/images/kernels.c.
 */
#include <OffloadAPI.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 256 };

static ol_device_handle_t device;

static bool take(ol_device_handle_t it, void *data) {
    ol_device_type_t type;
    (void)data;
    if (!olGetDeviceInfo(it, OL_DEVICE_INFO_TYPE, sizeof type, &type) && type == OL_DEVICE_TYPE_HOST)
        device = it;
    return true;
}

static void must(ol_result_t result, const char *what) {
    if (!result)
        return;
    printf("%s: %d: %s\n", what, (int)result->Code, result->Details);
    exit(1);
}

#define MUST(call) must((call), #call)

static ol_program_handle_t program;

static void launch(ol_queue_handle_t queue, const char *name, size_t count, void **values) {
    ol_kernel_launch_size_args_t size = {1, {ITEMS / 64, 1, 1}, {64, 1, 1}, 0};
    void *pointers[3];
    size_t sizes[3];
    ol_symbol_handle_t kernel;
    for (size_t i = 0; i < count; i++) {
        pointers[i] = &values[i];
        sizes[i] = sizeof values[i];
    }
    MUST(olGetSymbol(program, name, OL_SYMBOL_KIND_KERNEL, &kernel));
    MUST(olLaunchKernel(queue, device, kernel, &size, NULL, count, count ? pointers : NULL, count ? sizes : NULL));
}

int main(int argc, char **argv) {
    uint32_t *a, *b, *sum, mine[ITEMS], back[ITEMS], one = 1, *table;
    ol_queue_handle_t queue, other;
    ol_event_handle_t event;
    ol_symbol_handle_t global;
    void *pinned;
    size_t bytes = sizeof mine, right = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    static char image[1 << 20];
    if (!file)
        return 2;
    size_t image_size = fread(image, 1, sizeof image, file);
    fclose(file);
    MUST(olInit(NULL));
    MUST(olIterateDevices(take, NULL));
    MUST(olCreateQueue(device, &queue));
    MUST(olCreateQueue(device, &other));
    MUST(olCreateProgram(device, image, image_size, &program));

    /* From the program's own memory, in a queue and without one; from memory that both reach; a fill. */
    MUST(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, bytes, (void **)&a));
    MUST(olMemAllocAligned(device, OL_ALLOC_TYPE_MANAGED, bytes, 4096, (void **)&b));
    MUST(olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, bytes, (void **)&sum));
    for (uint32_t i = 0; i < ITEMS; i++) {
        mine[i] = i;
        b[i] = 1000 * i;
    }
    MUST(olMemFill(queue, sum, sizeof one, &one, bytes));
    MUST(olMemcpy(queue, a, device, mine, device, bytes));
    void *values[3] = {a, b, sum};
    launch(queue, "add", 3, values);
    MUST(olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &event));
    MUST(olWaitEvents(other, &event, 1));
    MUST(olMemcpy(other, back, device, sum, device, bytes));
    MUST(olSyncQueue(other));
    for (uint32_t i = 0; i < ITEMS; i++)
        right += back[i] == 1001 * i;
    if (argc > 2 && strcmp(argv[2], "crash") == 0)
        abort();

    /* What a kernel left is read and changed in place, and used by the next one. */
    for (uint32_t i = 0; i < ITEMS; i++)
        sum[i] += 1;
    values[0] = sum;
    launch(NULL, "add", 3, values);
    MUST(olMemcpy(NULL, back, device, sum, device, bytes));
    for (uint32_t i = 0; i < ITEMS; i++)
        right += back[i] == 2001 * i + 1;

    /* A global variable, and registered memory. */
    MUST(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &global));
    MUST(olGetSymbolInfo(global, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof table, &table));
    for (uint32_t i = 0; i < 64; i++)
        table[i] = 7 * i;
    MUST(olMemRegister(device, mine, bytes, OL_MEMORY_REGISTER_FLAG_LOCK_MEMORY, &pinned));
    values[0] = pinned;
    launch(queue, "foo", 1, values);
    MUST(olSyncQueue(queue));
    for (uint32_t i = 0; i < ITEMS; i++)
        right += mine[i] == i;
    MUST(olMemcpy(NULL, back, device, table, device, 64 * sizeof *table));
    for (uint32_t i = 0; i < 64; i++)
        right += back[i] == 7 * i;
    MUST(olMemUnregister(device, mine, OL_MEMORY_REGISTER_FLAG_UNLOCK_MEMORY));

    /* Calls that fail are calls, too. */
    if (!olMemFree((char *)a + 8) || !olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, 0, &pinned) || !olSyncQueue((ol_queue_handle_t)program))
        return 1;
    MUST(olDestroyEvent(event));
    MUST(olMemFree(a));
    MUST(olMemFree(b));
    MUST(olMemFree(sum));
    MUST(olDestroyProgram(program));
    MUST(olDestroyQueue(queue));
    MUST(olDestroyQueue(other));
    MUST(olShutDown());
    printf("%zu right\n", right);
    return right == 3 * ITEMS + 64 ? 0 : 1;
}
