// Which compiler for which machine, and the words that differ between them.
#pragma once

#if __cplusplus < 201703L
#error "hostcall needs C++17: -std=c++17 or later"
#endif

// The simulator is chosen by name; what else there is, the compiler says.
#if defined(HOSTCALL_SIM)
#define HOSTCALL_MACHINE_SIM 1
#elif defined(__HIP__) || defined(__HIPCC__) || defined(__AMDGCN__)
#define HOSTCALL_MACHINE_AMD 1
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__)
#define HOSTCALL_MACHINE_NVIDIA 1
#else
#error "hostcall.cuh is for kernels: compile it as CUDA or HIP, or with -DHOSTCALL_SIM for the CPU simulator"
#endif

// Functions of kernels, functions that the compiler may also run, rare paths, globals that the host finds by name.
#if defined(HOSTCALL_MACHINE_SIM)
#define HC_ON_DEVICE
#define HC_HOST_DEVICE
#define HC_ENTRY
#define HC_DEVICE_INLINE inline __attribute__((always_inline))
#define HC_METHOD __attribute__((always_inline))
#define HC_COLD __attribute__((noinline, cold))
#define HC_NOINLINE __attribute__((noinline))
// A writable word of the image, whatever `-fvisibility` says.
#define HC_GLOBAL __attribute__((weak, used, visibility("default")))
#elif defined(__clang__)
#define HC_ON_DEVICE __attribute__((device))
#define HC_HOST_DEVICE __attribute__((host)) __attribute__((device))
#define HC_ENTRY __attribute__((global))
#define HC_DEVICE_INLINE HC_ON_DEVICE inline __attribute__((always_inline))
#define HC_METHOD HC_ON_DEVICE __attribute__((always_inline))
#define HC_COLD HC_ON_DEVICE __attribute__((noinline, cold))
#define HC_NOINLINE HC_ON_DEVICE __attribute__((noinline))
#define HC_GLOBAL HC_ON_DEVICE __attribute__((weak, used, visibility("default")))
#else
#define HC_ON_DEVICE __device__
#define HC_HOST_DEVICE __host__ __device__
#define HC_ENTRY __global__
#define HC_DEVICE_INLINE __device__ __forceinline__
#define HC_METHOD __device__ __forceinline__
#define HC_COLD __device__ __noinline__
#define HC_NOINLINE __device__ __noinline__
// One program of several translation units has one set of them; in whole-program mode each unit is a program.
#if defined(__CUDACC_RDC__)
#define HC_GLOBAL __device__ __attribute__((weak, used))
#else
#define HC_GLOBAL __device__ __attribute__((used))
#endif
#endif

// Loops of a few rounds whose number is a constant: written out, so that arrays with the rounds' indices stay in
// registers.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define HC_UNROLL _Pragma("GCC unroll 32")
#define HC_NO_UNROLL _Pragma("GCC unroll 1")
#else
#define HC_UNROLL _Pragma("unroll")
#define HC_NO_UNROLL _Pragma("unroll 1")
#endif

// Where a function was called from, as default arguments. NVRTC of CUDA 12.4 has them from C++20 on only: no file and
// line 0 before.
#if defined(__CUDACC_RTC__)
#if !__has_builtin(__builtin_FILE)
#define HC_CALLER_FILE ""
#define HC_CALLER_LINE 0u
#endif
#endif
#ifndef HC_CALLER_FILE
#define HC_CALLER_FILE __builtin_FILE()
#define HC_CALLER_LINE (::hostcall::u32)__builtin_LINE()
#endif

// Copies of a few bytes whose number is a constant.
#if defined(__CUDACC__) && !defined(__clang__)
#define HC_COPY(to, from, bytes) memcpy(to, from, bytes)
#else
#define HC_COPY(to, from, bytes) __builtin_memcpy(to, from, bytes)
#endif

namespace hostcall {

// Rust's names of numbers, as C++ compilers for GPUs have them.
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using f32 = float;
using f64 = double;
using size_t = decltype(sizeof(0));

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(void*) == 8, "a 64-bit machine");

/// How a call ended. A number that this version does not know stays what it is.
enum class status : u16 {
#define HC_STATUS(name, number) name = number,
    HOSTCALL_STATUSES(HC_STATUS)
#undef HC_STATUS
};

/// Three coordinates.
struct coordinates {
    u32 x, y, z;
};

}  // namespace hostcall
