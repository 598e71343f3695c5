// Hostcalls in a CUDA program that exists: it has its context, its streams and its launches, and keeps them.
//
//   cargo hostcall bindgen --lang cuda services.rs > host_services.cuh
//
// `services.rs` is the trait of kernels/add42-services. The program links libhostcall.
#include <hostcall.hpp>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host_services.cuh"

__global__ void demo(float *y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Host::add42(y[i]).value_or(-1.0f);
  if (i == 0) Host::log("the first lane is done");
}

namespace {

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

}  // namespace

int main() try {
  namespace host = hostcall::host;
  constexpr unsigned count = 8;

  // What the program had: a context (the runtime's), a stream, memory. Modules are to be loaded before kernels wait for
  // the host: `docs/deadlocks.md`.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  must(cudaSetDevice(0));
  must(cudaFree(nullptr));
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float y[count] = {0, 1, 2, 3, 4, 5, 6, 7};
  float *memory;
  must(cudaMalloc(&memory, sizeof y));
  must(cudaMemcpy(memory, y, sizeof y, cudaMemcpyHostToDevice));

  // What is new: a server, services, and the module attached, by any of its kernels.
  const host::device device = host::device::from_cuda_context();
  host::server server(device);
  server.keep(HC_DEFINITION("Host__add42", "fn(f32) -> f32"), [](host::message calls) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      float x;
      std::memcpy(&x, calls.arguments(i), sizeof x);
      x += 42;
      std::memcpy(calls.results(i), &x, sizeof x);
    }
  });
  server.keep(HC_DEFINITION("Host__log", "fn(&str)"), [](host::message calls) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      if (const auto text = calls.text(i, 0)) std::printf("the kernel says: %.*s\n", static_cast<int>(text->size()), text->data());
    }
  });
  cudaFunction_t function;
  must(cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(demo)));
  {
    const auto attached = server.attach_cuda_function(function, "existing");
    {
      // The launch is announced, because the server sees only its own.
      const host::launch announced(server);
      demo<<<1, count, 0, stream>>>(memory, count);
      must(cudaGetLastError());
      server.wait(stream);
    }
    must(cudaMemcpy(y, memory, sizeof y, cudaMemcpyDeviceToHost));
  }
  for (const float value : y) std::printf("%g ", static_cast<double>(value));
  std::printf("\n");
  server.stop();
  must(cudaFree(memory));
  must(cudaStreamDestroy(stream));
} catch (const hostcall::host::error &error) {
  std::fprintf(stderr, "%s: %s\n", hc_status_string(error.status()), error.what());
  return 1;
}
