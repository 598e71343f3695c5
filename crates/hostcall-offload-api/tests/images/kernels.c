/* The kernels of the tests: for the simulator and GPUs, and (with OFFLOAD_HOST_IMAGE) as a host image. */
#include <OffloadKernel.h>

static uint32_t item(void) { return __gpu_block_id_x() * __gpu_num_threads_x() + __gpu_thread_id_x(); }

OFFLOAD_GLOBAL uint32_t table[64];
/* Volatile, so that the compiler does not run the constructor itself. */
OFFLOAD_GLOBAL volatile uint32_t made = 1;

/* Runs before the first kernel; on GPUs through the kernel that clang makes of it. */
__attribute__((constructor)) static void make(void) { made += 41; }

OFFLOAD_KERNEL0(nothing) {}

OFFLOAD_KERNEL1(foo, uint32_t *, out) { out[item()] = item(); }

OFFLOAD_KERNEL3(add, const uint32_t *, a, const uint32_t *, b, uint32_t *, sum) { sum[item()] = a[item()] + b[item()]; }

OFFLOAD_KERNEL2(byte, unsigned char, c, unsigned char *, out) { out[item()] = c; }

OFFLOAD_KERNEL4(many, char, a, int *, b, short, c, uint64_t, d) { b[item()] = (int)(a + c + (int)d); }

struct composite {
    uint32_t a;
    uint8_t b;
    uint64_t c;
};
OFFLOAD_KERNEL2(whole, struct composite, it, uint64_t *, out) { out[item()] = it.a + it.b + it.c; }

OFFLOAD_KERNEL0(write_table) { table[__gpu_thread_id_x()] = __gpu_thread_id_x() * 2; }

OFFLOAD_KERNEL1(read_table, uint32_t *, out) { out[__gpu_thread_id_x()] = table[__gpu_thread_id_x()]; }

OFFLOAD_KERNEL1(read_made, uint32_t *, out) { *out = made; }

/* Each launch adds the number of the launch to what the one before left. */
OFFLOAD_KERNEL2(sequence, uint32_t, n, uint32_t *, values) {
    if (item() == 0)
        values[n] = n < 2 ? n : values[n - 1] + values[n - 2];
}

OFFLOAD_KERNEL1(count, uint32_t *, counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

OFFLOAD_KERNEL1(shape, uint32_t *, out) {
    if (__gpu_thread_id_x() + __gpu_thread_id_y() + __gpu_thread_id_z() == 0 && __gpu_block_id_x() + __gpu_block_id_y() + __gpu_block_id_z() == 0) {
        out[0] = __gpu_num_blocks_x();
        out[1] = __gpu_num_blocks_y();
        out[2] = __gpu_num_blocks_z();
        out[3] = __gpu_num_threads_x();
        out[4] = __gpu_num_threads_y();
        out[5] = __gpu_num_threads_z();
    }
}

/* Every item writes before the barrier what its neighbour reads after it. */
OFFLOAD_KERNEL2(barrier, uint32_t *, between, uint32_t *, out) {
    uint32_t n = __gpu_num_threads_x(), i = __gpu_thread_id_x(), first = __gpu_block_id_x() * n;
    __atomic_store_n(&between[first + i], first + i, __ATOMIC_RELAXED);
    __gpu_sync_threads();
    out[first + i] = __atomic_load_n(&between[first + (i + 1) % n], __ATOMIC_RELAXED);
}

#ifndef OFFLOAD_HOST_IMAGE
/* All groups meet: right only if all are resident. */
OFFLOAD_KERNEL2(meet, uint32_t *, arrived, uint32_t *, out) {
    if (__gpu_thread_id_x() == 0) {
        __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
        uint32_t attempt = 0;
        while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < __gpu_num_blocks_x()) {
#if defined(__NVPTX__) || defined(__AMDGPU__)
            (void)attempt;
#else
            __hostcall_sim_ops->pause(attempt++);
#endif
        }
        out[__gpu_block_id_x()] = __atomic_load_n(arrived, __ATOMIC_RELAXED);
    }
}
#endif

#if !defined(OFFLOAD_HOST_IMAGE) && !defined(__AMDGPU__)
/* As many bytes as the launch says. */
extern __gpu_local uint32_t dynamic[];
OFFLOAD_KERNEL1(local_dynamic, uint32_t *, out) {
    dynamic[__gpu_thread_id_x()] = __gpu_thread_id_x() + 7;
    __gpu_sync_threads();
    out[__gpu_thread_id_x()] = dynamic[__gpu_num_threads_x() - 1 - __gpu_thread_id_x()];
}

static __gpu_local uint32_t fixed[64];
OFFLOAD_KERNEL1(local_static, uint32_t *, out) {
    fixed[__gpu_thread_id_x()] = __gpu_thread_id_x() + 9;
    __gpu_sync_threads();
    out[__gpu_thread_id_x()] = fixed[__gpu_num_threads_x() - 1 - __gpu_thread_id_x()];
}
#endif
