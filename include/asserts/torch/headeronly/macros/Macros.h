// PyTorch's `torch/headeronly/macros/Macros.h`, and behind it the macros of `hostcall_assert.cuh` for device code.
#include "../../../../hostcall/check_undo.cuh"

#include_next <torch/headeronly/macros/Macros.h>

// CUDA's own headers, which include it before they have said what device code has, do without.
#if !defined(__CUDA_INCLUDE_COMPILER_INTERNAL_HEADERS__)
#include "../../../../hostcall_assert.cuh"
#if defined(HOSTCALL_CHECKS_READY)
#include "../../../../hostcall/check_macros.cuh"
#endif
#endif
