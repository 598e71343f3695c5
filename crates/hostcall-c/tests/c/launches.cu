// Launches of other kinds than `<<<>>>` and streams of other kinds than those of a context: kernels that kernels
// launch, graphs that were captured, green contexts; a context that was created beside the primary one; all devices at
// once, each with a server of its own. The kernel is that of examples/existing.
//   nvcc -std=c++17 -rdc=true launches.cu -lhostcall -lcuda -lcudadevrt
#include <cuda.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "host_services.cuh"
#include "host_services.hpp"

constexpr unsigned count = 64;

__global__ void demo(float *y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Host::add42(y[i]).value_or(-1.0f);
  if (i == 0) Host::log("called");
}

__global__ void parent(float *y) { demo<<<2, count / 2>>>(y, count); }

static void must(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
static void must(CUresult error, int line) {
  if (error == CUDA_SUCCESS) return;
  std::fprintf(stderr, "line %d: CUresult %d\n", line, (int)error);
  std::exit(1);
}
#define MUST(call) must(call, __LINE__)

static float *memory;
static std::atomic<int> messages;

static void serve(hostcall::host::server &server, float more) {
  server.keep(services::Host::add42, [more](float x) { return x + more; });
  server.keep(services::Host::log, [](std::string_view) { messages++; });
}

static void fill(cudaStream_t stream) {
  static float y[count];
  for (unsigned i = 0; i < count; i++) y[i] = (float)i;
  MUST(cudaMemcpyAsync(memory, y, sizeof y, cudaMemcpyHostToDevice, stream));
}

// Each lane has called `times` times, and the first has said so as often since the last time.
static void check(const char *what, int times) {
  float y[count];
  MUST(cudaMemcpy(y, memory, sizeof y, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < count; i++)
    if (y[i] != (float)i + 42.0f * (float)times) {
      std::fprintf(stderr, "FAIL %s: lane %u has %g\n", what, i, y[i]);
      std::exit(1);
    }
  if (messages.exchange(0) != times) {
    std::fprintf(stderr, "FAIL %s: messages were lost\n", what);
    std::exit(1);
  }
  std::printf("ok %s\n", what);
}

// A context of the application's own, beside the primary one.
static void created() {
  CUcontext context, before;
  MUST(cuCtxGetCurrent(&before));
#if CUDA_VERSION >= 13000
  MUST(cuCtxCreate(&context, nullptr, 0, 0));
#else
  MUST(cuCtxCreate(&context, 0, 0));
#endif
  float *const primary = memory;
  MUST(cudaMalloc(&memory, count * sizeof *memory));
  {
    hostcall::host::server server(hostcall::host::device::from_cuda_context());
    serve(server, 42);
    const auto attached = hostcall::host::attach_cuda_kernel(server, demo, "created");
    fill(nullptr);
    demo<<<2, count / 2>>>(memory, count);
    MUST(cudaGetLastError());
    server.wait();
    check("created", 1);
  }
  MUST(cudaFree(memory));
  memory = primary;
  MUST(cuCtxDestroy(context));
  MUST(cuCtxSetCurrent(before));
}

// One server and one kernel for each device, all at once. Each adds its own number.
static void devices() {
  struct on {
    float *memory;
    std::unique_ptr<hostcall::host::server> server;
    std::unique_ptr<hostcall::host::attachment> attached;
  };
  int there;
  MUST(cudaGetDeviceCount(&there));
  std::vector<on> all;
  for (int device = 0; device < there; device++) {
    MUST(cudaSetDevice(device));
    on one{nullptr, std::make_unique<hostcall::host::server>(hostcall::host::device::from_cuda_context()), {}};
    MUST(cudaMalloc(&one.memory, count * sizeof *one.memory));
    MUST(cudaMemset(one.memory, 0, count * sizeof *one.memory));
    serve(*one.server, 42 + (float)device);
    one.attached = std::make_unique<hostcall::host::attachment>(hostcall::host::attach_cuda_kernel(*one.server, demo, "devices"));
    all.push_back(std::move(one));
  }
  for (int round = 0; round < 10; round++)
    for (int device = 0; device < there; device++) {
      MUST(cudaSetDevice(device));
      demo<<<2, count / 2>>>(all[(size_t)device].memory, count);
      MUST(cudaGetLastError());
    }
  for (int device = 0; device < there; device++) {
    float y[count];
    MUST(cudaSetDevice(device));
    all[(size_t)device].server->wait();
    MUST(cudaMemcpy(y, all[(size_t)device].memory, sizeof y, cudaMemcpyDeviceToHost));
    for (float value : y)
      if (value != 10.0f * (42.0f + (float)device)) {
        std::fprintf(stderr, "FAIL device %d: %g\n", device, value);
        std::exit(1);
      }
    MUST(cudaFree(all[(size_t)device].memory));
  }
  all.clear();
  MUST(cudaSetDevice(0));
  if (messages.exchange(0) != 10 * there) {
    std::fprintf(stderr, "FAIL devices: messages were lost\n");
    std::exit(1);
  }
  std::printf("ok devices (%d)\n", there);
}

int main() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  MUST(cudaSetDevice(0));
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaMalloc(&memory, count * sizeof *memory));
  {
    hostcall::host::server server(hostcall::host::device::from_cuda_context());
    serve(server, 42);
    const auto attached = hostcall::host::attach_cuda_kernel(server, demo, "launches");

    fill(stream);
    parent<<<1, 1, 0, stream>>>(memory);
    MUST(cudaGetLastError());
    server.wait(stream);
    check("child", 1);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    demo<<<2, count / 2, 0, stream>>>(memory, count);
    demo<<<2, count / 2, 0, stream>>>(memory, count);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    fill(stream);
    for (int i = 0; i < 10; i++) MUST(cudaGraphLaunch(exec, stream));
    server.wait(stream);
    check("graph", 20);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));

    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUstream theirs;
    unsigned parts = 1;
    MUST(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    MUST(cuDevSmResourceSplitByCount(&part, &parts, &all, nullptr, 0, 16));
    MUST(cuDevResourceGenerateDesc(&description, &part, 1));
    MUST(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MUST(cuGreenCtxStreamCreate(&theirs, green, CU_STREAM_NON_BLOCKING, 0));
    fill(theirs);
    demo<<<2, count / 2, 0, theirs>>>(memory, count);
    MUST(cudaGetLastError());
    server.wait(theirs);
    check("green", 1);
    MUST(cuStreamDestroy(theirs));
    MUST(cuGreenCtxDestroy(green));
  }
  created();
  MUST(cudaFree(memory));
  MUST(cudaStreamDestroy(stream));
  devices();
}
