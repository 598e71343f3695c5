"""Tests on a CUDA device. Each is skipped, with its reason, where the device or a package is missing."""

import ctypes
import time

import numpy as np
import pytest

import hostcall as hc


def why_no_device():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"there is no NVIDIA driver: {error}"
    count = ctypes.c_int()
    status = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
    return f"the driver fails with {status}" if status else None if count.value else "there is no NVIDIA GPU"


WHY = why_no_device()


def pytest_collection_modifyitems(items):
    if WHY is not None:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=WHY))


def pytest_report_header():
    import importlib.metadata as metadata

    names = ["hostcall", "numpy", "cupy-cuda13x", "cuda-core", "cuda-bindings", "numba", "numba-cuda", "torch", "triton"]
    found = []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


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


@pytest.fixture
def host():
    return Host()


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
