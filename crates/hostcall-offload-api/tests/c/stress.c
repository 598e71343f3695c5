/*
 * Many threads make, use and destroy everything at random, handles of one another included: stress IMAGE THREADS STEPS SEED
 *
 * Handles are shared, so a call may find its handle destroyed: then it says so. Anything else that fails is a surprise. Memory and kernels
 * are used by the thread that made them only, as the API demands.
 */
#include <OffloadAPI.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 32, PATTERN = 5, BYTES = PATTERN * 100 };

static ol_device_handle_t device;
static void *queues[SHARED], *events[SHARED], *programs[SHARED];
static char image[1 << 22];
static size_t image_size, steps;
static unsigned seed;
static int surprises;

static bool take(ol_device_handle_t found, void *data) {
    (void)data;
    device = found;
    return false;
}

static unsigned next(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void *look(void **place) { return __atomic_load_n(place, __ATOMIC_SEQ_CST); }
static void *put(void **place, void *handle) { return __atomic_exchange_n(place, handle, __ATOMIC_SEQ_CST); }

/* Success, or one of the codes that say that the handle is gone. */
static void expect(const char *what, ol_result_t result) {
    if (!result || result->Code == OL_ERRC_INVALID_QUEUE || result->Code == OL_ERRC_INVALID_EVENT || result->Code == OL_ERRC_INVALID_NULL_HANDLE)
        return;
    if (result->Code == OL_ERRC_INVALID_ARGUMENT && (strstr(result->Details, "destroyed") || strstr(result->Details, "never made")))
        return;
    if (__atomic_fetch_add(&surprises, 1, __ATOMIC_SEQ_CST) < 10)
        printf("surprise: %s: %d: %s\n", what, (int)result->Code, result->Details);
}

static void count(void *counter) { __atomic_fetch_add((int *)counter, 1, __ATOMIC_SEQ_CST); }

static void surprise(const char *what) {
    if (__atomic_fetch_add(&surprises, 1, __ATOMIC_SEQ_CST) < 10)
        printf("surprise: %s\n", what);
}

/* What one thread does alone is right, whatever the others do. */
static void alone(unsigned *state) {
    ol_queue_handle_t queue;
    ol_program_handle_t program;
    ol_symbol_handle_t kernel;
    ol_kernel_launch_size_args_t one = {1, {1, 1, 1}, {1, 1, 1}, 0};
    unsigned char pattern[PATTERN], out[BYTES];
    unsigned a = next(state), b = next(state), sum = 0, *pointers[] = {&a, &b, &sum};
    void *memory, *values[] = {&pointers[0], &pointers[1], &pointers[2]};
    size_t sizes[] = {sizeof(void *), sizeof(void *), sizeof(void *)};
    int called = 0;
    for (int i = 0; i < PATTERN; i++)
        pattern[i] = (unsigned char)next(state);
    if (olCreateQueue(device, &queue) || olMemAlloc(device, OL_ALLOC_TYPE_DEVICE, BYTES, &memory) ||
        olCreateProgram(device, image, image_size, &program) || olGetSymbol(program, "add", OL_SYMBOL_KIND_KERNEL, &kernel)) {
        surprise("something of one's own cannot be made");
        return;
    }
    expect("fill", olMemFill(queue, memory, PATTERN, pattern, BYTES));
    expect("copy", olMemcpy(queue, out, device, memory, device, BYTES));
    expect("launch", olLaunchKernel(queue, device, kernel, &one, NULL, 3, values, sizes));
    expect("call", olLaunchHostFunction(queue, count, &called));
    /* Both are still in use. */
    expect("free", olMemFree(memory));
    expect("unload", olDestroyProgram(program));
    expect("sync", olSyncQueue(queue));
    if (sum != a + b || called != 1 || memcmp(out, pattern, PATTERN) || memcmp(out + BYTES - PATTERN, pattern, PATTERN))
        surprise("a wrong result");
    expect("destroy", olDestroyQueue(queue));
}

static void *work(void *data) {
    unsigned state = seed + 77777u * (unsigned)(size_t)data;
    for (size_t step = 0; step < steps; step++) {
        unsigned at = next(&state) % SHARED;
        void *queue = look(&queues[next(&state) % SHARED]), *event = look(&events[next(&state) % SHARED]), *program = look(&programs[at]), *made = NULL;
        ol_symbol_handle_t symbol;
        ol_symbol_kind_t kind;
        bool idle;
        switch (next(&state) % 12) {
        case 0:
            expect("create queue", olCreateQueue(device, (ol_queue_handle_t *)&made));
            expect("destroy queue", olDestroyQueue((ol_queue_handle_t)put(&queues[at], made)));
            break;
        case 1:
            expect("create event", olCreateEvent((ol_queue_handle_t)queue, OL_EVENT_FLAGS_ENABLE_PROFILING, (ol_event_handle_t *)&made));
            if (made)
                expect("destroy event", olDestroyEvent((ol_event_handle_t)put(&events[at], made)));
            break;
        case 2:
            if (next(&state) % 4 == 0) {
                expect("create program", olCreateProgram(device, image, image_size, (ol_program_handle_t *)&made));
                expect("destroy program", olDestroyProgram((ol_program_handle_t)put(&programs[at], made)));
            }
            break;
        case 3:
            expect("sync queue", olSyncQueue((ol_queue_handle_t)queue));
            break;
        case 4:
            expect("sync event", olSyncEvent((ol_event_handle_t)event));
            break;
        case 5:
            expect("wait", olWaitEvents((ol_queue_handle_t)queue, (ol_event_handle_t *)&event, 1));
            break;
        case 6:
            expect("query", olQueryQueue((ol_queue_handle_t)queue, &idle));
            break;
        case 7:
            if (!olGetSymbol((ol_program_handle_t)program, next(&state) % 2 ? "foo" : "add", OL_SYMBOL_KIND_KERNEL, &symbol))
                expect("symbol", olGetSymbolInfo(symbol, OL_SYMBOL_INFO_KIND, sizeof kind, &kind));
            break;
        case 8:
            /* Twice, and as what it is not. */
            expect("destroy again", olDestroyEvent((ol_event_handle_t)event));
            expect("destroy again", olDestroyEvent((ol_event_handle_t)event));
            if (olSyncQueue((ol_queue_handle_t)event) == OL_SUCCESS)
                surprise("an event is a queue");
            break;
        case 9: {
            float time;
            ol_result_t result = olGetEventElapsedTime((ol_event_handle_t)event, (ol_event_handle_t)event, &time);
            if (!result && time != 0)
                surprise("time from an event to itself");
            break;
        }
        default:
            alone(&state);
        }
    }
    return NULL;
}

int main(int argument_count, char **arguments) {
    pthread_t threads[256];
    size_t thread_count = argument_count > 4 ? (size_t)atoi(arguments[2]) : 0;
    FILE *file = argument_count > 4 ? fopen(arguments[1], "rb") : NULL;
    if (!file || thread_count > 256)
        return 2;
    image_size = fread(image, 1, sizeof image, file);
    fclose(file);
    steps = (size_t)atoi(arguments[3]);
    seed = (unsigned)atoi(arguments[4]);
    if (olInit(NULL) || olIterateDevices(take, NULL))
        return 1;
    for (size_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 1;
    for (size_t i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    if (olShutDown())
        surprise("olShutDown");
    printf("%zu threads, %zu steps, %d surprises\n", thread_count, thread_count * steps, surprises);
    return surprises != 0;
}
