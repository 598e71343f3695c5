// A kernel that calls its host: the first example of docs/guide/cpp.md, for the hosts there and in examples/c.
#include "services.cuh"

HOSTCALL_KERNEL(demo, float* y, unsigned long long n) {
    const auto i = hostcall::global_id();
    if (i < n) y[i] = Host::add42(y[i]).value_or(-1);
    if (i == 0) Host::log("the first lane is done");
}
