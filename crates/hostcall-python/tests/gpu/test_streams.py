"""Streams: what kernels in CUDA C++ send, as tables."""

import ctypes
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import hostcall as hc

NVCC = shutil.which("nvcc") or next((path for path in ["/usr/local/cuda/bin/nvcc"] if os.path.exists(path)), None)


@hc.stream
class Loss:
    step: hc.u32
    value: hc.f32
    parts: hc.array[hc.u16, 2]


@hc.stream(policy="drop")
class Mark:
    number: hc.i64


@hc.service
def go_on() -> hc.unit:
    SEEN.append("asked")


SEEN: list = []

SOURCE = """
HOSTCALL_KERNEL(train, unsigned steps) {
    const auto i = hostcall::global_id();
    for (unsigned step = 0; step < steps; step++)
        hostcall::send(Loss{step, (float)i, {{(hostcall::u16)step, (hostcall::u16)i}}});
    if (i == 0) Host::go_on();
}
HOSTCALL_KERNEL(marks, unsigned count) {
    const auto i = hostcall::global_id();
    for (unsigned n = 0; n < count; n++) hostcall::send(Mark{(long long)i * count + n});
}
HOSTCALL_KERNEL(fails, unsigned steps) {
    for (unsigned step = 0; step < steps; step++) hostcall::send(Loss{step, 0, {}});
    hostcall::abort("on purpose");
}
"""


class Module:
    """Kernels, launched through the driver."""

    def __init__(self, image):
        self.cuda, device, self.context, self.module = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDeviceGet(ctypes.byref(device), 0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), device))
        self.check(self.cuda.cuCtxSetCurrent(self.context))
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(self.module), ctypes.c_char_p(image + b"\0")))

    @staticmethod
    def check(status):
        assert status == 0, f"the driver says {status}"

    def launch(self, kernel, groups, group_size, count):
        function, count = ctypes.c_void_p(), ctypes.c_uint32(count)
        self.check(self.cuda.cuCtxSetCurrent(self.context))
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), self.module, kernel.encode()))
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(count))
        self.check(self.cuda.cuLaunchKernel(function, groups, 1, 1, group_size, 1, 1, 0, None, arguments, None))


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    if NVCC is None:
        pytest.skip("there is no nvcc")
    directory = tmp_path_factory.mktemp("streams")
    source, out = directory / "streams.cu", directory / "streams.ptx"
    source.write_text(hc.cuda_source(Loss, Mark, go_on) + SOURCE)
    subprocess.run([NVCC, "-std=c++17", "-arch=native", "-ptx", "-I", hc.include_dir(), source, "-o", out], check=True)
    return out.read_bytes()


def columns(stream, *names):
    batches = list(stream)
    return [np.concatenate([np.asarray(batch[name]) for batch in batches]) for name in names]


def test_every_value_is_a_row_with_who_sent_it(image):
    groups, size, steps = 264, 256, 200
    with hc.Server() as server:
        module = Module(image)
        server.register(go_on)
        streams = server.streams(Loss, Mark)
        server.attach_cuda_module(module.module.value, "streams")
        for _ in range(2):
            module.launch("train", groups, size, steps)
        server.wait()
        counts = streams["Loss"].counts
        assert counts.values == len(streams["Loss"]) == 2 * groups * size * steps
        assert counts.sent == counts.received and counts.dropped == 0
        value, step, parts, workgroup = columns(streams["Loss"], "value", "step", "parts", "workgroup")
    lane = value.astype(np.int64)
    assert (workgroup == lane // size).all()
    assert (parts[:, 0] == step).all() and (parts[:, 1] == lane % 65536).all()
    keys, times = np.unique(lane * steps + step, return_counts=True)
    assert len(keys) == groups * size * steps and (times == 2).all()
    assert SEEN == ["asked"] * 2


def test_what_is_dropped_is_counted(image):
    with hc.Server() as server:
        module = Module(image)
        server.register(go_on)
        streams = server.streams(Loss, Mark, memory=1, threads=1)
        server.attach_cuda_module(module.module.value, "streams")
        module.launch("marks", 264, 256, 500)
        server.wait()
        counts = streams["Mark"].counts
        assert counts.sent == 264 * 8 * 500 == counts.received + counts.dropped
        (number,) = columns(streams["Mark"], "number")
        assert counts.values == len(number) == len(np.unique(number)) and number.max() < 264 * 256 * 500
    print(counts)


def test_a_kernel_that_fails_has_sent_what_it_sent(image, tmp_path):
    # The device is lost for the process.
    (tmp_path / "image.ptx").write_bytes(image)
    program = f"""
import pathlib, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from test_streams import Loss, Mark, Module, go_on, hc
with hc.Server() as server:
    module = Module(pathlib.Path({str(tmp_path / "image.ptx")!r}).read_bytes())
    server.register(go_on)
    streams = server.streams(Loss, Mark)
    server.attach_cuda_module(module.module.value, "streams")
    module.launch("fails", 1, 32, 4)
    try:
        server.wait()
    except hc.HostcallError as error:
        print(type(error).__name__, error)
    print(streams["Loss"].num_rows, "rows")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert "128 rows" in ran.stdout and "on purpose" in ran.stdout, f"{ran.stdout}\n{ran.stderr}"
