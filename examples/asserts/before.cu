// An embedding lookup with an index that is out of range, as such programs are: the assert loses the context. after.cu
// is the same program with reports.
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

#include "embedding.cuh"

__global__ void embedding(float *out, const float *table, const long long *index, unsigned count, unsigned width, long long rows) {
  embed(out, table, index, count, width, rows, blockIdx.x * blockDim.x + threadIdx.x);
}

int main() {
  constexpr unsigned count = 1000, width = 8;
  constexpr long long rows = 50257;
  float *out, *table;
  long long *index;
  cudaMallocManaged(&out, count * width * sizeof *out);
  cudaMallocManaged(&table, rows * width * sizeof *table);
  cudaMallocManaged(&index, count * sizeof *index);
  for (long long i = 0; i < rows * width; i++) table[i] = static_cast<float>(i / width);
  for (unsigned i = 0; i < count; i++) index[i] = i * 50;
  // A token that the table does not have: a padding token of another tokenizer.
  index[17] = 50257;

  for (int launch = 0; launch < 2; launch++) {
    embedding<<<(count * width + 127) / 128, 128>>>(out, table, index, count, width, rows);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("launch %d: %s\n", launch, cudaGetErrorString(error));
    if (launch == 0 && error == cudaSuccess) index[17] = 0;
  }
  std::printf("the last row is %g\n", cudaGetLastError() == cudaSuccess ? static_cast<double>(out[count * width - 1]) : -1.0);
}
