/* Leaves one of each behind: leaks IMAGE */
#include <OffloadAPI.h>
#include <stdio.h>

static bool take(ol_device_handle_t device, void *data) {
    *(ol_device_handle_t *)data = device;
    return false;
}

#define HERE(line) {"main", "leaks.c", line, 5}

int main(int count, char **arguments) {
    static char image[1 << 22];
    ol_device_handle_t device = NULL;
    ol_queue_handle_t queue, kept;
    ol_event_handle_t event;
    ol_program_handle_t program;
    void *memory;
    ol_code_location_t queue_place = HERE(31), memory_place = HERE(34);
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file)
        return 2;
    size_t bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    int failed = 0;
    failed += olInit(NULL) != OL_SUCCESS;
    failed += olIterateDevices(take, &device) != OL_SUCCESS;
    failed += olCreateQueue(device, &kept) != OL_SUCCESS;

    failed += olCreateQueueWithCodeLoc(device, &queue, &queue_place) != OL_SUCCESS;
    failed += olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &event) != OL_SUCCESS;
    failed += olCreateProgram(device, image, bytes, &program) != OL_SUCCESS;
    failed += olMemAllocWithCodeLoc(device, OL_ALLOC_TYPE_DEVICE, 64, &memory, &memory_place) != OL_SUCCESS;
    failed += olDestroyQueue(kept) != OL_SUCCESS;
    failed += olShutDown() != OL_SUCCESS;
    return failed;
}
