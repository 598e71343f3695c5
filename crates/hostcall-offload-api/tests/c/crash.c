/* Crashes in a callback: what a recording of it ends with is the call around that. */
#include <OffloadAPI.h>
#include <stdlib.h>

static bool crash(ol_device_handle_t device, void *data) {
    (void)device;
    (void)data;
    abort();
}

int main(void) {
    if (olInit(NULL))
        return 1;
    olIterateDevices(crash, NULL);
    return 0;
}
