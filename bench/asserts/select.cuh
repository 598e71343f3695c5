// A kernel as PyTorch's `indexSelectLargeIndex`: tensors of two dimensions with strides, and indices of 32 bits. A
// source that includes this names it (`SELECT`) and its check (`CHECK`).
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

__global__ void select_plain(SELECT_PARAMETERS);
__global__ void select_bare(SELECT_PARAMETERS);
__global__ void select_cuda(SELECT_PARAMETERS);
__global__ void select_hostcall(SELECT_PARAMETERS);

#if defined(SELECT)
__global__ void SELECT(SELECT_PARAMETERS) {
  for (unsigned linear = blockIdx.x * blockDim.x + threadIdx.x; linear < total; linear += gridDim.x * blockDim.x) {
    const unsigned index = linear / inner, element = linear % inner;
    const long row = indices.data[offset(index, indices)];
    CHECK(row < rows);
    dst.data[offset(element, dst) + index * dst.strides[dst_dim]] = src.data[offset(element, src) + (unsigned)row * src.strides[src_dim]];
  }
}
#endif
