/* Adds two vectors on the first device that can load the image: vector_add IMAGE */
#include <OffloadAPI.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1024

static void must(ol_result_t result, const char *what) {
    if (result != OL_SUCCESS) {
        fprintf(stderr, "%s: error %d: %s\n", what, (int)result->Code, result->Details);
        exit(1);
    }
}
#define MUST(call) must((call), #call)

struct search {
    void *image;
    size_t size;
    ol_device_handle_t device, host;
};

static bool look(ol_device_handle_t device, void *data) {
    struct search *search = data;
    ol_device_type_t type;
    bool valid;
    MUST(olGetDeviceInfo(device, OL_DEVICE_INFO_TYPE, sizeof type, &type));
    if (type == OL_DEVICE_TYPE_HOST)
        search->host = device;
    MUST(olIsValidBinary(device, search->image, search->size, &valid));
    if (valid && !search->device)
        search->device = device;
    return true;
}

int main(int count, char **arguments) {
    struct search search = {NULL, 0, NULL, NULL};
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: %s IMAGE\n", arguments[0]);
        return 2;
    }
    search.image = malloc(1 << 24);
    search.size = search.image ? fread(search.image, 1, 1 << 24, file) : 0;
    fclose(file);

    MUST(olInit(NULL));
    MUST(olIterateDevices(look, &search));
    if (!search.device) {
        fprintf(stderr, "no device can load %s\n", arguments[1]);
        return 1;
    }
    char name[256];
    MUST(olGetDeviceInfo(search.device, OL_DEVICE_INFO_NAME, sizeof name, name));

    ol_program_handle_t program;
    ol_symbol_handle_t kernel;
    ol_queue_handle_t queue;
    MUST(olCreateProgram(search.device, search.image, search.size, &program));
    free(search.image);
    MUST(olGetSymbol(program, "vector_add", OL_SYMBOL_KIND_KERNEL, &kernel));
    MUST(olCreateQueue(search.device, &queue));

    float a[COUNT], b[COUNT], sum[COUNT];
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    void *on_device[3];
    for (int i = 0; i < 3; i++)
        MUST(olMemAlloc(search.device, OL_ALLOC_TYPE_DEVICE, sizeof a, &on_device[i]));
    MUST(olMemcpy(queue, on_device[0], search.device, a, search.host, sizeof a));
    MUST(olMemcpy(queue, on_device[1], search.device, b, search.host, sizeof b));

    uint32_t elements = COUNT;
    void *values[] = {&on_device[0], &on_device[1], &on_device[2], &elements};
    size_t sizes[] = {sizeof(void *), sizeof(void *), sizeof(void *), sizeof elements};
    ol_kernel_launch_size_args_t size = {1, {COUNT / 64, 1, 1}, {64, 1, 1}, 0};
    MUST(olLaunchKernel(queue, search.device, kernel, &size, NULL, 4, values, sizes));
    MUST(olMemcpy(queue, sum, search.host, on_device[2], search.device, sizeof sum));
    MUST(olSyncQueue(queue));

    int right = 0;
    for (int i = 0; i < COUNT; i++)
        right += sum[i] == (float)(3 * i);
    printf("%s: %d sums are right\n", name, right);

    for (int i = 0; i < 3; i++)
        MUST(olMemFree(on_device[i]));
    MUST(olDestroyQueue(queue));
    MUST(olDestroyProgram(program));
    MUST(olShutDown());
    return right != COUNT;
}
