/* One source for every device: see OffloadKernel.h. */
#include <OffloadKernel.h>

OFFLOAD_KERNEL4(vector_add, const float *, a, const float *, b, float *, sum, uint32_t, count) {
    uint32_t i = __gpu_block_id_x() * __gpu_num_threads_x() + __gpu_thread_id_x();
    if (i < count)
        sum[i] = a[i] + b[i];
}
