"""cuda.core."""

import numpy as np
import pytest
from gpu_host import SOURCE

import hostcall as hc

core = pytest.importorskip("cuda.core")
hc_core = pytest.importorskip("hostcall.cuda_core")
cp = pytest.importorskip("cupy", reason="CuPy's arrays are the kernels' memory here")


@pytest.fixture
def device():
    device = core.Device(0)
    device.set_current()
    return device


@pytest.mark.parametrize("what", ["code", "kernel"])
def test_a_program_and_a_kernel_of_one_are_attached(host, device, what):
    stream = device.create_stream()
    with hc.Server() as server:
        server.register(*host.all)
        options = hc_core.options(*host.all, arch=f"sm_{device.arch}")
        code = core.Program(SOURCE, "c++", options).compile("cubin")
        kernel = code.get_kernel("demo")
        server.attach(code if what == "code" else kernel)
        n = 4096
        y = cp.arange(n, dtype=cp.float32)
        cp.cuda.Device().synchronize()
        core.launch(stream, core.LaunchConfig(grid=n // 128, block=128), kernel, y.data.ptr, np.uint32(n))
        server.wait(stream=stream)
        np.testing.assert_array_equal(y.get(), np.arange(n, dtype=np.float32) + 42)
        assert sum(host.batches) == n and host.messages == ["the first lane is done"]
