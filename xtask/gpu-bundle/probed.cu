// A program that knows nothing of hostcall, for `run-probe`: two kernels whose accesses can be counted, and one that is
// timed. It prints `right`, and of the third kernel the registers and the milliseconds of its launches.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                     \
  do {                                                                  \
    cudaError_t e = (call);                                             \
    if (e != cudaSuccess) {                                             \
      std::printf("wrong: %s: %s\n", #call, cudaGetErrorString(e));     \
      return 1;                                                         \
    }                                                                   \
  } while (0)

__global__ void rows(const float *in, float *out, int side) {
  int lane = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = 0; column < side; column++) out[column * side + lane] = in[lane * side + column];
}
__global__ void other(float *out) { out[threadIdx.x] *= 2; }
__global__ void copied(const float *in, float *out) {
  size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  out[at] = in[at] + 1;
}

int main() {
  const int side = 64;
  std::vector<float> a(side * side), b(side * side);
  for (int i = 0; i < side * side; i++) a[i] = (float)i;
  float *in, *out;
  CHECK(cudaMalloc(&in, sizeof(float) * a.size()));
  CHECK(cudaMalloc(&out, sizeof(float) * b.size()));
  CHECK(cudaMemcpy(in, a.data(), sizeof(float) * a.size(), cudaMemcpyHostToDevice));
  for (int i = 0; i < 3; i++) rows<<<2, 32>>>(in, out, side);
  other<<<1, 64>>>(out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(b.data(), out, sizeof(float) * b.size(), cudaMemcpyDeviceToHost));
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++)
      if (b[j * side + i] != a[i * side + j] * (j == 0 ? 2 : 1)) {
        std::printf("wrong at %d, %d: %f\n", i, j, b[j * side + i]);
        return 1;
      }

  const size_t lanes = (size_t)1 << 22;
  float *from, *to;
  CHECK(cudaMalloc(&from, sizeof(float) * lanes));
  CHECK(cudaMalloc(&to, sizeof(float) * lanes));
  CHECK(cudaMemset(from, 0, sizeof(float) * lanes));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  cudaFuncAttributes about;
  CHECK(cudaFuncGetAttributes(&about, copied));
  std::printf("copied: %d registers, ms", about.numRegs);
  for (int i = 0; i < 4; i++) {
    CHECK(cudaEventRecord(begin));
    copied<<<(unsigned)(lanes / 256), 256>>>(from, to);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    std::printf(" %.3f", ms);
  }
  std::printf("\nright\n");
  return 0;
}
