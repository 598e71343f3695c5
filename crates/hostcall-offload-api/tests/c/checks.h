/* Checks of the suites: what fails is printed and counted, and the rest goes on. */
#ifndef CHECKS_H
#define CHECKS_H

#include <OffloadAPI.h>
#include <stdio.h>
#include <stdlib.h>

static int failed, passed;
/* Where checks are made: a device's name. */
static const char *on = "";

static void check(int line, const char *what, int holds, const char *details) {
    if (holds) {
        __atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
        return;
    }
    __atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
    printf("FAIL %s, line %d: %s%s%s\n", on, line, what, details ? ": " : "", details ? details : "");
    fflush(stdout);
}

static int expect(int line, const char *what, ol_result_t result, ol_errc_t code) {
    char text[512];
    ol_errc_t got = result ? result->Code : OL_ERRC_SUCCESS;
    snprintf(text, sizeof text, "code %d instead of %d (%s)", (int)got, (int)code, result && result->Details ? result->Details : "");
    check(line, what, got == code && (!result || (result->Details && result->Details[0])), text);
    return got == code;
}

#define OK(call) expect(__LINE__, #call, (call), OL_ERRC_SUCCESS)
#define FAILS(code, call) expect(__LINE__, #call, (call), OL_ERRC_##code)
#define CHECK(condition) check(__LINE__, #condition, (condition), NULL)
#define BOGUS(type) ((type)(void *)&failed)

/* The devices that there are, in their order. */
struct devices {
    size_t count;
    ol_device_handle_t all[64], host;
};

/* For olIterateDevices, with a struct devices as its data: adds a device. */
static inline bool take_device(ol_device_handle_t device, void *data) {
    struct devices *devices = data;
    ol_device_type_t type;
    if (devices->count < 64)
        devices->all[devices->count++] = device;
    if (!olGetDeviceInfo(device, OL_DEVICE_INFO_TYPE, sizeof type, &type) && type == OL_DEVICE_TYPE_HOST)
        devices->host = device;
    return true;
}

struct image {
    char *bytes;
    size_t size;
};

static inline struct image read_image(const char *path) {
    struct image image = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        printf("cannot read %s\n", path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    image.size = (size_t)ftell(file);
    rewind(file);
    image.bytes = malloc(image.size + 1);
    if (!image.bytes || fread(image.bytes, 1, image.size, file) != image.size)
        exit(2);
    image.bytes[image.size] = 0;
    fclose(file);
    return image;
}

#endif
