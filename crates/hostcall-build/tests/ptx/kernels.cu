// Kernels of many kinds, each for several types: what nvcc makes of them is put through `tests/ptx`.
#include <cstdio>

template <typename T> struct Pair { T a, b; };
template <typename T, int N> struct alignas(sizeof(T) * N) Vector { T of[N]; };

template <typename T> __device__ __noinline__ T weigh(const T *from, int i, T by) { return from[i] * by + from[i + 1]; }
template <typename T> __device__ __noinline__ T deep(const T *from, int n) { return n <= 0 ? from[0] : deep(from, n - 1) + from[n]; }
template <typename T> __device__ T twice(T x) { return x + x; }
template <typename T> __device__ T thrice(T x) { return x + x + x; }
template <typename T> __device__ __noinline__ Pair<T> both(Pair<T> one, const Pair<T> *more) { return {one.a + more->a, one.b + more->b}; }

template <typename T> __global__ void copy(const T *from, T *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}
template <typename T> __global__ void __launch_bounds__(128, 8) unrolled(const T *__restrict__ from, T *to) {
#pragma unroll
  for (int k = 0; k < 8; k++) to[threadIdx.x + 128 * k] = from[threadIdx.x * 8 + k];
}
template <typename T> __global__ void vectors(const Vector<T, 4> *__restrict__ from, Vector<T, 4> *to, Vector<T, 2> *two) {
  Vector<T, 4> v = from[threadIdx.x];
  to[threadIdx.x] = v;
  two[threadIdx.x].of[0] = v.of[1];
  two[threadIdx.x].of[1] = v.of[3];
}
template <typename T> __global__ void reduce(const T *from, T *to, int n) {
  __shared__ T part[256];
  T sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += from[i];
  part[threadIdx.x] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) to[blockIdx.x] = part[0];
}
template <typename T> __global__ void transposed(const T *from, T *to, int side) {
  extern __shared__ unsigned char raw[];
  T *tile = reinterpret_cast<T *>(raw);
  tile[threadIdx.y * 33 + threadIdx.x] = from[threadIdx.y * side + threadIdx.x];
  __syncthreads();
  to[threadIdx.y * side + threadIdx.x] = tile[threadIdx.x * 33 + threadIdx.y];
}
template <typename T> __global__ void called(const T *from, T *to, int n) {
  to[threadIdx.x] = weigh(from, threadIdx.x, from[n]) + weigh(from + n, n, T(2)) + deep(from, n);
}
template <typename T> __global__ void pairs(const Pair<T> *from, Pair<T> *to) {
  Pair<T> one = from[threadIdx.x];
  to[threadIdx.x] = both(both(from[threadIdx.x + 1], &from[7]), from + (one.a > T(3)));
}
template <typename T> __global__ void pointers(T (**to)(T), T *out, int n) {
  T (*f)(T) = n & 1 ? twice<T> : thrice<T>;
  out[threadIdx.x] = f(out[n]) + (to[n] ? to[n](out[1]) : T(0));
}
template <typename T> __global__ void chosen(const T *from, T *to, int n) {
  T v = from[threadIdx.x];
  switch (n) {
  case 0: v += 1; break;
  case 1: v = from[1] * v; break;
  case 2: to[3] = v; [[fallthrough]];
  case 3: v -= from[2]; break;
  case 4: v = v * v; break;
  case 5: to[5] = v; return;
  case 6: v = from[v > T(0)]; break;
  default: v = 0;
  }
  to[threadIdx.x] = v;
}
template <typename T> __global__ void locals(const T *from, T *to, int n) {
  T own[32];
  for (int k = 0; k < 32; k++) own[k] = from[k * n];
  for (int k = 0; k < n; k++) own[(k * 7) & 31] += own[(k * 5) & 31];
  to[threadIdx.x] = own[n & 31];
}
template <typename T> __global__ void flat(T *a, T *b, bool other) {
  __shared__ T own[64];
  T *p = other ? own : a;
  p[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  b[threadIdx.x] = p[63 - threadIdx.x];
}
template <typename T> __global__ void lanes(const T *from, T *to) {
  T v = from[threadIdx.x];
  for (int by = 16; by; by /= 2) v += __shfl_xor_sync(0xffffffff, v, by);
  unsigned all = __ballot_sync(0xffffffff, v > T(0));
  if (threadIdx.x % 32 == 0) to[threadIdx.x / 32] = v + T(__popc(all));
}
template <typename T> __global__ void counted(T *to, const T *from) {
  __shared__ T own[32];
  atomicAdd(&own[threadIdx.x & 31], from[threadIdx.x]);
  __syncthreads();
  atomicAdd(&to[threadIdx.x & 7], own[threadIdx.x & 31]);
  T old = atomicExch(&to[9], from[1]);
  if (old > T(5)) atomicAdd_block(&to[10], old);
}
template <typename T> __global__ void compared(T *to, T n) {
  atomicMax(&to[0], n);
  atomicCAS(&to[1], n, n + 1);
  while (atomicCAS(&to[2], T(0), T(1)) != T(0)) {}
  to[3]++;
  __threadfence();
  atomicExch(&to[2], T(0));
}
template <typename T> __global__ void piped(const T *from, T *to, int n) {
  __shared__ alignas(16) T own[2][128];
  for (int k = 0; k < n; k++) {
    auto at = static_cast<unsigned>(__cvta_generic_to_shared(&own[k & 1][threadIdx.x]));
    int bytes = k == n - 1 ? 0 : sizeof(T);
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from + k * 128 + threadIdx.x), "n"(sizeof(T)), "r"(bytes) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;" ::: "memory");
#else
    own[k & 1][threadIdx.x] = from[at + bytes];
#endif
    __syncthreads();
    to[k * 128 + threadIdx.x] = own[k & 1][127 - threadIdx.x];
  }
}
template <typename T> __global__ void spoken(const T *from, int n) {
  if (from[threadIdx.x] > T(n)) printf("%d %f\n", n, double(from[n]));
}
template <typename T> __global__ void assembled(T *to, int n) {
  unsigned before = 0;
  asm volatile("{ .reg .pred p; setp.gt.s32 p, %2, 3; @p ld.global.u32 %0, [%1+4]; @!p st.global.u32 [%1], %2; }" : "+r"(before) : "l"(to), "r"(n) : "memory");
  asm volatile("{ .reg .pred p; W: ld.volatile.global.u32 %0, [%1]; setp.ne.u32 p, %0, 0; @!p bra W; }" : "=r"(before) : "l"(to) : "memory");
  to[1] = T(before);
}

#ifdef FEW
#define NUMBERS(M) M(int) M(double)
#define ALL(M) NUMBERS(M) M(short)
#define COUNTED(M) M(float)
#else
#define INTS(M) M(int) M(unsigned) M(long long) M(unsigned long long)
#define NUMBERS(M) INTS(M) M(float) M(double)
#define ALL(M) NUMBERS(M) M(short) M(unsigned char)
#define COUNTED(M) M(int) M(unsigned) M(unsigned long long) M(float)
#endif

#define OF_ALL(T)                                                                                                      \
  template __global__ void copy<T>(const T *, T *, int);                                                               \
  template __global__ void unrolled<T>(const T *, T *);                                                                \
  template __global__ void vectors<T>(const Vector<T, 4> *, Vector<T, 4> *, Vector<T, 2> *);                           \
  template __global__ void reduce<T>(const T *, T *, int);                                                             \
  template __global__ void transposed<T>(const T *, T *, int);                                                         \
  template __global__ void called<T>(const T *, T *, int);                                                             \
  template __global__ void pairs<T>(const Pair<T> *, Pair<T> *);                                                       \
  template __global__ void pointers<T>(T (**)(T), T *, int);                                                           \
  template __global__ void chosen<T>(const T *, T *, int);                                                             \
  template __global__ void locals<T>(const T *, T *, int);                                                             \
  template __global__ void flat<T>(T *, T *, bool);                                                                    \
  template __global__ void spoken<T>(const T *, int);                                                                  \
  template __global__ void assembled<T>(T *, int);
#define OF_NUMBERS(T)                                                                                                  \
  template __global__ void lanes<T>(const T *, T *);                                                                   \
  template __global__ void piped<T>(const T *, T *, int);
#define OF_COUNTED(T) template __global__ void counted<T>(T *, const T *);

ALL(OF_ALL)
NUMBERS(OF_NUMBERS)
COUNTED(OF_COUNTED)
template __global__ void compared<int>(int *, int);
template __global__ void compared<unsigned long long>(unsigned long long *, unsigned long long);
