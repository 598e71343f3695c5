// `assert`, `printf` and PyTorch's `CUDA_KERNEL_ASSERT` of kernels that exist, as reports of the host's:
// `docs/guide/asserts.md`.
//
// Include it behind the other headers, or put `include/asserts` in front of the include path, which does the same for
// every header that defines one of these macros. Code of the host keeps what it has.
//
//   HOSTCALL_ASSERT_CONTINUE   lanes that fail a check go on, instead of ending
//   NDEBUG                     as in C: `assert` checks nothing (the other macros do)
#pragma once

#if defined(__cplusplus) && (defined(HOSTCALL_SIM) || defined(__CUDACC__) || defined(__CUDA__) || defined(__HIP__))

// (HIP says 0 in the pass for the host, and there, too, for which GPU it compiles.)
#if defined(HOSTCALL_SIM) || defined(__CUDA_ARCH__) || (defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__)
#define HOSTCALL_DEVICE_PASS 1
#endif

// What these declare comes before the macros that replace some of it, and what they take away is taken away before.
#if !defined(__CUDACC_RTC__)
#include <cassert>
#include <cstdio>
#define HOSTCALL_HAS_STDIO 1
#endif

#include "hostcall.cuh"
#include "hostcall/check.cuh"
#define HOSTCALL_CHECKS_READY 1
#include "hostcall/check_macros.cuh"

#endif
