/* What a careless program does. None of it may crash, and each is told what was wrong. */
#include <OffloadAPI.h>
#include <stdio.h>

void stub_install(void);

static void report(const char *what, ol_result_t result) {
    if (result == OL_SUCCESS)
        printf("%s: success\n", what);
    else
        printf("%s: %d: %s\n", what, (int)result->Code, result->Details);
}

static bool take(ol_device_handle_t device, void *data) {
    *(ol_device_handle_t *)data = device;
    return false;
}

int main(void) {
    ol_device_handle_t device = NULL;
    ol_queue_handle_t queue = NULL, other = NULL;
    ol_event_handle_t event = NULL;
    ol_event_handle_t events[3];
    void *memory = NULL;
    char name[64];
    ol_kernel_launch_size_args_t size = {1, {1, 1, 1}, {1, 1, 1}, 0};
    ol_kernel_launch_prop_t props[2] = {{(ol_kernel_launch_prop_type_t)9, NULL}, OL_KERNEL_LAUNCH_PROP_END};
    ol_init_args_t no_platforms = {sizeof(ol_init_args_t), 2, NULL};

    stub_install();
    report("before olInit", olSyncQueue(NULL));
    report("platforms without a list", olInit(&no_platforms));
    report("olInit", olInit(NULL));
    report("olIterateDevices", olIterateDevices(take, &device));
    report("null handle", olCreateQueue(NULL, &queue));
    report("null pointer", olCreateQueue(device, NULL));
    report("olCreateQueue", olCreateQueue(device, &queue));
    report("olCreateQueue", olCreateQueue(device, &other));
    report("olCreateEvent", olCreateEvent(queue, OL_EVENT_FLAGS_NONE, &event));
    report("enumeration", olMemAlloc(device, (ol_alloc_type_t)77, 8, &memory));
    report("flags", olMemRegister(device, name, 8, 0x41, &memory));
    report("size", olMemAlloc(device, OL_ALLOC_TYPE_HOST, 0, &memory));
    report("alignment zero", olMemAllocAligned(device, OL_ALLOC_TYPE_HOST, 8, 0, &memory));
    report("alignment", olMemAllocAligned(device, OL_ALLOC_TYPE_HOST, 8, 24, &memory));
    report("no multiple", olMemFill(NULL, name, 3, name, 8));
    report("optional queue", olMemFill(NULL, name, 4, name, 8));
    report("kind", olSyncQueue((ol_queue_handle_t)(void *)device));
    events[0] = event;
    events[1] = NULL;
    events[2] = (ol_event_handle_t)(void *)queue;
    report("element null", olWaitEvents(queue, events, 3));
    events[1] = event;
    report("element kind", olWaitEvents(queue, events, 3));
    report("elements", olWaitEvents(queue, events, 2));
    report("member", olLaunchKernel(NULL, device, (ol_symbol_handle_t)(void *)device, &size, props, 0, NULL, NULL));
    report("room", olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, 2, name));
    report("name", olGetDeviceInfo(device, OL_DEVICE_INFO_NAME, sizeof name, name));
    report("nested", olSyncQueue(queue));
    report("olDestroyQueue", olDestroyQueue(other));
    report("again", olDestroyQueue(other));
    report("olShutDown", olShutDown());
    report("after the end", olSyncQueue(queue));
    return 0;
}
