// A CUDA program without hostcalls, which adds 42 on the GPU. existing.cu is this program with them.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void demo(float *y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + 42.0f;
}

static void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  constexpr unsigned count = 8;
  must(cudaSetDevice(0));
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float y[count] = {0, 1, 2, 3, 4, 5, 6, 7};
  float *memory;
  must(cudaMalloc(&memory, sizeof y));
  must(cudaMemcpy(memory, y, sizeof y, cudaMemcpyHostToDevice));

  demo<<<1, count, 0, stream>>>(memory, count);
  must(cudaGetLastError());
  must(cudaStreamSynchronize(stream));

  must(cudaMemcpy(y, memory, sizeof y, cudaMemcpyDeviceToHost));
  for (const float value : y) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  must(cudaFree(memory));
  must(cudaStreamDestroy(stream));
}
