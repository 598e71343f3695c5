/*
 * The names of clang's <gpuintrin.h>, for kernels in C and C++ that run on the processor, in hostcall's simulator.
 *
 * A source that includes <gpuintrin.h> becomes a simulator image without a change, where this folder comes before the compiler's own:
 * clang -I include/simulator -O2 -shared -fPIC -o kernels.so kernels.c
 *
 * On x86-64 only: __gpu_kernel functions are kernels under their own names, and __gpu_local variables are memory of the workgroup, zeroed when it starts.
 * One that is declared `extern` and defined nowhere is the dynamic part, as large as the launch says. __gpu_local is no part of types here: it stands
 * before variables, not before what a pointer points at. There is no __gpu_is_ptr_private.
 */
#ifndef HOSTCALL_SIMULATOR_GPUINTRIN_H
#define HOSTCALL_SIMULATOR_GPUINTRIN_H

#if defined(__NVPTX__) || defined(__AMDGPU__) || defined(__SPIRV__)
#include_next <gpuintrin.h>
#else

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
typedef bool offload_bool;
extern "C" {
#else
typedef _Bool offload_bool;
#endif

/* What the simulator gives to an image: the layout of hostcall's simulator interface, version 6. */
struct offload_lane_info {
    uint32_t lane, wave_size, wave, sm;
    uint32_t group[3], groups[3], local[3], local_size[3];
    uint32_t launch;
};
struct offload_group_memory {
    char *declared, *dynamic, *end;
};
struct offload_sim_ops {
    const struct offload_lane_info *(*lane_info)(void);
    uint64_t (*active_mask)(size_t site);
    uint64_t (*ballot)(uint64_t mask, uint32_t predicate);
    uint64_t (*shuffle)(uint64_t mask, uint64_t value, uint32_t from);
    void (*sync_wave)(uint64_t mask);
    void (*sync_group)(void);
    void (*pause)(uint32_t attempt);
    uint64_t (*clock_ns)(void);
    uint8_t *(*group_scratch)(void);
    void (*exit_lane)(void);
    void (*trap)(void);
    uint64_t *(*lane_word)(void);
    void (*wake_patient)(uint32_t what);
    const struct offload_group_memory *(*group_memory)(void);
    uint32_t (*space)(size_t address);
};

/* Each source of an image has these: the linker keeps one of each. */
#define OFFLOAD_WORD_ __attribute__((weak, visibility("default")))
extern OFFLOAD_WORD_ const struct offload_sim_ops *__hostcall_sim_ops;
extern OFFLOAD_WORD_ const uint32_t __hostcall_sim_version;
const struct offload_sim_ops *__hostcall_sim_ops = NULL;
const uint32_t __hostcall_sim_version = 6;

#define __gpu_private
#define __gpu_constant const
#define __gpu_global
#define __gpu_generic

#if defined(__x86_64__)

/* Parameters are where their sizes say in this calling convention, and kernels are what is in this section. */
#define __gpu_kernel __attribute__((ms_abi, used, visibility("protected"), section("hostcall_kernels")))

/*
 * The compiler reaches each thread-local variable by this function: by the number of the module that has it, and its offset. Of one that is defined
 * nowhere the simulator leaves the number 0.
 */
#define __gpu_local __thread
struct offload_variable {
    size_t module, offset;
};
extern OFFLOAD_WORD_ const uint32_t __hostcall_sim_group_memory;
const uint32_t __hostcall_sim_group_memory = 1;
__attribute__((weak, visibility("hidden"))) void *__tls_get_addr(const struct offload_variable *variable);
__attribute__((weak, visibility("hidden"))) void *__tls_get_addr(const struct offload_variable *variable) {
    const struct offload_group_memory *memory = __hostcall_sim_ops->group_memory();
    return (variable->module == 0 ? memory->dynamic : memory->declared) + variable->offset;
}

static inline offload_bool __gpu_is_ptr_local(void *pointer) {
    const struct offload_group_memory *memory = __hostcall_sim_ops->group_memory();
    return (char *)pointer >= memory->declared && (char *)pointer < memory->end;
}

#endif

#ifdef __cplusplus
}
#endif

#define __GPU_X_DIM 0
#define __GPU_Y_DIM 1
#define __GPU_Z_DIM 2

static inline uint32_t __gpu_num_blocks(int dim) { return dim >= 0 && dim < 3 ? __hostcall_sim_ops->lane_info()->groups[dim] : 1; }
static inline uint32_t __gpu_block_id(int dim) { return dim >= 0 && dim < 3 ? __hostcall_sim_ops->lane_info()->group[dim] : 0; }
static inline uint32_t __gpu_num_threads(int dim) { return dim >= 0 && dim < 3 ? __hostcall_sim_ops->lane_info()->local_size[dim] : 1; }
static inline uint32_t __gpu_thread_id(int dim) { return dim >= 0 && dim < 3 ? __hostcall_sim_ops->lane_info()->local[dim] : 0; }
#define OFFLOAD_AXIS_(axis, dim)                                                                                                           \
    static inline uint32_t __gpu_num_blocks_##axis(void) { return __gpu_num_blocks(dim); }                                                 \
    static inline uint32_t __gpu_block_id_##axis(void) { return __gpu_block_id(dim); }                                                     \
    static inline uint32_t __gpu_num_threads_##axis(void) { return __gpu_num_threads(dim); }                                               \
    static inline uint32_t __gpu_thread_id_##axis(void) { return __gpu_thread_id(dim); }
OFFLOAD_AXIS_(x, 0)
OFFLOAD_AXIS_(y, 1)
OFFLOAD_AXIS_(z, 2)
#undef OFFLOAD_AXIS_

static inline uint32_t __gpu_num_lanes(void) { return __hostcall_sim_ops->lane_info()->wave_size; }
static inline uint32_t __gpu_lane_id(void) { return __hostcall_sim_ops->lane_info()->lane; }

/* A function of its own, so that the place of its call is one place. */
__attribute__((noinline, unused)) static uint64_t __gpu_lane_mask(void) {
    return __hostcall_sim_ops->active_mask((size_t)__builtin_return_address(0));
}
static inline uint64_t __gpu_first_lane_id(uint64_t mask) { return (uint64_t)__builtin_ffsll((long long)mask) - 1; }
static inline offload_bool __gpu_is_first_in_lane(uint64_t mask) { return __gpu_lane_id() == __gpu_first_lane_id(mask); }

static inline void __gpu_sync_threads(void) { __hostcall_sim_ops->sync_group(); }
static inline void __gpu_sync_lane(uint64_t mask) { __hostcall_sim_ops->sync_wave(mask); }
static inline uint64_t __gpu_ballot(uint64_t mask, offload_bool x) { return __hostcall_sim_ops->ballot(mask, x); }
/* It waits for another lane (bit 30), of whatever wave, and sleeps as after 300 looks. */
static inline void __gpu_thread_suspend(void) { __hostcall_sim_ops->pause(300u | 1u << 30); }
__attribute__((noreturn)) static inline void __gpu_exit(void) {
    __hostcall_sim_ops->exit_lane();
    __builtin_unreachable();
}

/* Lanes of a wave exchange values of up to 8 bytes. */
static inline uint64_t __gpu_read_first_lane_u64(uint64_t mask, uint64_t x) {
    return __hostcall_sim_ops->shuffle(mask, x, (uint32_t)__builtin_ctzll(mask));
}
static inline uint32_t __gpu_read_first_lane_u32(uint64_t mask, uint32_t x) { return (uint32_t)__gpu_read_first_lane_u64(mask, x); }
/* The value of lane `index` of the caller's part of the wave, of `width` lanes; 0 if that lane is not of the mask. */
static inline uint64_t __gpu_shuffle_idx_u64(uint64_t mask, uint32_t index, uint64_t x, uint32_t width) {
    uint32_t lane = __gpu_lane_id(), from = (lane & ~(width - 1)) | (index & (width - 1));
    offload_bool there = (mask >> from & 1) != 0;
    uint64_t value = __hostcall_sim_ops->shuffle(mask, x, there ? from : lane);
    return there ? value : 0;
}
static inline uint32_t __gpu_shuffle_idx_u32(uint64_t mask, uint32_t index, uint32_t x, uint32_t width) {
    return (uint32_t)__gpu_shuffle_idx_u64(mask, index, x, width);
}

#define OFFLOAD_FLOAT_(T, bits, name)                                                                                                      \
    static inline uint##bits##_t offload_bits_##name(T x) {                                                                                \
        uint##bits##_t to;                                                                                                                 \
        memcpy(&to, &x, sizeof to);                                                                                                        \
        return to;                                                                                                                         \
    }                                                                                                                                      \
    static inline T offload_of_bits_##name(uint##bits##_t x) {                                                                             \
        T to;                                                                                                                              \
        memcpy(&to, &x, sizeof to);                                                                                                        \
        return to;                                                                                                                         \
    }                                                                                                                                      \
    static inline T __gpu_read_first_lane_##name(uint64_t mask, T x) {                                                                     \
        return offload_of_bits_##name(__gpu_read_first_lane_u##bits(mask, offload_bits_##name(x)));                                        \
    }                                                                                                                                      \
    static inline T __gpu_shuffle_idx_##name(uint64_t mask, uint32_t index, T x, uint32_t width) {                                         \
        return offload_of_bits_##name(__gpu_shuffle_idx_u##bits(mask, index, offload_bits_##name(x), width));                              \
    }
OFFLOAD_FLOAT_(float, 32, f32)
OFFLOAD_FLOAT_(double, 64, f64)
#undef OFFLOAD_FLOAT_

/* Sums over the mask's lanes up to the caller's, and over all of them, in the order of lanes. */
#define OFFLOAD_SUM_(T, name)                                                                                                              \
    static inline T offload_sum_##name(uint64_t mask, T x, uint32_t last) {                                                                \
        T sum = 0;                                                                                                                         \
        for (uint64_t rest = __gpu_ballot(mask, 1); rest; rest &= rest - 1) {                                                              \
            uint32_t from = (uint32_t)__builtin_ctzll(rest);                                                                               \
            T other = __gpu_shuffle_idx_##name(mask, from, x, __gpu_num_lanes());                                                          \
            if (from <= last)                                                                                                              \
                sum += other;                                                                                                              \
        }                                                                                                                                  \
        return sum;                                                                                                                        \
    }                                                                                                                                      \
    static inline T __gpu_lane_scan_##name(uint64_t mask, T x) { return offload_sum_##name(mask, x, __gpu_lane_id()); }                    \
    static inline T __gpu_lane_sum_##name(uint64_t mask, T x) { return offload_sum_##name(mask, x, 63); }
OFFLOAD_SUM_(uint32_t, u32)
OFFLOAD_SUM_(uint64_t, u64)
OFFLOAD_SUM_(float, f32)
OFFLOAD_SUM_(double, f64)
#undef OFFLOAD_SUM_

/* The lanes of the mask whose value is the caller's; the mask if that is all of them, or else 0. */
#define OFFLOAD_MATCH_(T, name)                                                                                                            \
    static inline uint64_t __gpu_match_any_##name(uint64_t mask, T x) {                                                                    \
        uint64_t own = 0, rest = __gpu_ballot(mask, 1);                                                                                    \
        while (rest) {                                                                                                                     \
            T first = __gpu_shuffle_idx_##name(mask, (uint32_t)__builtin_ctzll(rest), x, __gpu_num_lanes());                               \
            uint64_t same = __gpu_ballot(mask, x == first);                                                                                \
            if (x == first)                                                                                                                \
                own = same;                                                                                                                \
            rest &= ~same;                                                                                                                 \
        }                                                                                                                                  \
        return own;                                                                                                                        \
    }                                                                                                                                      \
    static inline uint64_t __gpu_match_all_##name(uint64_t mask, T x) {                                                                    \
        uint64_t all = __gpu_ballot(mask, 1);                                                                                              \
        return __gpu_match_any_##name(mask, x) == all ? all : 0;                                                                           \
    }
OFFLOAD_MATCH_(uint32_t, u32)
OFFLOAD_MATCH_(uint64_t, u64)
#undef OFFLOAD_MATCH_

#endif
#endif
