// What the driver does to a process for `cuda-checkpoint` and CRIU, while a server is there and a kernel calls: its
// device memory is taken away and comes back. Another process asks for it, as these tools do. The kernel is that of
// examples/existing, and calls many times.
//   nvcc -std=c++17 checkpoint.cu -lhostcall -lcuda
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "host_services.cuh"
#include "host_services.hpp"

constexpr unsigned lanes = 64;

__global__ void demo(float *y, unsigned calls) {
  const unsigned i = threadIdx.x;
  for (unsigned call = 0; call < calls; call++) y[i] = Host::add42(y[i]).value_or(-1e9f);
  if (i == 0) Host::log("called");
}

static void must(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define MUST(call) must(call, __LINE__)

// The process that is checkpointed: says when a kernel runs, and goes on when it is told to.
static int calls(int said, int told) {
  MUST(cudaSetDevice(0));
  float *y, there[lanes];
  MUST(cudaMalloc(&y, sizeof there));
  MUST(cudaMemset(y, 0, sizeof there));
  std::atomic<int> messages{0};
  hostcall::host::server server(hostcall::host::device::from_cuda_context());
  server.keep(services::Host::add42, [](float x) { return x + 1; });
  server.keep(services::Host::log, [&](std::string_view) { messages++; });
  const auto attached = hostcall::host::attach_cuda_kernel(server, demo, "checkpoint");
  constexpr unsigned many = 50000;
  char byte = 'r';
  for (unsigned round = 0; round < 3; round++) {
    demo<<<1, lanes>>>(y, many);
    MUST(cudaGetLastError());
    if (round == 1) {
      if (write(said, &byte, 1) != 1 || read(told, &byte, 1) != 1) return 1;
    }
    server.wait();
  }
  MUST(cudaMemcpy(there, y, sizeof there, cudaMemcpyDeviceToHost));
  for (float value : there)
    if (value != 3.0f * many) return std::printf("FAIL a lane has %g\n", value), 1;
  if (messages != 3) return std::printf("FAIL %d messages\n", messages.load()), 1;
  return 0;
}

static int result_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char **arguments) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  if (count == 3) return calls(std::atoi(arguments[1]), std::atoi(arguments[2]));
  int said[2], told[2];
  if (pipe(said) || pipe(told)) return 1;
  const pid_t child = fork();
  if (child == 0) {
    char out[12], in[12];
    std::snprintf(out, sizeof out, "%d", said[1]), std::snprintf(in, sizeof in, "%d", told[0]);
    execl("/proc/self/exe", arguments[0], out, in, nullptr);
    _exit(127);
  }
  close(said[1]);
  char byte;
  if (read(said[0], &byte, 1) != 1) return std::printf("FAIL the process ended (%d)\n", result_of(child)), 1;
  CUcheckpointLockArgs lock{};
  lock.timeoutMs = 10000;
  bool refused = false;
  const auto told_of = [&](const char *what, CUresult result) {
    const char *name = "?";
    cuGetErrorName(result, &name);
    refused |= result != CUDA_SUCCESS;
    std::printf("%s: %s\n", what, name);
  };
  told_of("init", cuInit(0));
  told_of("lock", cuCheckpointProcessLock(child, &lock));
  told_of("checkpoint", cuCheckpointProcessCheckpoint(child, nullptr));
  told_of("restore", cuCheckpointProcessRestore(child, nullptr));
  told_of("unlock", cuCheckpointProcessUnlock(child, nullptr));
  if (refused) {
    // It may be without its device memory now, and would wait for it.
    kill(child, SIGKILL);
    std::printf("FAIL the process was not checkpointed and restored (HOSTCALL_WINDOW=off lets it be)\n");
    return 1;
  }
  if (write(told[1], &byte, 1) != 1) return 1;
  const int code = result_of(child);
  std::printf("%s checkpointed and restored, then the process ended with %d\n", code == 0 ? "ok" : "FAIL", code);
  return code != 0;
}
