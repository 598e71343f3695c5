/* Kernels of an image whose sources know of clang's <gpuintrin.h> only: gpu_sources IMAGE */
#include "checks.h"

int main(int count, char **arguments) {
    struct devices devices = {0};
    ol_program_handle_t program;
    ol_symbol_handle_t reduce, write_table, table, symbol;
    ol_queue_handle_t queue;
    ol_kernel_launch_size_args_t size = {1, {20, 1, 1}, {100, 1, 1}, 400};
    uint32_t *out, values[4];
    void *address, *pointers[] = {&out};
    size_t sizes[] = {sizeof out};
    if (count < 2)
        return 2;
    struct image image = read_image(arguments[1]);
    OK(olInit(NULL));
    OK(olIterateDevices(take_device, &devices));
    OK(olCreateProgram(devices.host, image.bytes, image.size, &program));
    OK(olCreateQueue(devices.host, &queue));
    OK(olMemAlloc(devices.host, OL_ALLOC_TYPE_HOST, 20 * sizeof *out, (void **)&out));
    OK(olGetSymbol(program, "reduce", OL_SYMBOL_KIND_KERNEL, &reduce));
    OK(olGetSymbol(program, "write_table", OL_SYMBOL_KIND_KERNEL, &write_table));
    OK(olGetSymbol(program, "table", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &table));
    /* Functions of the image that are no kernels, and memory of groups, which is at no one place. */
    FAILS(NOT_FOUND, olGetSymbol(program, "__tls_get_addr", OL_SYMBOL_KIND_KERNEL, &symbol));
    FAILS(NOT_FOUND, olGetSymbol(program, "fixed", OL_SYMBOL_KIND_GLOBAL_VARIABLE, &symbol));
    OK(olLaunchKernel(queue, devices.host, reduce, &size, NULL, 1, pointers, sizes));
    size.NumGroups.x = 1, size.GroupSize.x = 4, size.DynSharedMemory = 0;
    OK(olLaunchKernel(queue, devices.host, write_table, &size, NULL, 0, NULL, NULL));
    OK(olSyncQueue(queue));
    for (uint32_t group = 0; group < 20; group++)
        CHECK(out[group] == 4950 + 100 * 1000 * group);
    OK(olGetSymbolInfo(table, OL_SYMBOL_INFO_GLOBAL_VARIABLE_ADDRESS, sizeof address, &address));
    OK(olMemcpy(NULL, values, devices.host, address, devices.host, sizeof values));
    CHECK(values[0] == 0 && values[3] == 21);
    OK(olMemFree(out));
    OK(olDestroyQueue(queue));
    OK(olDestroyProgram(program));
    OK(olShutDown());
    free(image.bytes);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
