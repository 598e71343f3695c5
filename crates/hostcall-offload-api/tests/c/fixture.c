/* Calls that succeed on the library of the tests, for some of the functions. */
#include <OffloadAPI.h>
#include <string.h>

void stub_install(void);

static ol_device_handle_t first, device;
static ol_queue_handle_t queue, *to_queue = &queue, no_queue;
static ol_alloc_type_t type;
static size_t size, alignment, pattern_size;
static char bytes[64];
static void *address, **to_address, *memory;
static const void *pattern;

static bool take(ol_device_handle_t found, void *data) {
    (void)data;
    first = found;
    return false;
}

int fixture(const char *function, void *call) {
    static bool started;
    if (!started) {
        stub_install();
        if (olInit(NULL) != OL_SUCCESS || olIterateDevices(take, NULL) != OL_SUCCESS)
            return 0;
        started = true;
    }
    /* The test before may have changed any of them. */
    device = first;
    no_queue = NULL;
    type = OL_ALLOC_TYPE_HOST;
    size = 64;
    alignment = pattern_size = 16;
    address = NULL;
    to_address = &address;
    memory = bytes;
    pattern = bytes;
    to_queue = &queue;
    if (strcmp(function, "olCreateQueue") == 0) {
        ol_create_queue_params_t *params = call;
        params->pDevice = &device;
        params->pQueue = &to_queue;
    } else if (strcmp(function, "olMemAllocAligned") == 0) {
        ol_mem_alloc_aligned_params_t *params = call;
        params->pDevice = &device;
        params->pType = &type;
        params->pSize = &size;
        params->pAlignment = &alignment;
        params->pAllocationOut = &to_address;
    } else if (strcmp(function, "olMemFill") == 0) {
        ol_mem_fill_params_t *params = call;
        params->pQueue = &no_queue;
        params->pPtr = &memory;
        params->pPatternSize = &pattern_size;
        params->pPatternPtr = &pattern;
        params->pFillSize = &size;
    } else {
        return 0;
    }
    return 1;
}
