/*
 * Kernels that call the host, launched through the Offload API. Usage: host_calls IMAGE [greet] [ask] [keep] [give_up]
 *
 * Prints what came of each; what the kernels print comes between.
 */
#include <OffloadAPI.h>
#include <OffloadPort.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 100 };

static ol_device_handle_t device;
static ol_queue_handle_t queue;
static ol_program_handle_t program;
static const char *image;
static size_t image_size;

static void must(ol_result_t result, const char *what) {
    if (!result)
        return;
    printf("%s: %d: %s\n", what, (int)result->Code, result->Details);
    exit(1);
}

/* The first device that the image is for. */
static bool look(ol_device_handle_t it, void *data) {
    bool valid = false;
    (void)data;
    if (!olIsValidBinary(it, image, image_size, &valid) && valid)
        device = it;
    return !valid;
}

static unsigned posted, asked;

static unsigned answer(void *data, unsigned lanes) {
    struct offload_port *port = data;
    if (lanes != 1 || port->size < sizeof *port)
        return OFFLOAD_PORT_ERROR;
    if (strcmp(port->service, "Host__add42") == 0 && !port->posted && port->request_units >= 1 && port->reply_capacity >= 1) {
        float x;
        memcpy(&x, port->request, sizeof x);
        x += 42;
        memcpy(port->reply, &x, sizeof x);
        port->reply_units = 1;
        __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
        return OFFLOAD_PORT_HANDLED;
    }
    if (strcmp(port->service, "Host__log") == 0 && port->posted) {
        __atomic_fetch_add(&posted, 1, __ATOMIC_RELAXED);
        return OFFLOAD_PORT_HANDLED;
    }
    return OFFLOAD_PORT_UNHANDLED;
}

static unsigned refuse(void *data, unsigned lanes) {
    (void)data;
    (void)lanes;
    return 17;
}

static ol_result_t launch(const char *name, ol_queue_handle_t in, size_t count, void **pointers, size_t *sizes) {
    ol_kernel_launch_size_args_t size = {1, {(ITEMS + 31) / 32, 1, 1}, {32, 1, 1}, 0};
    ol_symbol_handle_t kernel;
    must(olGetSymbol(program, name, OL_SYMBOL_KIND_KERNEL, &kernel), name);
    return olLaunchKernel(in, device, kernel, &size, NULL, count, pointers, sizes);
}

static void say(const char *what, ol_result_t result) {
    printf("%s: %d%s%s\n", what, result ? (int)result->Code : 0, result ? ": " : "", result ? result->Details : "");
    fflush(stdout);
}

static void ask(const char *what) {
    float y[ITEMS];
    void *memory;
    uint64_t length = ITEMS;
    void *pointers[2] = {&memory, &length};
    size_t sizes[2] = {sizeof memory, sizeof length};
    int right = 0;
    for (int i = 0; i < ITEMS; i++)
        y[i] = (float)i;
    must(olMemAlloc(device, OL_ALLOC_TYPE_MANAGED, sizeof y, &memory), "olMemAlloc");
    memcpy(memory, y, sizeof y);
    must(launch("ask", queue, 2, pointers, sizes), "ask");
    say(what, olSyncQueue(queue));
    memcpy(y, memory, sizeof y);
    for (int i = 0; i < ITEMS; i++)
        right += y[i] == (float)i + 42;
    printf("%s: %d right, %u asked, %u posted\n", what, right, asked, posted);
    must(olMemFree(memory), "olMemFree");
}

int main(int argc, char **argv) {
    ol_platform_handle_t platform;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    char *bytes;
    if (!file)
        return 2;
    fseek(file, 0, SEEK_END);
    image_size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(image_size);
    if (!bytes || fread(bytes, 1, image_size, file) != image_size)
        return 2;
    fclose(file);
    image = bytes;
    must(olInit(NULL), "olInit");
    must(olIterateDevices(look, NULL), "olIterateDevices");
    if (!device) {
        printf("no device has this image\n");
        return 1;
    }
    must(olCreateQueue(device, &queue), "olCreateQueue");
    ol_result_t loaded = olCreateProgram(device, image, image_size, &program);
    if (loaded) {
        say("olCreateProgram", loaded);
        return 1;
    }
    must(olGetDeviceInfo(device, OL_DEVICE_INFO_PLATFORM, sizeof platform, &platform), "platform");
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "greet") == 0) {
            must(launch("greet", queue, 0, NULL, NULL), "greet");
            say("greet", olSyncQueue(queue));
            say("greet at once", launch("greet", NULL, 0, NULL, NULL));
        } else if (strcmp(argv[i], "ask") == 0) {
            ask("without a callback");
            must(olPlatformRegisterRPCCallback(platform, answer), "olPlatformRegisterRPCCallback");
            ask("with one");
            must(olPlatformRegisterRPCCallback(platform, refuse), "olPlatformRegisterRPCCallback");
            ask("with one that refuses");
        } else if (strcmp(argv[i], "keep") == 0) {
            must(launch("keep", queue, 0, NULL, NULL), "keep");
            say("keep", olSyncQueue(queue));
        } else if (strcmp(argv[i], "give_up") == 0) {
            uint32_t item = 7, nobody = 1000000;
            void *pointers[1] = {&item};
            size_t sizes[1] = {sizeof item};
            must(launch("give_up", queue, 1, pointers, sizes), "give_up");
            say("give_up", olSyncQueue(queue));
            pointers[0] = &nobody;
            must(launch("give_up", queue, 1, pointers, sizes), "give_up");
            say("after it", olSyncQueue(queue));
        }
    }
    must(olDestroyProgram(program), "olDestroyProgram");
    must(olDestroyQueue(queue), "olDestroyQueue");
    must(olShutDown(), "olShutDown");
    free(bytes);
    return 0;
}
