// The kernels of `src/calls.rs`, `src/posts.rs` and `src/bulk.rs` in C++: the same work over the client in C++, for
// `cargo hostcall bench --cpp`.
#include "services.cuh"

using hostcall::u32;
using hostcall::u64;
using hostcall::u8;

using block = hostcall::array<u32, 16>;
using pair = hostcall::array<u64, 2>;

// The functions of `bench_services`.

HC_DEVICE_INLINE block question(u32 i) {
    block block;
    HC_UNROLL
    for (u32 k = 0; k < 16; k++) block[k] = k == 0 ? i : i ^ k;
    return block;
}
HC_DEVICE_INLINE bool is_answer(const hostcall::answer<pair>& answer, const block& block) {
    u64 all = 0;
    HC_UNROLL
    for (u32 k = 1; k < 16; k++) all ^= block[k];
    return answer.ok() && answer->at[0] == (u64)block[0] + 1 && answer->at[1] == all;
}
HC_DEVICE_INLINE u64 eight(const u8* from) {
    u64 value = 0;
    HC_UNROLL
    for (u32 k = 0; k < 8; k++) value |= (u64)from[k] << (8 * k);
    return value;
}
HC_DEVICE_INLINE u64 digest(const u8* data, u64 len) {
    if (len < 8) return len;
    const u64 last = eight(data + len - 8);
    return eight(data) ^ (last << 1 | last >> 63) ^ len;
}
HC_DEVICE_INLINE u8 filling(u32 chunk) { return (u8)(chunk * 31) | 1; }

/// `calls` calls over a port that is held, after `warm` others. `out`, for each lane: nanoseconds, right answers.
HOSTCALL_KERNEL(call_held, u32 warm, u32 calls, pair* out, u64) {
    auto port = hostcall::port::hold();
    u64 start = hostcall::now_ns(), right = 0;
    for (u32 i = 0; i < warm + calls; i++) {
        if (i == warm) start = hostcall::now_ns(), right = 0;
        const block block = question(i);
        right += is_answer(Bench::exchange_on(port, block), block) ? 1 : 0;
    }
    out[hostcall::global_id()] = {{hostcall::now_ns() - start, right}};
}

/// The same with a port taken for each call, by as many lanes as are launched.
HOSTCALL_KERNEL(call, u32 warm, u32 calls, pair* out, u64) {
    u64 start = hostcall::now_ns(), right = 0;
    for (u32 i = 0; i < warm + calls; i++) {
        if (i == warm) start = hostcall::now_ns(), right = 0;
        const block block = question(i);
        right += is_answer(Bench::exchange(block), block) ? 1 : 0;
    }
    out[hostcall::global_id()] = {{hostcall::now_ns() - start, right}};
}

/// `calls` calls of one lane by each wave, which makes them together. `right`, for each wave: right answers.
HOSTCALL_KERNEL(throughput_scalar, u32 calls, u64* right, u64) {
    u64 sum = 0;
    for (u32 i = 0; i < calls; i++) {
        const block block = question(i);
        sum += is_answer(Bench::exchange_together(block), block) ? 1 : 0;
    }
    if (hostcall::lane_id() == 0) right[hostcall::wave_index()] = sum;
}

/// `calls` calls by all lanes of each wave together. `right`, for each lane: right answers.
HOSTCALL_KERNEL(throughput_wide, u32 calls, u64* right, u64) {
    u64 sum = 0;
    for (u32 i = 0; i < calls; i++) {
        const block block = question(i);
        sum += is_answer(Bench::exchange(block), block) ? 1 : 0;
    }
    right[hostcall::global_id()] = sum;
}

/// `posts` posts of one lane by each wave, which makes them together.
HOSTCALL_KERNEL(post_rate, u32 posts) {
    for (u32 i = 0; i < posts; i++) {
        if (!Bench::note_together(question(i))) return;
    }
}

/// `posts` posts by one lane, after `warm` others. `out`: nanoseconds until the last was on its way, over a port that
/// the wave holds, and with one taken for each.
HOSTCALL_KERNEL(post_issue, u32 warm, u32 posts, u64* out, u64) {
    u64 start = hostcall::now_ns();
    {
        auto port = hostcall::port::hold();
        for (u32 i = 0; i < warm + posts; i++) {
            if (i == warm) start = hostcall::now_ns();
            if (!Bench::note_on(port, question(i))) return;
        }
        out[0] = hostcall::now_ns() - start;
    }
    for (u32 i = 0; i < warm + posts; i++) {
        if (i == warm) start = hostcall::now_ns();
        if (!Bench::note(question(i))) return;
    }
    out[1] = hostcall::now_ns() - start;
}

/// All waves pass `data` to the host, in chunks. `right`, for each wave: bytes of which the host gave the right digest.
HOSTCALL_KERNEL(bulk_to_host, u32 chunk, const u8* data, u64 len, u64* right, u64) {
    const auto lanes = hostcall::converged::here();
    const u64 step = hostcall::global_size() / hostcall::wave_size();
    u64 sum = 0;
    for (u64 i = hostcall::wave_index(); i < len / chunk; i += step) {
        const u8* own = data + i * chunk;
        // After a call lanes need not go on at once and together.
        lanes.sync();
        if (Bench::take_together({own, chunk}).value_or(0) == digest(own, chunk)) sum += chunk;
    }
    if (lanes.leads()) right[hostcall::wave_index()] = sum;
}

/// All waves have `len` bytes at `data` filled by the host, in chunks. `right`, for each wave: bytes of chunks that
/// begin and end right.
HOSTCALL_KERNEL(bulk_to_kernel, u32 chunk, u8* data, u64 len, u64* right, u64) {
    const auto lanes = hostcall::converged::here();
    const u64 step = hostcall::global_size() / hostcall::wave_size();
    u64 sum = 0;
    for (u64 i = hostcall::wave_index(); i < len / chunk; i += step) {
        u8* own = data + i * chunk;
        lanes.sync();
        const auto given = Bench::give_together((u32)i, {own, chunk});
        const u8 expected = filling((u32)i);
        if (given.value_or(0) == chunk && own[0] == expected && own[chunk - 1] == expected) sum += chunk;
    }
    if (lanes.leads()) right[hostcall::wave_index()] = sum;
}
