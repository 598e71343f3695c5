/*
 * Checks and measures LLVM's wire on the first device that can load an image of llvm_rpc_check_kernel.cpp:
 *
 *     llvm_rpc_check IMAGE [small]
 *
 * It prints a line for each thing that it tries. It fails if a result is wrong, and if nothing has ended for a minute.
 */
#define _GNU_SOURCE
#include <OffloadAPI.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 32768, LIMIT = 60, NAME = 64 };

static const char *doing = "starting";
static int failures;

static void hangs(int signal) {
    (void)signal;
    const char *parts[] = {"FAIL ", doing, ": it has not ended\n"};
    for (int i = 0; i < 3; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            break;
    _exit(3);
}

static void must(ol_result_t result, const char *what) {
    if (result != OL_SUCCESS) {
        fprintf(stderr, "FAIL %s: %s: error %d: %s\n", doing, what, (int)result->Code, result->Details);
        exit(1);
    }
}
#define MUST(call) must((call), #call)

/* One line: what was tried, whether it is right, and more. */
__attribute__((format(printf, 2, 3))) static void say(bool right, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("%s %s: ", right ? "ok  " : "FAIL", doing);
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    va_end(arguments);
    failures += !right;
}

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

static ol_device_handle_t device;
static ol_program_handle_t program;
static ol_queue_handle_t queue;
static uint64_t *out;
static char folder[] = "/tmp/llvm-rpc-XXXXXX";

/* Runs a kernel of one or two arguments; seconds. */
static double run(const char *name, uint32_t blocks, uint32_t threads, const uint64_t *argument) {
    void *values[] = {&out, (void *)(uintptr_t)argument};
    size_t sizes[] = {sizeof out, sizeof *argument};
    ol_kernel_launch_size_args_t size = {1, {blocks, 1, 1}, {threads, 1, 1}, 0};
    ol_symbol_handle_t kernel;
    struct timespec begin, end;
    memset(out, 0, ITEMS * sizeof *out);
    alarm(LIMIT);
    MUST(olGetSymbol(program, name, OL_SYMBOL_KIND_KERNEL, &kernel));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    MUST(olLaunchKernel(queue, device, kernel, &size, NULL, argument ? 2 : 1, values, sizes));
    MUST(olSyncQueue(queue));
    clock_gettime(CLOCK_MONOTONIC, &end);
    alarm(LIMIT);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* How many of the first items have left a value. */
static uint32_t items_with(uint64_t value, uint32_t items) {
    uint32_t found = 0;
    for (uint32_t item = 0; item < items; item++)
        found += out[item] == value;
    return found;
}

static size_t content(const char *path, char *into, size_t most) {
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(into, 1, most - 1, file) : 0;
    into[size] = '\0';
    if (file)
        fclose(file);
    return size;
}

/* Each item prints a line, into a file in place of the standard output. */
static void check_hello(void) {
    enum { LINES = 64 };
    static char text[1 << 14];
    char path[NAME], line[NAME * 2];
    doing = "hello";
    snprintf(path, sizeof path, "%s/printed", folder);
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    if (before < 0 || !freopen(path, "w", stdout)) {
        fprintf(stderr, "FAIL hello: %s cannot be written\n", path);
        exit(1);
    }
    run("hello", 2, 32, NULL);
    uint32_t found = 0, lengths = 0;
    /* What was printed may still be on its way. */
    for (int attempt = 0; attempt < 100 && found < LINES; attempt++) {
        nanosleep(&(struct timespec){0, attempt ? 20000000 : 0}, NULL);
        content(path, text, sizeof text);
        found = lengths = 0;
        for (uint32_t item = 0; item < LINES; item++) {
            int size = snprintf(line, sizeof line, "hello from item %u, half of which is %.1f: it is %s\n", item, item * 0.5,
                                item % 2 ? "odd" : "even");
            const char *at = strstr(text, line);
            found += at && !strstr(at + 1, line);
            lengths += out[item] == (uint64_t)size;
        }
    }
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    say(found == LINES && lengths == LINES, "%u of %d items have printed their line, and %u know its length", found, LINES, lengths);
    unlink(path);
}

static void check_files(void) {
    static const char written[] = "7 2.50 a text that is longer than one packet, so that it takes more than one exchange\n";
    char text[2 * sizeof written], path[NAME];
    doing = "files";
    run("files", 1, 32, NULL);
    snprintf(path, sizeof path, "%s/written.txt", folder);
    size_t size = content(path, text, sizeof text);
    const uint64_t expected[] = {1, sizeof written - 1, 0, 4, 4, 1, 0, 0};
    bool right = memcmp(out, expected, sizeof expected) == 0 && strcmp(text, written) == 0;
    say(right, "%zu bytes were written, sought and read", size);
    unlink(path);
}

/* A kernel, each item of which leaves the same value. */
static void check_items(const char *kernel, uint32_t blocks, uint64_t value) {
    doing = kernel;
    run(kernel, blocks, 32, NULL);
    uint32_t found = items_with(value, blocks * 32);
    say(found == blocks * 32, "%u of %u items have the right result, %llu", found, blocks * 32, (unsigned long long)value);
}

/* Uses so many of the client's ports, or all that there were: how many those are. */
static uint64_t use_ports(uint64_t ports) {
    run("client", 1, 1, &ports);
    return out[2];
}

/* Calls of one wave, and what its parts take. */
static void measure_wave(uint64_t calls) {
    doing = "one wave";
    run("parts", 1, 1, &(uint64_t){calls / 10 + 1});
    double seconds = run("parts", 1, 1, &calls);
    double us = 1e6 * seconds / (double)calls, sum = 0, parts[4];
    for (int part = 0; part < 4; part++)
        sum += parts[part] = (double)out[1 + part];
    for (int part = 0; part < 4; part++)
        parts[part] *= us / (sum > 0 ? sum : 1);
    say(out[0] == calls, "%.2f us a call: open %.2f, send %.2f, receive %.2f, close %.2f (%llu calls, timed with the launch)", us,
        parts[0], parts[1], parts[2], parts[3], (unsigned long long)calls);
    seconds = run("steps", 1, 1, &calls);
    say(out[0] == calls, "%.2f us a call, not timed in parts", 1e6 * seconds / (double)calls);
}

static void measure_waves(uint32_t blocks, uint32_t threads, uint64_t ports, uint64_t calls) {
    static char name[NAME];
    uint32_t items = blocks * threads;
    uint64_t used = use_ports(ports);
    snprintf(name, sizeof name, "%u waves of %u items, %llu ports", blocks, threads, (unsigned long long)used);
    doing = name;
    run("steps", blocks, threads, &(uint64_t){calls / 10 + 1});
    double seconds = run("steps", blocks, threads, &calls);
    uint32_t found = items_with(calls, items);
    double waves = (double)blocks * (double)calls / seconds / 1e6;
    say(found == items, "%.3f M calls/s of waves, %.3f M/s of items (%u of %u items have counted %llu)", waves, waves * threads, found,
        items, (unsigned long long)calls);
}

static void check_loss(uint32_t blocks, uint64_t calls) {
    doing = "loss";
    double seconds = run("steps", blocks, 1, &calls);
    uint64_t sum = 0;
    for (uint32_t item = 0; item < blocks; item++)
        sum += out[item];
    uint64_t all = blocks * calls;
    say(sum == all && items_with(calls, blocks) == blocks, "%llu of %llu calls are counted, in %.2f s", (unsigned long long)sum,
        (unsigned long long)all, seconds);
}

int main(int count, char **arguments) {
    bool small = count == 3 && strcmp(arguments[2], "small") == 0;
    struct search search = {NULL, 0, NULL};
    FILE *file = count == 2 || small ? fopen(arguments[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: %s IMAGE [small]\n", arguments[0]);
        return 2;
    }
    search.image = malloc(1 << 24);
    search.size = search.image ? fread(search.image, 1, 1 << 24, file) : 0;
    fclose(file);
    signal(SIGALRM, hangs);
    alarm(LIMIT);
    char grant[2 * NAME];
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    snprintf(grant, sizeof grant, "dir=%s::/data", folder);
    setenv("OFFLOAD_GRANT", grant, 1);

    MUST(olInit(NULL));
    MUST(olIterateDevices(look, &search));
    if (!search.device) {
        fprintf(stderr, "FAIL no device can load %s\n", arguments[1]);
        return 1;
    }
    device = search.device;
    char name[NAME] = "";
    MUST(olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name));
    MUST(olCreateProgram(device, search.image, search.size, &program));
    free(search.image);
    MUST(olCreateQueue(device, &queue));
    MUST(olMemAlloc(device, OL_ALLOC_TYPE_HOST, ITEMS * sizeof *out, (void **)&out));

    doing = "client";
    uint64_t ports = use_ports(0);
    /* In host memory the one lies right behind the other. */
    bool window = out[0] + 4 * ports != out[1];
    say(ports > 0, "%s, %llu ports, inbox in %s", name, (unsigned long long)ports, window ? "a window into device memory" : "host memory");
    check_hello();
    check_files();
    check_items("count", 2, 100);
    check_items("echo", 2, 9);
    /* 11, 21, and 30, 40, 41, 42, 43 of LLVM's test, less what the item has sent. */
    check_items("either", 2, 1 + 2 + 3 + 4 + 5);
    measure_wave(small ? 200 : 100000);
    static const uint32_t blocks[] = {64, 1024};
    for (int i = 0; i < (small ? 1 : 2); i++) {
        for (uint32_t threads = 1; threads <= 32; threads += 31) {
            uint64_t calls = small ? 10 : threads == 1 ? 2000 : 500;
            static const uint64_t some[] = {64, 1024};
            for (int j = 0; j < 2; j++)
                if (some[j] < ports)
                    measure_waves(blocks[i], threads, some[j], calls);
            measure_waves(blocks[i], threads, ports, calls);
        }
    }
    /* Ten million, and a few. */
    check_loss(small ? 16 : 1024, small ? 100 : 9766);

    doing = "the end";
    MUST(olMemFree(out));
    MUST(olDestroyQueue(queue));
    MUST(olDestroyProgram(program));
    MUST(olShutDown());
    rmdir(folder);
    say(failures == 0, "%d of the above are wrong", failures);
    return failures != 0;
}
