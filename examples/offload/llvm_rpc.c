/* Launches kernels that call the host by the wire of LLVM's libc for GPUs: llvm_rpc IMAGE [KERNEL]... */
#include <OffloadAPI.h>
#include <OffloadPort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64 };

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
    ol_device_handle_t device;
};

static bool look(ol_device_handle_t device, void *data) {
    struct search *search = data;
    bool valid;
    MUST(olIsValidBinary(device, search->image, search->size, &valid));
    if (valid && !search->device)
        search->device = device;
    return true;
}

/* LLVM's objects of the host's side, as libc/shared/rpc.h lays them out: of the version that the program has. */
struct process {
    uint32_t ports;
#ifdef LLVM_RPC_DOORBELL
    void *doorbell;
#endif
    const uint32_t *inbox;
    uint32_t *outbox;
    void *headers;
    uint64_t (*packets)[8];
};
struct port {
    struct process *process;
    uint64_t lane_mask;
    uint32_t lanes, index, out;
    bool received, owns;
};

/* Doubles what comes, as a handler does that is written with LLVM's header: recv_and_send. */
static unsigned twice(void *data, unsigned lanes) {
    struct port *port = data;
    for (unsigned lane = 0; lane < lanes; lane++)
        port->process->packets[(size_t)port->index * lanes + lane][0] *= 2;
    port->out = !port->out;
    __atomic_store_n(&port->process->outbox[port->index], port->out, __ATOMIC_RELEASE);
    port->owns = port->received = false;
    return OFFLOAD_PORT_HANDLED;
}

int main(int count, char **arguments) {
    struct search search = {NULL, 0, NULL};
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: %s IMAGE [KERNEL]...\n", arguments[0]);
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
    ol_program_handle_t program;
    ol_queue_handle_t queue;
    ol_platform_handle_t platform;
    uint64_t *out;
    MUST(olCreateProgram(search.device, search.image, search.size, &program));
    free(search.image);
    MUST(olCreateQueue(search.device, &queue));
    MUST(olGetDeviceInfo(search.device, OL_DEVICE_INFO_PLATFORM, sizeof platform, &platform));
    MUST(olMemAlloc(search.device, OL_ALLOC_TYPE_HOST, ITEMS * sizeof *out, (void **)&out));
    void *values[] = {&out};
    size_t sizes[] = {sizeof out};
    for (int i = 2; i < count || i == 2; i++) {
        const char *name = i < count ? arguments[i] : "hello";
        ol_kernel_launch_size_args_t size = {1, {ITEMS / 32, 1, 1}, {32, 1, 1}, 0};
        ol_symbol_handle_t kernel;
        if (strcmp(name, "+callback") == 0) {
            MUST(olPlatformRegisterRPCCallback(platform, twice));
            continue;
        }
        memset(out, 0, ITEMS * sizeof *out);
        MUST(olGetSymbol(program, name, OL_SYMBOL_KIND_KERNEL, &kernel));
        MUST(olLaunchKernel(queue, search.device, kernel, &size, NULL, 1, values, sizes));
        ol_result_t result = olSyncQueue(queue);
        printf("%s:", name);
        for (int item = 0; item < ITEMS; item++)
            printf(" %llu", (unsigned long long)out[item]);
        printf("\n");
        if (result)
            printf("%s: error %d: %s\n", name, (int)result->Code, result->Details);
        fflush(stdout);
    }
    MUST(olMemFree(out));
    MUST(olDestroyQueue(queue));
    MUST(olDestroyProgram(program));
    MUST(olShutDown());
    return 0;
}
