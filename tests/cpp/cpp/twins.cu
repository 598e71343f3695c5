// Kernels of `tests/behaviours/kernels` in C++: names, parameters and services are the same, so the tests of
// `tests/behaviours` run these kernels, too. `tests/twins.rs` has the list of them.
#include "behaviours.cuh"

using hostcall::status;
using hostcall::u32;
using hostcall::u64;
using hostcall::u8;

// What a kernel says of an answer: its value, or status and detail.
template <class T>
HC_DEVICE_INLINE u64 told(const hostcall::answer<T>& answer) {
    return answer.ok() ? (u64)answer.value : (u64)answer.status << 32 | answer.detail;
}

// ---- typed.rs ----

HOSTCALL_KERNEL(add42, float* y, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) y[i] = Typed::add42(y[i]).value_or(-1);
}

// `Large::of`.
HC_DEVICE_INLINE Large large_of(u64 seed) {
    Large large = {};
    large.seed = seed;
    for (u32 k = 0; k < 30; k++) large.values[k] = (u32)seed * 31 + k;
    return large;
}

HC_DEVICE_INLINE bool same(const Large& a, const Large& b) {
    u32 different = a.seed == b.seed ? 0 : 1;
    for (u32 k = 0; k < 30; k++) different += a.values[k] == b.values[k] ? 0 : 1;
    return different == 0;
}

HOSTCALL_KERNEL(shapes, u32* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u32 good = Typed::nothing().ok() ? 1 : 0;
    if (const auto got = Typed::add42((float)i)) good |= *got == (float)i + 42 ? 2 : 0;
    if (const auto got = Typed::sum(i, 1ull << 40)) good |= *got == i + (1ull << 40) ? 4 : 0;
    if (const auto got = Typed::scale(-(int)i, 0.5)) good |= *got == -(double)i * 0.5 ? 8 : 0;
    if (const auto got = Typed::swap((u32)i, 7)) good |= got->_0 == 7 && got->_1 == (u32)i ? 16 : 0;
    if (const auto got = Typed::mixed((u8)i)) {
        const auto [a, b, c, d] = *got;
        good |= a == (u8)i && b == -(hostcall::i64)(u8)i && c == ((u8)i % 2 == 1) && d == U'\u00df' ? 32 : 0;
    }
    if (const auto got = Typed::lookup(i)) good |= got->has == (i % 3 == 0) && got->value_or(7) == (i % 3 == 0 ? i * i : 7) ? 64 : 0;
    if (const auto got = Typed::large(large_of(i))) good |= same(*got, large_of(i + 1)) ? 128 : 0;
    right[i] = good;
}

HOSTCALL_KERNEL(masked, u64 mask, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n && (mask >> (hostcall::lane_id() % 64) & 1) == 1) sums[i] = told(Typed::sum(i, 1000));
}

HOSTCALL_KERNEL(divergent, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 sum = 0;
    for (u64 round = 0; round < i % 5; round++) {
        if (i % 2 == 0) {
            sum += told(Typed::sum(round, 1));
        } else {
            const auto found = Typed::lookup(round * 3);
            sum += found ? found->value_or(0) : (u64)found.status << 32;
        }
    }
    sums[i] = sum;
}

HOSTCALL_KERNEL(unknown, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) results[i] = told(Nobody::home((u32)i));
}

HOSTCALL_KERNEL(picky, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) results[i] = told(Typed::picky((u32)i));
}

HOSTCALL_KERNEL(fragile, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) results[i] = told(Typed::fragile((u32)i));
}

HOSTCALL_KERNEL(texts, u64* lengths, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u32 numbers[8];
    for (u32 k = 0; k < 8; k++) numbers[k] = (u32)i;
    const auto got = Typed::measure({"the quick brown fox jumps over the lazy dog", i % 44}, {numbers, i % 9});
    lengths[i] = !got ? (u64)got.status << 32 | got.detail : got->_0 == i % 44 && got->_1 == i * (i % 9) ? 1 : 0;
}

HOSTCALL_KERNEL(fills, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    const u64 len = i % 101;
    u8 out[100] = {};
    const auto got = Typed::fill((u32)i, {out, len});
    u32 filled = 0;
    for (u32 k = 0; k < len; k++) filled += out[k] == (u8)i ? 1 : 0;
    if (!got) {
        results[i] = (u64)got.status << 32 | got.detail;
    } else if (got->ok) {
        results[i] = got->value == len && filled == len ? 1 : 0;
    } else {
        results[i] = got->error.block == (u32)i ? 2 : 0;
    }
}

HOSTCALL_KERNEL(echoes, u32 len, const u8* from, u64 from_len, u8* to, u64 to_len, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n || (i + 1) * len > from_len || (i + 1) * len > to_len) return;
    results[i] = told(Typed::echo({from + i * len, len}, {to + i * len, len}));
}

HOSTCALL_KERNEL(posts, u32 count) {
    for (u32 n = 0; n < count; n++) HOSTCALL_OR_ABORT("Typed::note", Typed::note(hostcall::global_id() << 32 | n));
}

HOSTCALL_KERNEL(logs, ) {
    const char* const texts[] = {"zero", "one", "two", "three"};
    HOSTCALL_OR_ABORT("Typed::log", Typed::log(texts[hostcall::global_id() % 4]));
}

HOSTCALL_KERNEL(pending, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    auto a = Typed::start_sum(i, 1);
    auto b = Typed::start_sum(i, 2);
    auto c = Typed::start_lookup(3);
    const u64 first = HOSTCALL_OR_ABORT("a", a.wait()), second = HOSTCALL_OR_ABORT("b", b.wait());
    results[i] = first * 1000000 + second * 1000 + HOSTCALL_OR_ABORT("c", c.wait()).value_or(0);
}

// A call that is given up, and ones behind it over the same ports. The nap may end once it is given up, which `picky`
// tells.
HOSTCALL_KERNEL(impatient, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (2 * i + 1 >= n) return;
    {
        auto started = Typed::start_nap(50);
        if (started) {
            const u64 given_up = told(started.wait_timeout(1000000)), picky = told(Typed::picky(0));
            results[2 * i] = picky == 0 ? given_up : picky;
        } else {
            results[2 * i] = told(started.wait());
        }
    }
    results[2 * i + 1] = told(Typed::sum(i, 5));
}

HOSTCALL_KERNEL(held, u32 count, u64* sums, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    auto port = hostcall::port::hold();
    if (!port) hostcall::abort("no port to hold");
    u64 sum = 0;
    for (u32 round = 0; round < count; round++) sum += HOSTCALL_OR_ABORT("Typed::sum_on", Typed::sum_on(port, i, round));
    sums[i] = sum;
}

HOSTCALL_KERNEL(naps, u32 millis, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i < n) results[i] = told(Typed::nap(millis));
}

// ---- transport.rs ----

// `behaviours_services::checksum`.
HC_DEVICE_INLINE u64 checksum(const u8* bytes, u64 len) {
    u64 sum = 0xcbf29ce484222325;
    for (u64 k = 0; k < len; k++) sum = (sum ^ bytes[k]) * 0x100000001b3;
    return sum;
}

// SplitMix64, for each lane another.
struct random_numbers {
    u64 state;
    HC_METHOD explicit random_numbers(u64 seed) : state(seed ^ hostcall::global_id() << 32) {}
    HC_METHOD u64 next() {
        u64 z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    HC_METHOD u32 below(u32 end) { return (u32)(next() % end); }
    HC_METHOD void fill(u8* bytes, u64 len) {
        for (u64 k = 0; k < len; k++) bytes[k] = (u8)next();
    }
};

HC_DEVICE_INLINE bool is_count(const hostcall::answer<hostcall::tuple<u32, u32>>& got, u32 lane, u32 n) {
    return got && got->_0 == lane && got->_1 == n + 1;
}

HC_DEVICE_INLINE bool is_turned(const hostcall::answer<u64>& got, u64 sum, const u8* data, const u8* back, u64 len) {
    u64 right = 0;
    for (u64 k = 0; k < len; k++) right += back[len - 1 - k] == data[k] ? 1 : 0;
    return got && *got == sum && right == len;
}

HOSTCALL_KERNEL(counts, u32 calls, u32* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u32 good = 0;
    for (u32 call = 0; call < calls; call++) good += is_count(Stress::count((u32)i, call), (u32)i, call) ? 1 : 0;
    right[i] = good;
}

HOSTCALL_KERNEL(bursts, u64 seed, u32 calls, u32 most, u8* scratch, u64 scratch_len, u32* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n || (i + 1) * 2 * most > scratch_len) return;
    const u32 lane = (u32)i;
    u8 *data = scratch + i * 2 * most, *back = data + most;
    random_numbers random(seed);
    u32 good = 0;
    for (u32 call = 0; call < calls; call++) {
        const u64 len = random.below(4) == 0 ? random.below(most + 1) : random.below((most < 64 ? most : 64) + 1);
        random.fill(data, len);
        const u64 sum = checksum(data, len);
        bool ok = false;
        switch (random.below(5)) {
        case 0: ok = is_count(Stress::count(lane, call), lane, call); break;
        case 1: ok = told(Stress::sum(lane, sum, {data, len})) == sum; break;
        case 2: ok = Stress::post(lane, call).ok(); break;
        case 3: ok = Stress::post_sum(lane, sum, {data, len}).ok(); break;
        default: {
            const auto turned = Stress::turn(lane, {data, len}, {back, len});
            ok = is_turned(turned, sum, data, back, len);
        }
        }
        good += ok ? 1 : 0;
        if (random.below(8) == 0) {
            const u64 start = hostcall::now_ns(), pause = random.below(20000);
            while (hostcall::now_ns() - start < pause) {
            }
        }
    }
    right[i] = good;
}

HOSTCALL_KERNEL(keeps_and_calls, u32 rounds, u32 most, u8* scratch, u64 scratch_len, u32* right, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n || (i + 1) * 2 * most > scratch_len) return;
    const u32 lane = (u32)i;
    u8 *data = scratch + i * 2 * most, *back = data + most;
    random_numbers(1).fill(data, most);
    const u64 sum = checksum(data, most);
    u32 good = 0;
    for (u32 round = 0; round < rounds; round++) {
        auto started = Stress::start_count(lane, round);
        {
            auto port = hostcall::port::hold();
            const auto turned = Stress::turn(lane, {data, most}, {back, most});
            good += is_turned(turned, sum, data, back, most) ? 1 : 0;
            good += Stress::post_sum(lane, sum, {data, most}).ok() ? 1 : 0;
            good += is_count(Stress::count(lane, round), lane, round) ? 1 : 0;
            if (port) {
                good += is_count(Stress::count_on(port, lane, round), lane, round) ? 1 : 0;
            } else {
                good += port.status() == status::busy ? 1 : 0;
            }
        }
        const auto answer = started.wait();
        good += answer.status == status::busy || is_count(answer, lane, round) ? 1 : 0;
    }
    right[i] = good;
}

HOSTCALL_KERNEL(counts_locks, const volatile u64* states, u32 ports, const volatile u32* locks, u32 slots, u32* held, u64 n) {
    if (n < 2) return;
    held[0] = held[1] = 0;
    for (u32 port = 0; port < ports; port++) held[0] += (u32)(states[port] & 1);
    for (u32 slot = 0; slot < slots; slot++) held[1] += locks[slot] != 0 ? 1 : 0;
}

// ---- lifecycle.rs ----

HOSTCALL_KERNEL(stays, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (2 * i + 1 >= n) return;
    results[2 * i] = told(Gate::held_back((u32)i));
    results[2 * i + 1] = told(Typed::sum(i, 5));
}

HOSTCALL_KERNEL(leaves, ) {
    const auto started = Gate::start_held_back((u32)hostcall::global_id());
    if (!started) hostcall::abort("no port to start a call on");
}

HOSTCALL_KERNEL(traps, volatile u32* bad) {
    HOSTCALL_OR_ABORT("Gate::here", Gate::here((u32)hostcall::global_id()));
    auto open = Gate::start_held_back((u32)hostcall::global_id());
    if (!open) hostcall::abort("no port to start a call on");
    *bad = 1;
    HOSTCALL_OR_ABORT("Gate::held_back", open.wait());
}

HOSTCALL_KERNEL(panics_holding, ) {
    auto port = hostcall::port::hold();
    if (!port) hostcall::abort("no port to hold");
    auto started = Typed::start_sum(1, 2);
    if (!started) hostcall::abort("no port to start a call on");
    if (HOSTCALL_OR_ABORT("Typed::sum_on", Typed::sum_on(port, 1, 1)) == 2) hostcall::abort("while ports are held");
    HOSTCALL_OR_ABORT("Typed::sum", started.wait());
}

HOSTCALL_KERNEL(calls, u32 count, u64* results, u64 n) {
    const u64 i = hostcall::global_id();
    if (i >= n) return;
    u64 good = 0;
    for (u32 call = 0; call < count; call++) good += Tally::tick(call).ok() ? 1 : 0;
    results[i] = good;
}

// ---- print.rs ----

HOSTCALL_KERNEL(prints, u32 lines, u32 both) {
    const u64 lane = hostcall::global_id();
    char fill[60];
    for (char& one : fill) one = 'x';
    for (u32 line = 0; line < lines; line++) {
        const hostcall::str filled(fill, (lane + line) % 60);
        if (both != 0 && line % 2 == 1) {
            HOSTCALL_OR_ABORT("printf_error", hostcall::printf_error("E %llu %u %s.\n", lane, line, filled));
        } else {
            HOSTCALL_OR_ABORT("printf", hostcall::printf("O %llu %u %s.\n", lane, line, filled));
        }
    }
}

HOSTCALL_KERNEL(print_parts, ) {
    HOSTCALL_OR_ABORT("print", hostcall::print("<"));
    HOSTCALL_OR_ABORT("printf", hostcall::printf("%u", hostcall::lane_id()));
    HOSTCALL_OR_ABORT("print", hostcall::print(">"));
}
