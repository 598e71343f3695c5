/*
 * Lets programs that were written for LLVM 23's API compile with LLVM 24's header: each device gets a context of its own, and functions that want a
 * context get that of the device, or of the memory. To be included before everything else (-include).
 */
#ifndef WITH_CONTEXTS_H
#define WITH_CONTEXTS_H

#include <OffloadAPI.h>
#include <pthread.h>

static struct {
    ol_device_handle_t device;
    ol_context_handle_t context;
} contexts_of[64];
static size_t contexts_count;
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;

/* The context of a device; for what is no device, one of another: then the call says what is wrong with the device. */
static inline ol_context_handle_t context_of(ol_device_handle_t device) {
    ol_context_handle_t found = NULL;
    size_t count, i;
    pthread_mutex_lock(&contexts_lock);
    for (i = 0; i < contexts_count; i++) {
        /* Those of an earlier session are gone. */
        if (olGetContextInfo(contexts_of[i].context, OL_CONTEXT_INFO_NUM_DEVICES, sizeof count, &count) != OL_SUCCESS) {
            contexts_of[i--] = contexts_of[--contexts_count];
            continue;
        }
        if (contexts_of[i].device == device)
            found = contexts_of[i].context;
    }
    if (!found && device && contexts_count < 64 && olCreateContext(1, &device, &found) == OL_SUCCESS) {
        contexts_of[contexts_count].device = device;
        contexts_of[contexts_count++].context = found;
    }
    if (!found && contexts_count)
        found = contexts_of[0].context;
    pthread_mutex_unlock(&contexts_lock);
    return found;
}

static inline bool context_of_any(ol_device_handle_t device, void *found) {
    *(ol_context_handle_t *)found = context_of(device);
    return false;
}

/* The context that memory was allocated in; another one for what is no memory. */
static inline ol_context_handle_t context_of_memory(const void *address) {
    ol_context_handle_t found = NULL;
    size_t size, i;
    (void)olIterateDevices(context_of_any, &found);
    pthread_mutex_lock(&contexts_lock);
    for (i = 0; address && i < contexts_count; i++)
        if (olGetMemInfo(contexts_of[i].context, address, OL_MEM_INFO_SIZE, sizeof size, &size) == OL_SUCCESS)
            found = contexts_of[i].context;
    pthread_mutex_unlock(&contexts_lock);
    return found;
}

#define olCreateQueue(device, queue) olCreateQueue(context_of(device), device, queue)
#define olCreateProgram(device, data, size, program) olCreateProgram(context_of(device), device, data, size, program)
#define olMemAlloc(device, type, size, address)                                            \
    ((type) == OL_ALLOC_TYPE_HOST ? olMemAllocHost(context_of(device), device, size, address) \
                                  : olMemAlloc(context_of(device), device, type, size, address))
#define olMemAllocAligned(device, type, size, alignment, address)                                             \
    ((type) == OL_ALLOC_TYPE_HOST ? olMemAllocAlignedHost(context_of(device), device, size, alignment, address) \
                                  : olMemAllocAligned(context_of(device), device, type, size, alignment, address))
#define olMemFree(address) olMemFree(context_of_memory(address), address)
#define olGetMemInfo(address, name, size, value) olGetMemInfo(context_of_memory(address), address, name, size, value)
#define olGetMemInfoSize(address, name, size) olGetMemInfoSize(context_of_memory(address), address, name, size)

#endif
