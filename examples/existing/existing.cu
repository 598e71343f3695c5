// Hostcalls in a CUDA program that exists: before.cu is the program. It keeps its context, its stream and its launch.
//
// The two generated files are made of the trait in examples/add42/services:
//
//   cargo hostcall bindgen --lang cuda -o host_services.cuh services.rs
//   cargo hostcall bindgen --lang cpp-host --namespace services -o host_services.hpp services.rs
//
// The program links libhostcall: nvcc -std=c++17 existing.cu -lhostcall
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "host_services.cuh"
#include "host_services.hpp"

__global__ void demo(float *y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Host::add42(y[i]).value_or(-1.0f);
  if (i == 0) Host::log("the first lane is done");
}

static void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

int main() {
  constexpr unsigned count = 8;
  // Modules are to be loaded before kernels wait for the host: docs/reference/deadlocks.md.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  must(cudaSetDevice(0));
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float y[count] = {0, 1, 2, 3, 4, 5, 6, 7};
  float *memory;
  must(cudaMalloc(&memory, sizeof y));
  must(cudaMemcpy(memory, y, sizeof y, cudaMemcpyHostToDevice));

  hostcall::host::server server(hostcall::host::device::from_cuda_context());
  server.keep(services::Host::add42, [](float x) { return x + 42; });
  server.keep(services::Host::log, [](std::string_view text) { std::puts(std::string(text).c_str()); });
  const auto attached = hostcall::host::attach_cuda_kernel(server, demo, "existing");
  demo<<<1, count, 0, stream>>>(memory, count);
  must(cudaGetLastError());
  server.wait(stream);

  must(cudaMemcpy(y, memory, sizeof y, cudaMemcpyDeviceToHost));
  for (const float value : y) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  must(cudaFree(memory));
  must(cudaStreamDestroy(stream));
}
