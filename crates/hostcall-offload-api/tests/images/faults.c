/* Kernels that do what they must not, and one that does not. */
#include <OffloadKernel.h>

OFFLOAD_KERNEL0(touch_nothing) { *(volatile uint32_t *)(uintptr_t)(64 + 4 * __gpu_thread_id_x()) = 1; }

OFFLOAD_KERNEL1(seven, uint32_t *, out) { *out = 7; }
