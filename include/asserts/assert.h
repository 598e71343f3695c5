// The system's `assert.h`, and behind it that of `hostcall_assert.cuh`: for device code, each time it is included.
#include_next <assert.h>

// CUDA's own headers, which include it before they have said what device code has, do without.
#if !defined(__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__)
#include "../hostcall_assert.cuh"
#if defined(HOSTCALL_CHECKS_READY)
#include "../hostcall/check_macros.cuh"
#endif
#endif
