// Kernels as LLVM writes them for GPUs: clang's <gpuintrin.h>, and nothing of this library's.
#include <gpuintrin.h>
#include <stdint.h>

struct Large {
    uint32_t a;
    double b;
    uint8_t c[20];
};

extern "C" {

[[gnu::visibility("default")]] uint32_t table[4];

extern __gpu_local uint32_t dynamic[];
[[clang::loader_uninitialized]] __gpu_local uint32_t fixed[64];
static __gpu_local double sums[32];

__gpu_kernel void nothing() {}

// Every item has its number in memory that the launch gives to the group. The first adds them.
__gpu_kernel void reduce(uint32_t *out) {
    dynamic[__gpu_thread_id(0)] = __gpu_thread_id(0) + 1000 * __gpu_block_id(0);
    __gpu_sync_threads();
    if (__gpu_thread_id(0) == 0) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < __gpu_num_threads(0); i++)
            sum += dynamic[i];
        out[__gpu_block_id(0)] = sum;
    }
}

// What is declared lies beside what is dynamic, and is 0 at first: 1 where something is wrong.
__gpu_kernel void kinds(uint32_t *out) {
    uint32_t i = __gpu_thread_id_x(), n = __gpu_num_threads_x();
    uint32_t wrong = fixed[i] != 0 || sums[i % 32] != 0 || dynamic[i] != 0;
    wrong |= !__gpu_is_ptr_local(&fixed[i]) || !__gpu_is_ptr_local(&dynamic[n - 1]) || __gpu_is_ptr_local(&wrong) || __gpu_is_ptr_local(table);
    __gpu_sync_threads();
    fixed[i] = i + 1, dynamic[i] = i + 2;
    if (i < 32)
        sums[i] = i + 0.5;
    __gpu_sync_threads();
    wrong |= fixed[n - 1 - i] != n - i || dynamic[n - 1 - i] != n + 1 - i || sums[31 - i % 32] != 31 - i % 32 + 0.5;
    __gpu_sync_threads();
    __atomic_fetch_add(&fixed[0], 1, __ATOMIC_RELAXED);
    __gpu_sync_threads();
    wrong |= fixed[0] != n + 1;
    out[__gpu_block_id_x() * n + i] = wrong;
}

// Arguments of all kinds, more of them than there are registers. Each item changes its own.
__gpu_kernel void mixed(char a, float b, double c, short d, Large e, float f, uint64_t g, uint64_t *out) {
    e.a += __gpu_thread_id_x();
    __gpu_sync_threads();
    out[__gpu_thread_id_x()] = (uint64_t)(a + b + c + d + e.a + e.b + e.c[0] + e.c[19] + f) + g;
}

__gpu_kernel void write_table() { table[__gpu_thread_id_x()] = 7 * __gpu_thread_id_x(); }

// What lanes of a wave tell one another: a row of 12 numbers for each item.
__gpu_kernel void collectives(uint64_t *out) {
    uint64_t mask = __gpu_lane_mask();
    uint32_t lane = __gpu_lane_id();
    out += 12 * __gpu_thread_id_x();
    out[0] = mask;
    out[1] = __gpu_ballot(mask, lane % 3 == 0);
    out[2] = __gpu_read_first_lane_u32(mask, lane + 40);
    out[3] = __gpu_shuffle_idx_u32(mask, 3, lane * lane, 8);
    out[4] = __gpu_shuffle_idx_u64(mask, lane + 1, 0x100000000ull * lane, __gpu_num_lanes());
    out[5] = __gpu_lane_sum_u32(mask, lane);
    out[6] = (uint64_t)__gpu_lane_sum_f64(mask, lane + 0.5);
    out[7] = __gpu_match_any_u32(mask, lane % 4);
    out[8] = __gpu_match_all_u64(mask, 5) == mask && __gpu_match_all_u64(mask, lane) == 0;
    out[9] = __gpu_is_first_in_lane(mask);
    __gpu_sync_lane(mask);
    out[10] = (uint64_t)__gpu_read_first_lane_f32(mask, lane + 1.5f);
    // Lanes that part from the others are asked by themselves.
    out[11] = 0;
    if (lane % 2) {
        uint64_t odd = __gpu_lane_mask();
        out[11] = __gpu_lane_sum_u64(odd, lane);
    }
    if (lane == 5)
        __gpu_exit();
    out[11] += 1000;
}

// Items of several waves wait for the first.
__gpu_kernel void waits(uint32_t *out) {
    __atomic_fetch_add(&fixed[1], 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&fixed[1], __ATOMIC_ACQUIRE) < __gpu_num_threads_x())
        __gpu_thread_suspend();
    out[__gpu_thread_id_x()] = fixed[1];
}

__gpu_kernel void past_the_end(uint32_t index) { dynamic[index] = 1; }
}
