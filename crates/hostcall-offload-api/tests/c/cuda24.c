/* LLVM 24's API on the driver without a GPU (fake_cuda_modules.c): cuda24 IMAGE. Prints what the image has, launches its
 * kernel `nothing`, and tells how often the driver was asked for what. */
#include <OffloadAPI.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

extern long fake_launches, fake_asked;
extern int fake_switched, fake_held, fake_waits, fake_modules, fake_streams;
extern _Thread_local void *fake_current;
extern void fake_release(void);
extern size_t fake_stack;

static void ok(const char *what, ol_result_t result) {
    if (result != OL_SUCCESS) {
        printf("%s: code %d, %s\n", what, (int)result->Code, result->Details);
        exit(1);
    }
}
#define OK(call) ok(#call, call)

static bool take(ol_device_handle_t device, void *data) {
    *(ol_device_handle_t *)data = device;
    return false;
}

static bool show(ol_symbol_handle_t symbol, void *data) {
    char name[64];
    OK(olGetSymbolInfo(symbol, OL_SYMBOL_INFO_NAME, sizeof name, name));
    printf(" %s", name);
    ++*(size_t *)data;
    return true;
}

/* Fills with patterns of any size, at any address, behind work that does not end before they are in the queue. Memory of this driver's GPU is the
 * host's. Patterns of many different bytes at an odd address are copied from the host, for which the driver may wait. */
static void fill(ol_context_handle_t context, ol_device_handle_t device, ol_queue_handle_t queue, bool on_device) {
    enum { BYTES = 1 << 18 };
    const size_t sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 17, 24, 32, 33, 64, 100, 260};
    unsigned char pattern[260], *memory;
    size_t wrong = 0, early = 0, waits[] = {0, 0};
    void *address = NULL;
    if (on_device)
        OK(olMemAlloc(context, device, OL_ALLOC_TYPE_DEVICE, BYTES, &address));
    else
        OK(olMemAllocHost(context, device, BYTES, &address));
    memory = address;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (unsigned char)(i * 7 + 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t from = 0; from < 2; from++) {
            const size_t size = sizes[i], end = from + (BYTES - 2) / size * size;
            memset(memory, 0xee, BYTES);
            fake_held = 1;
            fake_waits = 0;
            OK(olMemFill(queue, memory + from, size, pattern, end - from));
            if (fake_waits == 0)
                early += memory[from] != 0xee || memory[end - 1] != 0xee;
            waits[size > 64] += (size_t)fake_waits;
            fake_release();
            for (size_t at = from; at < end; at++)
                wrong += memory[at] != pattern[(at - from) % size];
            wrong += memory[end] != 0xee || (from == 1 && memory[0] != 0xee);
        }
    printf("fills of %s memory: %zu bytes wrong, %zu too early; copies from the host: %zu, of patterns of more than 64 bytes %s\n",
           on_device ? "the GPU's" : "the host's", wrong, early, waits[0], waits[1] ? "some" : "none");
    OK(olMemFree(context, address));
}

/* Threads launch, each in queues of its own and in one of all, while the program is destroyed and made again. What is destroyed is given back when no call
 * uses it any more: no module and no stream is left. */
enum { THREADS = 4, PROGRAMS = 2000 };
static struct {
    ol_context_handle_t context;
    ol_device_handle_t device;
    ol_queue_handle_t queue;
    void *kernel;
    size_t launched;
    bool ends;
} shared;

static void *launch_and_destroy(void *data) {
    const ol_kernel_launch_size_args_t once = {1, {1, 1, 1}, {1, 1, 1}, 0};
    (void)data;
    while (!__atomic_load_n(&shared.ends, __ATOMIC_SEQ_CST)) {
        ol_queue_handle_t own = NULL;
        OK(olCreateQueue(shared.context, shared.device, &own));
        for (int i = 0; i < 6; i++) {
            ol_symbol_handle_t kernel = __atomic_load_n(&shared.kernel, __ATOMIC_SEQ_CST);
            ol_result_t result = olLaunchKernel(i % 2 ? own : shared.queue, shared.device, kernel, &once, NULL, 0, NULL, NULL);
            if (result == OL_SUCCESS)
                __atomic_fetch_add(&shared.launched, 1, __ATOMIC_SEQ_CST);
            else if (result->Code != OL_ERRC_INVALID_ARGUMENT)
                ok("a launch of a kernel that may be gone", result);
        }
        OK(olDestroyQueue(own));
    }
    return NULL;
}

static void destroyed_while_launching(const void *image, size_t size) {
    pthread_t threads[THREADS];
    int modules = fake_modules, streams = fake_streams;
    OK(olCreateQueue(shared.context, shared.device, &shared.queue));
    for (int i = 0; i <= PROGRAMS; i++) {
        ol_program_handle_t program = NULL;
        ol_symbol_handle_t kernel = NULL;
        OK(olCreateProgram(shared.context, shared.device, image, size, &program));
        OK(olGetSymbol(program, "nothing", OL_SYMBOL_KIND_KERNEL, &kernel));
        __atomic_store_n(&shared.kernel, kernel, __ATOMIC_SEQ_CST);
        for (int t = 0; i == 0 && t < THREADS; t++)
            if (pthread_create(&threads[t], NULL, launch_and_destroy, NULL))
                exit(2);
        /* Some programs stay until they are used. */
        for (size_t before = __atomic_load_n(&shared.launched, __ATOMIC_SEQ_CST); i % 20 == 0 && __atomic_load_n(&shared.launched, __ATOMIC_SEQ_CST) == before;)
            thrd_yield();
        OK(olDestroyProgram(program));
    }
    __atomic_store_n(&shared.ends, true, __ATOMIC_SEQ_CST);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    OK(olDestroyQueue(shared.queue));
    /* Another thread unloads what was destroyed while a queue had work. (The limit only ends what would not end.) */
    for (int i = 0; i < 10000 && __atomic_load_n(&fake_modules, __ATOMIC_SEQ_CST) != modules; i++) {
        struct timespec a_little = {0, 1000000};
        thrd_sleep(&a_little, NULL);
    }
    printf("destroyed while threads launched: %d modules and %d streams are left\n", fake_modules - modules, fake_streams - streams);
}

int main(int argc, char **argv) {
    static char image[1 << 20];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(image, 1, sizeof image, file) : 0, count[2] = {0, 0};
    ol_device_handle_t device = NULL;
    ol_context_handle_t context = NULL;
    ol_program_handle_t program = NULL;
    ol_symbol_handle_t kernel = NULL;
    ol_queue_handle_t queue = NULL;
    ol_kernel_launch_size_args_t once = {1, {1, 1, 1}, {1, 1, 1}, 0};
    long asked;
    int switched;
    size_t opened;
    fake_stack = 1 << 10;
    OK(olInit(NULL));
    OK(olIterateDevices(take, &device));
    OK(olCreateContext(1, &device, &context));
    opened = fake_stack;
    OK(olCreateProgram(context, device, image, size, &program));
    printf("a lane's stack: %zu bytes, %zu once the program is loaded\n", opened, fake_stack);
    asked = fake_asked;
    printf("kernels:");
    OK(olIterateSymbols(program, OL_SYMBOL_KIND_KERNEL, show, &count[0]));
    printf("\nvariables:");
    ol_result_t variables = olIterateSymbols(program, OL_SYMBOL_KIND_GLOBAL_VARIABLE, show, &count[1]);
    if (variables != OL_SUCCESS && variables->Code == OL_ERRC_UNSUPPORTED)
        printf(" unsupported");
    else
        ok("olIterateSymbols", variables);
    printf("\nquestions besides: %ld\n", fake_asked - asked - (long)(count[0] + count[1]));
    OK(olGetSymbol(program, "nothing", OL_SYMBOL_KIND_KERNEL, &kernel));
    OK(olCreateQueue(context, device, &queue));
    OK(olLaunchKernel(queue, device, kernel, &once, NULL, 0, NULL, NULL));
    switched = fake_switched;
    for (int i = 0; i < 9; i++)
        OK(olLaunchKernel(queue, device, kernel, &once, NULL, 0, NULL, NULL));
    printf("launches: %ld, changes of the current context in the last nine: %d\n", fake_launches, fake_switched - switched);
    /* Whatever is current on the thread, and it stays so. */
    fake_current = NULL;
    OK(olLaunchKernel(queue, device, kernel, &once, NULL, 0, NULL, NULL));
    fake_current = &once;
    for (int i = 0; i < 3; i++) {
        OK(olLaunchKernel(queue, device, kernel, &once, NULL, 0, NULL, NULL));
        OK(olMemcpy(queue, image, device, image, device, 1));
    }
    printf("launches with another context or none: %ld, the other one is %s\n", fake_launches - 10, fake_current == &once ? "current" : "gone");
    fill(context, device, queue, true);
    fill(context, device, queue, false);
    OK(olSyncQueue(queue));
    shared.context = context;
    shared.device = device;
    destroyed_while_launching(image, size);
    OK(olShutDown());
    return 0;
}
