/* Handlers in C++ that throw: one that catches it itself, and one that does not. */
#include <amd_hostcall.h>
#include <amd_hostcall_device.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void check(bool holds) {
    if (!holds)
        std::exit(3);
}

static int catches(void *, uint32_t, uint64_t *payload) {
    try {
        throw std::runtime_error("a handler's bad day");
    } catch (const std::exception &) {
        payload[0] = 1;
    }
    return 0;
}

static int throws(void *, uint32_t, uint64_t *) { throw std::runtime_error("a handler's bad day"); }

int main() {
    void *buffer = std::malloc(amd_hostcall_get_buffer_size(2));
    check(buffer && amd_hostcall_initialize_buffer(buffer, 2) == AMD_HOSTCALL_SUCCESS);
    check(amd_hostcall_register_service(160, catches, nullptr) == AMD_HOSTCALL_SUCCESS);
    check(amd_hostcall_register_service(161, throws, nullptr) == AMD_HOSTCALL_SUCCESS);
    amd_hostcall_consumer_t *consumer = nullptr;
    check(amd_hostcall_create_consumer(&consumer) == AMD_HOSTCALL_SUCCESS);
    check(amd_hostcall_register_buffer(consumer, buffer) == AMD_HOSTCALL_SUCCESS);
    check(amd_hostcall_launch_consumer(consumer) == AMD_HOSTCALL_SUCCESS);
    std::printf("one that is caught inside: %u\n", static_cast<unsigned>(hostcall_amd_preview(buffer, 160, 0, 0, 0, 0, 0, 0, 0, 0).x));
    std::fflush(stdout);
    hostcall_amd_preview(buffer, 161, 0, 0, 0, 0, 0, 0, 0, 0);
    std::puts("the process went on");
    return 0;
}
