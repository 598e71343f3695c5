// One element of an embedding lookup, in the words of PyTorch's kernels: an index from outside of the table is the most
// usual reason for "device-side assert triggered".
#pragma once

template <class Index>
__device__ void embed(float *out, const float *table, const Index *index, unsigned count, unsigned width, Index rows, unsigned i) {
  if (i >= count * width) return;
  const Index row = index[i / width];
  assert(-rows <= row && row < rows && "index out of bounds");
  out[i] = table[(row < 0 ? row + rows : row) * width + i % width];
}
