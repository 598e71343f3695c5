// Checks after which lanes go on.
#define HOSTCALL_ASSERT_CONTINUE
#include "hostcall_assert.cuh"

/// Each lane fails as often as `rounds` says, and reaches its end.
HOSTCALL_KERNEL(goes_on, unsigned rounds, hostcall::u64* after, hostcall::u64 n) {
    const hostcall::u64 i = hostcall::global_id();
    if (i >= n) return;
    for (unsigned round = 0; round < rounds; round++) assert(round > 100);
    after[i] = i + 1;
}
