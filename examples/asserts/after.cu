// before.cu with reports: a header, three lines of the host's, and libhostcall.
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

#include "hostcall.hpp"
#include "hostcall_assert.cuh"

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

  hostcall::host::server server(hostcall::host::device::from_cuda_context());
  const auto attached = hostcall::host::attach_cuda_kernel(server, embedding, "embedding");
  for (int launch = 0; launch < 2; launch++) {
    embedding<<<(count * width + 127) / 128, 128>>>(out, table, index, count, width, rows);
    try {
      server.wait();
      std::printf("launch %d: no error\n", launch);
    } catch (const hostcall::host::error &error) {
      std::printf("launch %d: %s\n", launch, error.what());
      index[17] = 0;
    }
  }
  std::printf("the last row is %g\n", cudaGetLastError() == cudaSuccess ? static_cast<double>(out[count * width - 1]) : -1.0);
}
