// What a check costs that holds, beside the same kernel without one, with one that only traps, and with CUDA's own
// `assert`; and a million checks that fail: the context stays, and the next launch is right.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "hostcall.hpp"
#include "select.cuh"

#define MUST(call)                                                                            \
  do {                                                                                        \
    const cudaError_t error = call;                                                           \
    if (error != cudaSuccess) std::printf("FAIL %s: %s\n", #call, cudaGetErrorString(error)), std::exit(1); \
  } while (0)

using kernel = void (*)(SELECT_PARAMETERS);

namespace {

constexpr unsigned rows = 50257, width = 256, count = 1 << 17, total = count * width;
float *out, *table;
long *index_of;

template <class T>
info<T> tensor(T *data, unsigned height, unsigned columns) {
  info<T> made{};
  made.data = data, made.dims = 2;
  made.sizes[0] = height, made.sizes[1] = columns, made.strides[0] = columns, made.strides[1] = 1;
  return made;
}

void launch(kernel select, unsigned elements, long limit) {
  // PyTorch's shape of such launches: blocks of 128 threads, eight of them for each SM at most.
  int device, processors;
  MUST(cudaGetDevice(&device));
  MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const unsigned blocks = std::min((elements + 127) / 128, static_cast<unsigned>(processors) * 8);
  select<<<blocks, 128>>>(tensor(out, count, width), tensor<const float>(table, rows, width), tensor<const long>(index_of, 1, count), 0, 0,
                          elements, width, limit);
  MUST(cudaGetLastError());
}

float once(kernel select) {
  cudaEvent_t begin, end;
  float milliseconds;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  MUST(cudaEventRecord(begin));
  for (int i = 0; i < 20; i++) launch(select, total, rows);
  MUST(cudaEventRecord(end));
  MUST(cudaEventSynchronize(end));
  MUST(cudaEventElapsedTime(&milliseconds, begin, end));
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds * 1000 / 20;
}

float median(std::vector<float> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

unsigned long wrong() {
  unsigned long found = 0;
  for (unsigned i = 0; i < count; i++)
    for (unsigned j = 0; j < width; j += 85) found += out[i * width + j] != static_cast<float>(index_of[i] * width + j);
  return found;
}

}  // namespace

int main() {
  MUST(cudaMallocManaged(&out, total * sizeof *out));
  MUST(cudaMallocManaged(&table, rows * width * sizeof *table));
  MUST(cudaMallocManaged(&index_of, count * sizeof *index_of));
  // Whole numbers that a float has.
  for (unsigned i = 0; i < rows * width; i++) table[i] = static_cast<float>(i);
  for (unsigned i = 0; i < count; i++) index_of[i] = i * 7919u % rows;

  hostcall::host::server server(hostcall::host::device::from_cuda_context());
  const auto attached = hostcall::host::attach_cuda_kernel(server, select_hostcall, "select");
  const kernel kernels[] = {select_plain, select_bare, select_cuda, select_hostcall};
  const char *const names[] = {"no check", "a trap", "CUDA's assert", "hostcall's"};
  std::vector<float> times[4];
  // In turns, so that the clock of the GPU is the same for all.
  for (int turn = 0; turn < 31; turn++)
    for (int which = 0; which < 4; which++) {
      const float time = once(kernels[which]);
      if (turn > 0) times[which].push_back(time);
    }
  std::printf("index select of %u rows of %u floats:\n", count, width);
  for (int which = 0; which < 4; which++) {
    const float time = median(times[which]), plain = median(times[0]);
    cudaFuncAttributes about;
    MUST(cudaFuncGetAttributes(&about, kernels[which]));
    std::printf("  %-14s %8.2f us %+6.1f %%  %d registers\n", names[which], time, (time / plain - 1) * 100, about.numRegs);
  }
  server.wait();
  std::printf("wrong results: %lu\n", wrong());

  // Each lane of each launch fails: 135 168 lanes at most are there at a time.
  unsigned long failing = 0, launches = 0;
  while (failing < 1000000) {
    const unsigned lanes = 132 * 8 * 128;
    launch(select_hostcall, lanes, 0);
    failing += lanes, launches++;
    try {
      server.wait();
      std::printf("FAIL: nothing was told\n");
      return 1;
    } catch (const hostcall::host::error &error) {
      if (launches == 1) std::printf("told: %.200s\n", error.what());
    }
  }
  std::fill(out, out + total, 0.0f);
  launch(select_hostcall, total, rows);
  server.wait();
  MUST(cudaDeviceSynchronize());
  std::printf("ok   %lu checks failed in %lu launches; the next launch: %lu wrong results\n", failing, launches, wrong());
  return wrong() != 0;
}
