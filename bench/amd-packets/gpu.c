/* Packets that a GPU of NVIDIA's fills, through this library and through plain loops, in one run.
 *
 *   bench-gpu KERNELS.cubin [DEVICE]
 *
 * The kernels are those of tests/cpp/cpp/packets.cu. The driver is opened at run time, so that nothing of CUDA is needed to
 * build this. Each wave makes one call after another, of one lane. Stacks are measured only where atomic operations of the GPU and of the host
 * on one word are atomic for each other, which is tried first. */
#include "loops.h"

#include <dlfcn.h>

enum { MOST_BUFFERS = 8, ROUNDS = 3, STACKS, MAIL };

typedef int (*function_t)();
static void *driver;

/* Calls a function of the driver's. */
#define CU(name, ...)                                                     \
    do {                                                                  \
        function_t entry = (function_t)dlsym(driver, #name);              \
        int code = entry ? entry(__VA_ARGS__) : -1;                       \
        if (code) {                                                       \
            fprintf(stderr, "%s: error %d of the driver\n", #name, code); \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

static void *module;

static void *kernel(const char *name) {
    void *found = NULL;
    CU(cuModuleGetFunction, &found, module, name);
    return found;
}

static void *host_memory(size_t bytes) {
    void *memory = NULL;
    CU(cuMemHostAlloc, &memory, bytes, 1u /* portable */);
    return memory;
}

static uint64_t device_memory(size_t bytes) {
    uint64_t memory = 0;
    CU(cuMemAlloc_v2, &memory, bytes);
    CU(cuMemsetD8_v2, memory, 0, bytes);
    return memory;
}

static void launch(void *function, void *stream, unsigned groups, unsigned lanes, void **arguments) {
    CU(cuLaunchKernel, function, groups, 1u, 1u, lanes, 1u, 1u, 0u, stream, arguments, NULL);
}

/* Whether additions of both sides to one word all arrive. */
static int atomics_are_shared(void) {
    uint64_t *word = host_memory(64), lanes = 64;
    *word = 0;
    uint32_t times = 500;
    void *arguments[] = {&word, &times, &lanes};
    launch(kernel("additions"), NULL, 2, 32, arguments);
    enum { OURS = 1000000 };
    for (int i = 0; i < OURS; ++i)
        __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    CU(cuCtxSynchronize);
    printf("atomic operations of the GPU and of the host: of %d additions to one word, %llu arrived\n", OURS + 64 * 500,
           (unsigned long long)*word);
    return *word == OURS + 64 * 500;
}

/* How the packets are served: by a loop of one thread, by loops of as many threads as buffers, or by this library. */
enum { ONE_LOOP, LOOPS, LIBRARY };

/* Calls per second of so many waves on each of so many buffers. */
static double rate(int form, int how, int buffers, unsigned waves, uint32_t calls) {
    uint32_t number = form == MAIL ? HOSTCALL_AMD_MAILBOXES : HOSTCALL_AMD_STACKS;
    size_t size = hostcall_amd_form_size(waves, number);
    void *all[MOST_BUFFERS], *streams[MOST_BUFFERS], *bells[MOST_BUFFERS];
    uint64_t right[MOST_BUFFERS], claims[MOST_BUFFERS];
    amd_hostcall_consumer_t *consumers[MOST_BUFFERS];
    loop_t *loops[MOST_BUFFERS];
    for (int i = 0; i < buffers; ++i) {
        all[i] = host_memory(size);
        if (hostcall_amd_initialize_form(all[i], size, waves, number))
            abort();
        claims[i] = device_memory((waves + 31) / 32 * 4);
        if (form == MAIL)
            ((uint64_t *)all[i])[2] = claims[i];
        right[i] = device_memory(waves * 4);
        CU(cuStreamCreate, &streams[i], 1u /* not blocking */);
    }
    uint64_t *word = host_memory(64); /* what waves ring that no library serves */
    for (int i = 0; i < buffers; ++i) {
        if (how == LIBRARY) {
            if (amd_hostcall_create_consumer(&consumers[i]) || hostcall_amd_register_form(consumers[i], all[i], number) ||
                amd_hostcall_launch_consumer(consumers[i]))
                abort();
            bells[i] = (void *)(uintptr_t)((uint64_t *)all[i])[form == MAIL ? 5 : 2];
            CU(cuMemHostRegister_v2, bells[i], (size_t)4096, 3u /* portable, mapped */);
        } else
            ((uint64_t *)all[i])[form == MAIL ? 5 : 2] = (uint64_t)(uintptr_t)word;
        if (how == LOOPS)
            loops[i] = start_loop(&all[i], 1, form == MAIL, -1);
    }
    if (how == ONE_LOOP)
        loops[0] = start_loop(all, buffers, form == MAIL, -1);
    CU(cuCtxSynchronize);
    double begin = now();
    for (int i = 0; i < buffers; ++i) {
        uint32_t mail = form == MAIL, service = SERVICE;
        uint64_t lanes = 32ull * waves;
        void *arguments[] = {&all[i], &mail, &service, &calls, &right[i], &lanes};
        launch(kernel("rate"), streams[i], waves, 32, arguments);
    }
    for (int i = 0; i < buffers; ++i)
        CU(cuStreamSynchronize, streams[i]);
    double time = now() - begin;
    for (int i = 0; i < buffers; ++i) {
        uint32_t *counts = malloc(waves * 4);
        CU(cuMemcpyDtoH_v2, counts, right[i], (size_t)waves * 4);
        for (unsigned wave = 0; wave < waves; ++wave)
            if (counts[wave] != calls)
                fprintf(stderr, "wave %u of buffer %d: %u of %u calls were right\n", wave, i, counts[wave], calls), exit(1);
        free(counts);
        if (how == LIBRARY) {
            CU(cuMemHostUnregister, bells[i]);
            if (amd_hostcall_destroy_consumer(consumers[i]))
                abort();
        }
        if (how == LOOPS)
            end_loop(loops[i]);
    }
    if (how == ONE_LOOP)
        end_loop(loops[0]);
    for (int i = 0; i < buffers; ++i) {
        CU(cuMemFreeHost, all[i]);
        CU(cuMemFree_v2, claims[i]);
        CU(cuMemFree_v2, right[i]);
        CU(cuStreamDestroy_v2, streams[i]);
    }
    CU(cuMemFreeHost, word);
    return (double)buffers * waves * calls / time;
}

int main(int argc, char **argv) {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (argc < 2 || !driver) {
        fprintf(stderr, argc < 2 ? "usage: bench-gpu KERNELS.cubin [DEVICE]\n" : "no libcuda.so.1 found\n");
        return 1;
    }
    int device = 0;
    void *context = NULL;
    CU(cuInit, 0u);
    CU(cuDeviceGet, &device, argc > 2 ? atoi(argv[2]) : 0);
    CU(cuDevicePrimaryCtxRetain, &context, device);
    CU(cuCtxSetCurrent, context);
    CU(cuModuleLoad, &module, argv[1]);
    char name[128] = "";
    CU(cuDeviceGetName, name, (int)sizeof name, device);
    if (amd_hostcall_register_service(SERVICE, add_one, NULL))
        return 1;
    printf("%s, %ld processors; rows are medians of %d runs, taken in turns\n", name, sysconf(_SC_NPROCESSORS_ONLN), ROUNDS);
    int shared = atomics_are_shared();
    printf("| form | buffers | waves on each | one loop | loops, a thread for each buffer | this library | to one loop | to the loops |\n");
    printf("|---|--:|--:|--:|--:|--:|--:|--:|\n");
    const int buffers[] = {1, MOST_BUFFERS};
    const unsigned waves[] = {1, 32, 512};
    for (int form = STACKS; form <= MAIL; ++form) {
        if (form == STACKS && !shared) {
            printf("| stacks | | | not measured: packets would be lost | | | | |\n");
            continue;
        }
        for (int b = 0; b < 2; ++b)
            for (int w = 0; w < 3; ++w) {
                double runs[3][ROUNDS];
                uint32_t calls = waves[w] == 1 ? 20000 : waves[w] == 32 ? 3000 : 400;
                for (int round = 0; round < ROUNDS; ++round)
                    for (int how = ONE_LOOP; how <= LIBRARY; ++how)
                        runs[how][round] = rate(form, how, buffers[b], waves[w], calls);
                double one = median(runs[ONE_LOOP], ROUNDS), many = median(runs[LOOPS], ROUNDS), ours = median(runs[LIBRARY], ROUNDS);
                printf("| %s | %d | %u | %.0f/s | %.0f/s | %.0f/s | %.2fx | %.2fx |\n", form == MAIL ? "mailboxes" : "stacks", buffers[b],
                       waves[w], one, many, ours, ours / one, ours / many);
                fflush(stdout);
            }
    }
    return 0;
}
