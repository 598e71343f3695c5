// Kernels that assert and print as kernels do which know nothing of hostcall. The header is included in front, and
// <cassert> behind it, which takes `assert` away: `include/asserts` is in the include path and gives it back.
#include "hostcall_assert.cuh"

#include <cassert>
#include <cstdio>

// Without CUDA's or HIP's own headers nobody says what this is.
#if !defined(__device__)
#define __device__ HC_ON_DEVICE
#endif
#include "../../../examples/asserts/embedding.cuh"

using hostcall::u32;
using hostcall::u64;

/// The example's.
HOSTCALL_KERNEL(embedding, float* out, const float* table, const long long* index, u32 count, u32 width, long long rows, u64) {
    embed(out, table, index, count, width, rows, (u32)hostcall::global_id());
}

/// Lanes from `most` on fail, and the others say that they went on.
HOSTCALL_KERNEL(compares, u32 most, u64* after, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const u32 value = (u32)i + 100;
    assert(value < most + 100);
    after[i] = i + 1;
}

/// Every second lane fails at one place, and a quarter at another.
HOSTCALL_KERNEL(two_places, u64* after, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    assert(i % 2 == 0);
    CUDA_KERNEL_ASSERT(i % 4 != 2 && "of a quarter");
    after[i] = i + 1;
}

struct pair {
    int a, b;
    HC_METHOD bool operator==(const pair& other) const { return a == other.a && b == other.b; }
};
struct half_like {
    unsigned char whole;
    HC_METHOD operator float() const { return whole + 0.5f; }
};
enum class shade : short { dark = -3, light = 3 };

HC_DEVICE_INLINE void of_types(u64 i, u64* after) {
    const half_like half{2};
    const pair one{1, 2}, other{1, 3};
    const float real = 0.1f;
    const double wide = 0.1;
    const signed char narrow = -5;
    const bool yes = i < 100;
    switch (i) {
        case 0: assert(narrow > 0); break;
        case 1: assert(real == 0.25f); break;
        case 2: assert(wide > 2); break;
        case 3: assert(yes == false); break;
        case 4: assert(after == nullptr); break;
        case 5: assert(shade::dark == shade::light); break;
        case 6: assert(one == other); break;
        case 7: assert(half < 2.f); break;
        case 8: assert(!yes); break;
        case 9: assert(i != 9 || i < 3); break;
        case 10: assert((i & 1) && i == 3); break;
        case 11: assert(i & 4); break;
        case 12: assert(hostcall::wave_size() == 7u && after); break;
        case 13: CUDA_KERNEL_ASSERT_MSG(i == 0, "the \x1b[31mthirteenth"); break;
        case 14: CUDA_KERNEL_ASSERT_PRINTF(i < 3, "lane %d of %s, %.1f", i, "few", 2.5); break;
        default: break;
    }
    after[i] = i + 1;
}

/// Each lane fails another check.
HOSTCALL_KERNEL(types, u64* after, u64 n) {
    if (hostcall::global_id() < n) of_types(hostcall::global_id(), after);
}

/// Everything holds, and each condition is evaluated once.
HOSTCALL_KERNEL(passes, u64* after, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 evaluated = 0;
    const int* none = nullptr;
    const auto count = [&evaluated](u64 value) {
        evaluated++;
        return value;
    };
    assert(count(i) == i);
    assert(count(i) < n && n > 0);
    // As in C, the right side of `&&` and `||` is not evaluated if the left one decides.
    assert(none == nullptr || (u64)*none == count(0));
    assert(none == NULL);
    assert(count(i) + 1);
    assert(count(6) & 2);
    after[i] = evaluated;
}

/// More text than a message of a check has room for.
#define HC_LONG(x) x x x x x x x x x x x x x x x x
HOSTCALL_KERNEL(long_texts, u64* after, u64 n) {
    if (hostcall::global_id() >= n) return;
    CUDA_KERNEL_ASSERT_MSG(n == 0, HC_LONG(HC_LONG("0123456789abcdef")));
    after[0] = 1;
}

/// Each lane prints lines in order, by C's names, one of which is long.
HOSTCALL_KERNEL(prints, const char* text, u64* after, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    int bytes = printf("lane %llu begins: %d%%\n", i, 5);
    bytes += std::printf("lane %llu has %s\n", i, text);
    ::printf("lane %llu ends\n", i);
    fprintf(stderr, "error of %llu\n", i);
    after[i] = (u64)bytes;
}
