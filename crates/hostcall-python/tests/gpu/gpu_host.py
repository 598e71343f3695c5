"""The services that kernels of these tests call, and kernels in C++."""

import time

import numpy as np

import hostcall as hc


class Host:
    """The services that all tests call, and what they saw."""

    def __init__(self):
        self.batches, self.messages, self.seconds = [], [], 0.0

        @hc.service(batch=True)
        def add42(x: hc.f32) -> hc.f32:
            self.batches.append(len(x))
            return x + np.float32(42)

        @hc.service
        def twice(x: hc.u32) -> hc.u32:
            return 2 * x

        @hc.service
        def log(message: str):
            self.messages.append(message)

        @hc.service(batch=True)
        def slow(x: hc.u32) -> hc.u32:
            time.sleep(self.seconds)
            return x + np.uint32(1)

        @hc.service(batch=True)
        def odd(x: hc.u32) -> hc.u32:
            return hc.Lanes(x, failed=x % 2 == 1, codes=7, message="odd numbers fail")

        @hc.service(batch=True)
        def broken(x: hc.u32) -> hc.u32:
            raise RuntimeError("this service is broken")

        @hc.service
        def total(values: hc.slice(hc.f64)) -> hc.f64:
            return float(np.sum(values))

        @hc.service
        def split(x: hc.u64) -> hc.tuple(hc.u32, hc.bool):
            return (x >> 32, x % 2 == 1)

        @hc.service
        def note(x: hc.u64):
            self.messages.append(x)

        self.add42, self.twice, self.log, self.slow, self.odd, self.broken = add42, twice, log, slow, odd, broken
        self.total, self.split, self.note = total, split, note
        self.all = [add42, twice, log, slow, odd, broken, total, split, note]


#: Kernels in C++, for the faces that compile it.
SOURCE = """
#include <hostcall_services.cuh>

extern "C" __global__ void demo(float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = Host::add42(y[i]).value_or(-1);
  if (i == 0) Host::log("the first lane is done");
}
extern "C" __global__ void lanes(unsigned* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = Host::twice(i).value_or(~0u);
}
extern "C" __global__ void wait_for_host(unsigned* y) { y[threadIdx.x] = Host::slow(threadIdx.x).value_or(0); }
extern "C" __global__ void odd(unsigned* y) {
  const auto answer = Host::odd(threadIdx.x);
  y[threadIdx.x] = answer.ok() ? answer.value : 1000 + answer.detail;
}
extern "C" __global__ void broken(unsigned* y) { y[threadIdx.x] = Host::broken(threadIdx.x).value_or(5); }
"""
