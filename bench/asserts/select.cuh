// Kernels of PyTorch's kind that look rows up. `select` is as `indexSelectLargeIndex`: tensors of two dimensions with
// strides, and indices of 32 bits. `gather` is as `vectorized_gather_kernel`, which PyTorch 2.11 launches for an
// embedding of contiguous rows: a block for each index, 16 bytes a thread. A source that includes this names both
// (`KERNEL`) and their check (`CHECK`).
#pragma once

template <class T>
struct info {
  T *data;
  unsigned sizes[25], strides[25];
  int dims;
};

template <class T>
__device__ inline unsigned offset(unsigned linear, const info<T> &tensor) {
  return linear % tensor.sizes[1] * tensor.strides[1] + linear / tensor.sizes[1] * tensor.strides[0];
}

#define SELECT_PARAMETERS                                                                                            \
  info<float> dst, info<const float> src, info<const long> indices, int dst_dim, int src_dim, unsigned total, unsigned inner, long rows
#define GATHER_PARAMETERS \
  char *out, const char *table, const long *indices, long row_bytes, long rows, long table_stride, long out_stride, bool from_end

#define DECLARE(name)                                \
  __global__ void select_##name(SELECT_PARAMETERS); \
  __global__ void gather_##name(GATHER_PARAMETERS)
DECLARE(plain);
DECLARE(bare);
DECLARE(cuda);
DECLARE(hostcall);

#if defined(KERNEL)
#define NAMED_(kind, name) kind##_##name
#define NAMED(kind, name) NAMED_(kind, name)
__global__ void NAMED(select, KERNEL)(SELECT_PARAMETERS) {
  for (unsigned linear = blockIdx.x * blockDim.x + threadIdx.x; linear < total; linear += gridDim.x * blockDim.x) {
    const unsigned index = linear / inner, element = linear % inner;
    const long row = indices.data[offset(index, indices)];
    CHECK(row < rows);
    dst.data[offset(element, dst) + index * dst.strides[dst_dim]] = src.data[offset(element, src) + (unsigned)row * src.strides[src_dim]];
  }
}

__global__ void NAMED(gather, KERNEL)(GATHER_PARAMETERS) {
  long row = indices[blockIdx.x];
  if (from_end && row < 0) row += rows;
  CHECK(row >= 0 && row < rows);
  for (int at = (int)(blockDim.x * blockIdx.y + threadIdx.x) * 16; at < row_bytes; at += (int)(blockDim.x * gridDim.y) * 16) {
    const uint4 piece = __ldg(reinterpret_cast<const uint4 *>(table + row * table_stride + at));
    *reinterpret_cast<uint4 *>(out + blockIdx.x * out_stride + at) = piece;
  }
}
#endif
