/* A kernel that ends by a fault, and one behind it: device_faults IMAGE */
#include <OffloadAPI.h>
#include <stdio.h>
#include <stdlib.h>

static void must(ol_result_t result) {
    if (result) {
        printf("%d: %s\n", (int)result->Code, result->Details);
        exit(1);
    }
}

static bool take(ol_device_handle_t device, void *data) {
    *(ol_device_handle_t *)data = device;
    return false;
}

int main(int count, char **arguments) {
    ol_device_handle_t device = NULL;
    ol_program_handle_t program;
    ol_symbol_handle_t bad, good;
    ol_queue_handle_t queue;
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {32, 1, 1}, 0}, one = {1, {1, 1, 1}, {1, 1, 1}, 0};
    static char image[1 << 22];
    unsigned out = 0, *address = &out;
    void *values[] = {&address};
    size_t sizes[] = {sizeof address};
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file)
        return 2;
    size_t bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    must(olInit(NULL));
    must(olIterateDevices(take, &device));
    must(olCreateProgram(device, image, bytes, &program));
    must(olGetSymbol(program, "touch_nothing", OL_SYMBOL_KIND_KERNEL, &bad));
    must(olGetSymbol(program, "seven", OL_SYMBOL_KIND_KERNEL, &good));
    must(olCreateQueue(device, &queue));
    must(olLaunchKernel(queue, device, bad, &size, NULL, 0, NULL, NULL));
    must(olLaunchKernel(queue, device, good, &one, NULL, 1, values, sizes));
    ol_result_t result = olSyncQueue(queue);
    printf("fault: %d: %s\n", result ? (int)result->Code : 0, result ? result->Details : "");
    must(olSyncQueue(queue));
    must(olDestroyQueue(queue));
    must(olShutDown());
    printf("after it: %u\n", out);
    return 0;
}
