// What a check costs that holds, beside the same kernel without one, with one that only traps, and with CUDA's own
// `assert`, in two kernels of PyTorch's kind; and a million checks that fail: the context stays, and the next launch is
// right.
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

using selection = void (*)(SELECT_PARAMETERS);
using gathering = void (*)(GATHER_PARAMETERS);

namespace {

constexpr unsigned rows = 50257, width = 256, count = 1 << 17, total = count * width;
float *out, *table;
long *index_of;
const char *const names[] = {"no check", "a trap", "CUDA's assert", "hostcall's"};
constexpr int variants = 4;

template <class T>
info<T> tensor(T *data, unsigned height, unsigned columns) {
  info<T> made{};
  made.data = data, made.dims = 2;
  made.sizes[0] = height, made.sizes[1] = columns, made.strides[0] = columns, made.strides[1] = 1;
  return made;
}

void launch(selection select, unsigned elements, long limit) {
  // PyTorch's shape of such launches: blocks of 128 threads, eight of them for each SM at most.
  int device, processors;
  MUST(cudaGetDevice(&device));
  MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  const unsigned blocks = std::min((elements + 127) / 128, static_cast<unsigned>(processors) * 8);
  select<<<blocks, 128>>>(tensor(out, count, width), tensor<const float>(table, rows, width), tensor<const long>(index_of, 1, count), 0, 0,
                          elements, width, limit);
  MUST(cudaGetLastError());
}

// PyTorch's shape of these: a block for each index, and 16 bytes a thread.
void launch(gathering gather) {
  constexpr unsigned bytes = width * sizeof(float);
  gather<<<count, std::min(256u, bytes / 16)>>>(reinterpret_cast<char *>(out), reinterpret_cast<const char *>(table), index_of, bytes, rows,
                                                bytes, bytes, true);
  MUST(cudaGetLastError());
}

// Microseconds of a launch.
template <class Launch>
float once(Launch launched) {
  cudaEvent_t begin, end;
  float milliseconds;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  MUST(cudaEventRecord(begin));
  for (int i = 0; i < 20; i++) launched();
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

// Times of the four kernels, in turns, so that the clock of the GPU is the same for all.
template <class Kernel, class Launch>
void compare(const char *what, const Kernel (&kernels)[variants], Launch launched) {
  std::vector<float> times[variants];
  for (int turn = 0; turn < 31; turn++)
    for (int which = 0; which < variants; which++) {
      const float time = once([&] { launched(kernels[which]); });
      if (turn > 0) times[which].push_back(time);
    }
  std::printf("%s of %u rows of %u floats:\n", what, count, width);
  for (int which = 0; which < variants; which++) {
    const float time = median(times[which]), plain = median(times[0]);
    cudaFuncAttributes about;
    MUST(cudaFuncGetAttributes(&about, kernels[which]));
    std::printf("  %-14s %8.2f us %+6.1f %%  %d registers\n", names[which], time, (time / plain - 1) * 100, about.numRegs);
  }
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
  compare("index select", {select_plain, select_bare, select_cuda, select_hostcall},
          [](selection select) { launch(select, total, rows); });
  server.wait();
  unsigned long failed = wrong();
  std::fill(out, out + total, 0.0f);
  compare("gather", {gather_plain, gather_bare, gather_cuda, gather_hostcall}, [](gathering gather) { launch(gather); });
  server.wait();
  failed += wrong();
  std::printf("wrong results: %lu\n", failed);

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
  return failed + wrong() != 0;
}
