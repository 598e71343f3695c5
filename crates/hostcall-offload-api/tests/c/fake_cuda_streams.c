/* Streams for the driver without a GPU of libhostcall's tests (fake_cuda.c), to be linked with it. They do their work
 * on threads of their own, and the driver waits as the real one does:
 *
 * - Each function of it takes one lock. What frees, unregisters and unloads waits, with the lock held, until no stream
 *   has work. With FAKE_CUDA_MAKING_WAITS what makes pinned memory and loads modules does so, too.
 * - Functions of streams are called without the lock, and streams that wait for a word of memory look at it.
 *
 * Memory and modules are known while they are there. A kernel, a copy or a fill that uses what is not there ends the
 * process. `fake_waited` counts calls that found a stream with work and waited for it.
 *
 * A module's kernels have the names of FAKE_CUDA_KERNELS in kernels.c: `count` (adds one to a word), everything else
 * writes the first word that its pointer points to. A module has one variable, `table`. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int R;
typedef uint64_t P;
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600 };

extern void *fake_context;
extern _Thread_local void *fake_current;
int fake_waited, fake_freed, fake_destroyed_events;

static pthread_mutex_t driver = PTHREAD_MUTEX_INITIALIZER;
/* What is below changes under this one, which is held for moments. */
static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long works; /* in all streams, and not done */

static void enter(void) { pthread_mutex_lock(&driver); }
static R leave(R result) {
    pthread_mutex_unlock(&driver);
    return result;
}
static R needs_context(void) { return fake_current == fake_context ? 0 : 201; }

static void die(const char *what, uint64_t which) {
    printf("FAIL the fake driver: %s %#llx\n", what, (unsigned long long)which);
    fflush(stdout);
    _Exit(3);
}

/* Memory and modules. */
struct range {
    struct range *next;
    P start;
    size_t bytes;
    int is_registered;
};
static struct range *ranges;

static void add_range(P start, size_t bytes, int is_registered) {
    struct range *range = malloc(sizeof *range);
    if (range == NULL) abort();
    pthread_mutex_lock(&state);
    *range = (struct range){ranges, start, bytes, is_registered};
    ranges = range;
    pthread_mutex_unlock(&state);
}

static int remove_range(P start, int is_registered) {
    pthread_mutex_lock(&state);
    struct range **at = &ranges;
    while (*at != NULL && ((*at)->start != start || (*at)->is_registered != is_registered)) at = &(*at)->next;
    struct range *found = *at;
    if (found != NULL) *at = found->next;
    pthread_mutex_unlock(&state);
    free(found);
    return found != NULL;
}

/* Whether there is such memory. Memory that the driver does not know is the program's own. */
static int freed_before(P start);
static void must_be_there(P start, const char *what) {
    if (freed_before(start)) die(what, start);
}

/* Memory is never given back to the system, so that what was freed is known. */
struct freed {
    struct freed *next;
    P start;
    size_t bytes;
};
static struct freed *all_freed;
static int freed_before(P start) {
    int found = 0;
    pthread_mutex_lock(&state);
    for (struct freed *it = all_freed; it != NULL && !found; it = it->next) found = start - it->start < it->bytes;
    pthread_mutex_unlock(&state);
    return found;
}

/* Streams. */
enum kind { KERNEL, COPY, FILL, FUNCTION, VALUE, EVENT, AWAIT };
struct work {
    struct work *next;
    enum kind kind;
    void (*function)(void *);
    void *data;
    P to, from;
    size_t pitch, size, columns, height;
    unsigned char value[4];
    uint32_t *word, wanted;
    struct event *event;
    unsigned long number;
    void *module;
    int is_count;
};
struct stream {
    struct work *first, **last;
    long open;
    int is_closed;
};
struct event {
    unsigned long recorded, happened;
    int references;
};

static void release_event(struct event *event) { /* under `state` */
    if (--event->references == 0) free(event);
}

static void nap(long nanoseconds) {
    struct timespec time = {0, nanoseconds};
    nanosleep(&time, NULL);
}

static void fill(const struct work *work) {
    for (size_t y = 0; y < work->height; y++)
        for (size_t x = 0; x < work->columns; x++)
            memcpy((void *)(uintptr_t)(work->to + y * work->pitch + x * work->size), work->value, work->size);
}

static void perform(struct work *work) {
    switch (work->kind) {
        case KERNEL:
            nap(20000);
            must_be_there((P)(uintptr_t)work->module, "a kernel ran after its module was unloaded");
            if (work->to == 0) break;
            must_be_there(work->to, "a kernel used memory that is freed");
            if (work->is_count)
                __atomic_fetch_add((uint32_t *)(uintptr_t)work->to, 1, __ATOMIC_SEQ_CST);
            else
                *(volatile uint32_t *)(uintptr_t)work->to = 0;
            break;
        case COPY:
            must_be_there(work->to, "a copy wrote to memory that is freed");
            must_be_there(work->from, "a copy read memory that is freed");
            memmove((void *)(uintptr_t)work->to, (void *)(uintptr_t)work->from, work->size);
            break;
        case FILL:
            must_be_there(work->to, "a fill wrote to memory that is freed");
            fill(work);
            break;
        case FUNCTION:
            work->function(work->data);
            break;
        case VALUE:
            must_be_there((P)(uintptr_t)work->word, "a stream looked at a word that is freed");
            while ((int32_t)(__atomic_load_n(work->word, __ATOMIC_ACQUIRE) - work->wanted) < 0) {
                nap(5000);
                must_be_there((P)(uintptr_t)work->word, "a stream looked at a word that is freed");
            }
            break;
        case EVENT:
            pthread_mutex_lock(&state);
            if (work->event->happened < work->number) work->event->happened = work->number;
            release_event(work->event);
            pthread_mutex_unlock(&state);
            break;
        case AWAIT:
            pthread_mutex_lock(&state);
            while (work->event->happened < work->number) pthread_cond_wait(&changed, &state);
            release_event(work->event);
            pthread_mutex_unlock(&state);
            break;
    }
}

static void *serve(void *data) {
    struct stream *stream = data;
    pthread_mutex_lock(&state);
    for (;;) {
        struct work *work = stream->first;
        if (work == NULL) {
            if (stream->is_closed) break;
            pthread_cond_wait(&changed, &state);
            continue;
        }
        stream->first = work->next;
        if (stream->first == NULL) stream->last = &stream->first;
        pthread_mutex_unlock(&state);
        perform(work);
        free(work);
        pthread_mutex_lock(&state);
        stream->open--;
        works--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&state);
    free(stream);
    return NULL;
}

/* Puts work into a stream. */
static R put(void *to, struct work work) {
    R result = needs_context();
    struct stream *stream = to;
    struct work *copy = malloc(sizeof *copy);
    if (result != 0 || copy == NULL) {
        free(copy);
        return result != 0 ? result : OUT_OF_MEMORY;
    }
    enter();
    pthread_mutex_lock(&state);
    if (stream->is_closed) die("work for a stream that is destroyed", (uintptr_t)to);
    *copy = work;
    copy->next = NULL;
    if (work.event != NULL) {
        work.event->references++;
        if (work.kind == EVENT) work.event->recorded++;
        copy->number = work.event->recorded;
    }
    *stream->last = copy;
    stream->last = &copy->next;
    stream->open++;
    works++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&state);
    return leave(0);
}

/* Waits for everything, as the real driver does where it frees: with the lock. */
static void wait_for_device(void) {
    pthread_mutex_lock(&state);
    if (works > 0) fake_waited++;
    while (works > 0) pthread_cond_wait(&changed, &state);
    pthread_mutex_unlock(&state);
}

static void making_waits(void) {
    if (getenv("FAKE_CUDA_MAKING_WAITS") != NULL) wait_for_device();
}

R cuStreamCreate(void **to, unsigned flags) {
    (void)flags;
    struct stream *stream = calloc(1, sizeof *stream);
    pthread_t thread;
    if (stream == NULL) return OUT_OF_MEMORY;
    stream->last = &stream->first;
    if (pthread_create(&thread, NULL, serve, stream)) return OUT_OF_MEMORY;
    pthread_detach(thread);
    enter();
    *to = stream;
    return leave(0);
}
R cuStreamDestroy_v2(void *of) {
    struct stream *stream = of;
    enter();
    pthread_mutex_lock(&state);
    stream->is_closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&state);
    return leave(0);
}
R cuStreamQuery(void *of) {
    struct stream *stream = of;
    enter();
    pthread_mutex_lock(&state);
    int is_open = stream->open > 0;
    pthread_mutex_unlock(&state);
    return leave(is_open ? NOT_READY : 0);
}
R cuStreamSynchronize(void *of) {
    struct stream *stream = of;
    enter();
    leave(0);
    pthread_mutex_lock(&state);
    while (stream->open > 0) pthread_cond_wait(&changed, &state);
    pthread_mutex_unlock(&state);
    return 0;
}
R cuStreamWaitValue32_v2(void *stream, P word, uint32_t value, unsigned flags) {
    (void)flags;
    return put(stream, (struct work){.kind = VALUE, .word = (uint32_t *)(uintptr_t)word, .wanted = value});
}
R cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    (void)flags;
    return put(stream, (struct work){.kind = AWAIT, .event = event});
}
R cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    return put(stream, (struct work){.kind = FUNCTION, .function = function, .data = data});
}

R cuEventCreate(void **to, unsigned flags) {
    (void)flags;
    struct event *event = calloc(1, sizeof *event);
    if (event == NULL) return OUT_OF_MEMORY;
    event->references = 1;
    enter();
    *to = event;
    return leave(0);
}
R cuEventDestroy_v2(void *event) {
    enter();
    pthread_mutex_lock(&state);
    fake_destroyed_events++;
    release_event(event);
    pthread_mutex_unlock(&state);
    return leave(0);
}
R cuEventRecord(void *event, void *stream) { return put(stream, (struct work){.kind = EVENT, .event = event}); }
R cuEventQuery(void *of) {
    struct event *event = of;
    enter();
    pthread_mutex_lock(&state);
    int has_happened = event->happened >= event->recorded;
    pthread_mutex_unlock(&state);
    return leave(has_happened ? 0 : NOT_READY);
}
R cuEventSynchronize(void *of) {
    struct event *event = of;
    enter();
    leave(0);
    pthread_mutex_lock(&state);
    unsigned long number = event->recorded;
    event->references++;
    while (event->happened < number) pthread_cond_wait(&changed, &state);
    release_event(event);
    pthread_mutex_unlock(&state);
    return 0;
}
R cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    R first = cuEventQuery(start), second = cuEventQuery(end);
    *milliseconds = 0;
    return first != 0 ? first : second;
}

static R allocate(void **to, size_t bytes) {
    bytes = (bytes + 4095) / 4096 * 4096;
    *to = aligned_alloc(4096, bytes);
    if (*to == NULL) return OUT_OF_MEMORY;
    memset(*to, 0, bytes);
    add_range((P)(uintptr_t)*to, bytes, 0);
    return 0;
}
static R give_back(P start) {
    R result = INVALID_VALUE;
    size_t bytes = 0;
    enter();
    wait_for_device();
    pthread_mutex_lock(&state);
    for (struct range *it = ranges; it != NULL; it = it->next)
        if (it->start == start && !it->is_registered) bytes = it->bytes;
    pthread_mutex_unlock(&state);
    if (remove_range(start, 0)) {
        struct freed *freed = malloc(sizeof *freed);
        if (freed == NULL) abort();
        pthread_mutex_lock(&state);
        *freed = (struct freed){all_freed, start, bytes};
        all_freed = freed;
        fake_freed++;
        pthread_mutex_unlock(&state);
        result = 0;
    }
    return leave(result);
}
R cuMemAlloc_v2(P *to, size_t bytes) {
    void *memory;
    enter();
    R result = allocate(&memory, bytes);
    *to = (P)(uintptr_t)memory;
    return leave(result);
}
R cuMemAllocManaged(P *to, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAlloc_v2(to, bytes);
}
R cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
    (void)flags;
    enter();
    making_waits();
    return leave(allocate(to, bytes));
}
R cuMemFree_v2(P start) { return give_back(start); }
R cuMemFreeHost(void *start) { return give_back((P)(uintptr_t)start); }
R cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags) {
    (void)flags;
    enter();
    making_waits();
    add_range((P)(uintptr_t)start, bytes, 1);
    return leave(0);
}
R cuMemHostUnregister(void *start) {
    enter();
    wait_for_device();
    return leave(remove_range((P)(uintptr_t)start, 1) ? 0 : INVALID_VALUE);
}

static R copy(P to, P from, size_t bytes, void *stream) {
    return put(stream, (struct work){.kind = COPY, .to = to, .from = from, .size = bytes});
}
R cuMemcpyHtoDAsync_v2(P to, const void *from, size_t bytes, void *stream) { return copy(to, (P)(uintptr_t)from, bytes, stream); }
R cuMemcpyDtoHAsync_v2(void *to, P from, size_t bytes, void *stream) { return copy((P)(uintptr_t)to, from, bytes, stream); }
R cuMemcpyAsync(P to, P from, size_t bytes, void *stream) { return copy(to, from, bytes, stream); }
static R rows(P to, size_t pitch, const void *value, size_t size, size_t columns, size_t height, void *stream) {
    struct work work = {.kind = FILL, .to = to, .pitch = pitch, .size = size, .columns = columns, .height = height};
    memcpy(work.value, value, size);
    return put(stream, work);
}
R cuMemsetD8Async(P to, unsigned char v, size_t n, void *s) { return rows(to, 0, &v, 1, n, 1, s); }
R cuMemsetD16Async(P to, uint16_t v, size_t n, void *s) { return rows(to, 0, &v, sizeof v, n, 1, s); }
R cuMemsetD32Async(P to, uint32_t v, size_t n, void *s) { return rows(to, 0, &v, sizeof v, n, 1, s); }
R cuMemsetD2D8Async(P to, size_t pitch, unsigned char v, size_t w, size_t h, void *s) { return rows(to, pitch, &v, 1, w, h, s); }
R cuMemsetD2D32Async(P to, size_t pitch, uint32_t v, size_t w, size_t h, void *s) { return rows(to, pitch, &v, 4, w, h, s); }

/* Modules: two functions and a variable. */
struct module {
    char functions[2]; /* `count`, and all others */
    uint32_t table[64];
};
R cuModuleLoadDataEx(void **to, const void *image, unsigned options, int *keys, void **values) {
    (void)image, (void)options, (void)keys, (void)values;
    enter();
    making_waits();
    return leave(allocate(to, sizeof(struct module)));
}
R cuModuleUnload(void *module) { return give_back((P)(uintptr_t)module); }
R cuModuleGetFunction(void **to, void *of, const char *name) {
    struct module *module = of;
    if (strncmp(name, "nvptx$", 6) == 0) return NOT_FOUND;
    *to = &module->functions[strcmp(name, "count") == 0 ? 0 : 1];
    return 0;
}
R cuModuleGetFunctionCount(unsigned *count, void *module) {
    (void)module;
    *count = 0;
    return 0;
}
R cuModuleEnumerateFunctions(void **functions, unsigned count, void *module) {
    (void)functions, (void)count, (void)module;
    return 0;
}
R cuModuleGetGlobal_v2(P *to, size_t *bytes, void *of, const char *name) {
    struct module *module = of;
    if (strcmp(name, "table") != 0) return NOT_FOUND;
    *to = (P)(uintptr_t)module->table;
    *bytes = sizeof module->table;
    return 0;
}
R cuFuncGetAttribute(int *value, int attribute, void *function) {
    (void)attribute, (void)function;
    *value = 32;
    return 0;
}
R cuFuncGetParamInfo(void *function, size_t index, size_t *offset, size_t *size) {
    (void)function, (void)index;
    *offset = 0;
    *size = 8;
    /* One pointer. */
    return index == 0 ? 0 : INVALID_VALUE;
}
R cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                 void **parameters, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
    /* The functions of a module are its first bytes, and modules begin at a page. */
    struct module *module = (struct module *)((uintptr_t)function / 4096 * 4096);
    P pointer = 0;
    memcpy(&pointer, parameters[0], sizeof pointer);
    return put(stream, (struct work){.kind = KERNEL, .to = pointer, .module = module, .is_count = function == &module->functions[0]});
}
