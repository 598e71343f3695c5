/*
 * Kernels in C and C++ for every device of the Offload API from one source.
 *
 * On a GPU (clang --target=nvptx64-nvidia-cuda or amdgcn-amd-amdhsa) this is clang's <gpuintrin.h>. On the processor the same names are
 * functions of hostcall's simulator, which has the real grid, and any compiler of C11 or C++17 makes an image:
 * cc -shared -fPIC -o kernels.so kernels.c
 *
 * With OFFLOAD_HOST_IMAGE defined the result is a host image instead, as LLVM's host plugin has them: each kernel is called once.
 *
 *     OFFLOAD_KERNEL2(scale, float *, data, float, by) { data[__gpu_thread_id_x()] *= by; }
 */
#ifndef OFFLOAD_KERNEL_H
#define OFFLOAD_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* What the host finds by its name. */
#ifdef __cplusplus
#define OFFLOAD_C_ extern "C"
#else
#define OFFLOAD_C_
#endif

#if defined(__NVPTX__) || defined(__AMDGPU__)

#include <gpuintrin.h>

/* A global variable that the host finds by its name. */
#define OFFLOAD_GLOBAL __attribute__((visibility("protected"), used))

#define OFFLOAD_KERNEL0(name) OFFLOAD_C_ __gpu_kernel void name(void)
#define OFFLOAD_KERNEL1(name, T1, a1) OFFLOAD_C_ __gpu_kernel void name(T1 a1)
#define OFFLOAD_KERNEL2(name, T1, a1, T2, a2) OFFLOAD_C_ __gpu_kernel void name(T1 a1, T2 a2)
#define OFFLOAD_KERNEL3(name, T1, a1, T2, a2, T3, a3) OFFLOAD_C_ __gpu_kernel void name(T1 a1, T2 a2, T3 a3)
#define OFFLOAD_KERNEL4(name, T1, a1, T2, a2, T3, a3, T4, a4) OFFLOAD_C_ __gpu_kernel void name(T1 a1, T2 a2, T3 a3, T4 a4)

#else

#define OFFLOAD_GLOBAL

#ifdef OFFLOAD_HOST_IMAGE

/* One group of one item. */
static inline uint32_t __gpu_num_blocks_x(void) { return 1; }
static inline uint32_t __gpu_num_blocks_y(void) { return 1; }
static inline uint32_t __gpu_num_blocks_z(void) { return 1; }
static inline uint32_t __gpu_block_id_x(void) { return 0; }
static inline uint32_t __gpu_block_id_y(void) { return 0; }
static inline uint32_t __gpu_block_id_z(void) { return 0; }
static inline uint32_t __gpu_num_threads_x(void) { return 1; }
static inline uint32_t __gpu_num_threads_y(void) { return 1; }
static inline uint32_t __gpu_num_threads_z(void) { return 1; }
static inline uint32_t __gpu_thread_id_x(void) { return 0; }
static inline uint32_t __gpu_thread_id_y(void) { return 0; }
static inline uint32_t __gpu_thread_id_z(void) { return 0; }
static inline uint32_t __gpu_num_lanes(void) { return 1; }
static inline uint32_t __gpu_lane_id(void) { return 0; }
static inline void __gpu_sync_threads(void) {}

#define OFFLOAD_ENTRY_(name) OFFLOAD_C_ void name(void **offload_args)
#define OFFLOAD_FIRST_
#define OFFLOAD_NEXT_(index, T) (*(T *)offload_args[index])
#define OFFLOAD_UNUSED_ (void)offload_args;

#else

#include "simulator/gpuintrin.h"

/* Where an argument is: at the next multiple of its own size if that is 1, 2, 4 or 8, of 8 otherwise. */
static inline const void *offload_argument(const uint8_t *params, size_t *end, size_t size) {
    size_t align = size == 1 || size == 2 || size == 4 ? size : 8;
    size_t at = (*end + align - 1) / align * align;
    *end = at + size;
    return params + at;
}

#define OFFLOAD_ENTRY_(name) OFFLOAD_C_ void __hostcall_sim_kernel_##name(const uint8_t *offload_args)
#define OFFLOAD_FIRST_ size_t offload_end = 0;
#define OFFLOAD_NEXT_(index, T) (*(T const *)offload_argument(offload_args, &offload_end, sizeof(T)))
#define OFFLOAD_UNUSED_ (void)offload_args;

#endif

#define OFFLOAD_KERNEL0(name)                                                                                                              \
    static void offload_body_##name(void);                                                                                                 \
    OFFLOAD_ENTRY_(name);                                                                                                                  \
    OFFLOAD_ENTRY_(name) { OFFLOAD_UNUSED_ offload_body_##name(); }                                                                        \
    static void offload_body_##name(void)

#define OFFLOAD_KERNEL1(name, T1, a1)                                                                                                      \
    static void offload_body_##name(T1 a1);                                                                                                \
    OFFLOAD_ENTRY_(name);                                                                                                                  \
    OFFLOAD_ENTRY_(name) {                                                                                                                 \
        OFFLOAD_FIRST_                                                                                                                     \
        T1 a1 = OFFLOAD_NEXT_(0, T1);                                                                                                      \
        offload_body_##name(a1);                                                                                                           \
    }                                                                                                                                      \
    static void offload_body_##name(T1 a1)

#define OFFLOAD_KERNEL2(name, T1, a1, T2, a2)                                                                                              \
    static void offload_body_##name(T1 a1, T2 a2);                                                                                         \
    OFFLOAD_ENTRY_(name);                                                                                                                  \
    OFFLOAD_ENTRY_(name) {                                                                                                                 \
        OFFLOAD_FIRST_                                                                                                                     \
        T1 a1 = OFFLOAD_NEXT_(0, T1);                                                                                                      \
        T2 a2 = OFFLOAD_NEXT_(1, T2);                                                                                                      \
        offload_body_##name(a1, a2);                                                                                                       \
    }                                                                                                                                      \
    static void offload_body_##name(T1 a1, T2 a2)

#define OFFLOAD_KERNEL3(name, T1, a1, T2, a2, T3, a3)                                                                                      \
    static void offload_body_##name(T1 a1, T2 a2, T3 a3);                                                                                  \
    OFFLOAD_ENTRY_(name);                                                                                                                  \
    OFFLOAD_ENTRY_(name) {                                                                                                                 \
        OFFLOAD_FIRST_                                                                                                                     \
        T1 a1 = OFFLOAD_NEXT_(0, T1);                                                                                                      \
        T2 a2 = OFFLOAD_NEXT_(1, T2);                                                                                                      \
        T3 a3 = OFFLOAD_NEXT_(2, T3);                                                                                                      \
        offload_body_##name(a1, a2, a3);                                                                                                   \
    }                                                                                                                                      \
    static void offload_body_##name(T1 a1, T2 a2, T3 a3)

#define OFFLOAD_KERNEL4(name, T1, a1, T2, a2, T3, a3, T4, a4)                                                                              \
    static void offload_body_##name(T1 a1, T2 a2, T3 a3, T4 a4);                                                                           \
    OFFLOAD_ENTRY_(name);                                                                                                                  \
    OFFLOAD_ENTRY_(name) {                                                                                                                 \
        OFFLOAD_FIRST_                                                                                                                     \
        T1 a1 = OFFLOAD_NEXT_(0, T1);                                                                                                      \
        T2 a2 = OFFLOAD_NEXT_(1, T2);                                                                                                      \
        T3 a3 = OFFLOAD_NEXT_(2, T3);                                                                                                      \
        T4 a4 = OFFLOAD_NEXT_(3, T4);                                                                                                      \
        offload_body_##name(a1, a2, a3, a4);                                                                                               \
    }                                                                                                                                      \
    static void offload_body_##name(T1 a1, T2 a2, T3 a3, T4 a4)

#endif
#endif
