"""CuPy."""

import numpy as np
import pytest
from gpu_host import SOURCE

import hostcall as hc

cp = pytest.importorskip("cupy")
hc_cupy = pytest.importorskip("hostcall.cupy")


@pytest.fixture
def server(host):
    cp.cuda.runtime.free(0)
    with hc.Server() as server:
        server.register(*host.all)
        yield server


@pytest.fixture
def module(host, server):
    module = cp.RawModule(code=SOURCE, options=hc_cupy.options(*host.all))
    server.attach(module)
    return module


def test_a_kernel_calls_a_batched_service_and_posts_a_text(host, server, module):
    n = 100_000
    y = cp.arange(n, dtype=cp.float32)
    module.get_function("demo")(((n + 127) // 128,), (128,), (y, np.uint32(n)))
    server.wait()
    np.testing.assert_array_equal(y.get(), np.arange(n, dtype=np.float32) + 42)
    assert sum(host.batches) == n
    assert host.messages == ["the first lane is done"]


def test_a_service_is_called_per_lane(server, module):
    y = cp.zeros(256, cp.uint32)
    module.get_function("lanes")((4,), (64,), (y,))
    server.wait()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(256))


def test_waiting_for_a_stream(server, module):
    stream = cp.cuda.Stream(non_blocking=True)
    y = cp.zeros(64, cp.uint32)
    cp.cuda.Device().synchronize()
    with stream:
        module.get_function("lanes")((1,), (64,), (y,))
        server.wait(stream=stream)
        np.testing.assert_array_equal(y.get(stream=stream), 2 * np.arange(64))


def test_a_raw_kernel_is_attached(host, server):
    kernel = cp.RawKernel(SOURCE.replace("demo", "other_demo"), "other_demo", options=hc_cupy.options(*host.all))
    server.attach(kernel)
    y = cp.zeros(32, cp.float32)
    kernel((1,), (32,), (y, np.uint32(32)))
    server.wait()
    np.testing.assert_array_equal(y.get(), np.full(32, 42, np.float32))


def test_lanes_that_fail_get_their_code_and_the_report_says_so(server, module):
    y = cp.zeros(32, cp.uint32)
    module.get_function("odd")((1,), (32,), (y,))
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    expected = [1007 if i % 2 else i for i in range(32)]
    np.testing.assert_array_equal(y.get(), expected)
    assert "odd numbers fail" in str(failed.value)


def test_an_exception_fails_its_batch_and_the_server_goes_on(server, module):
    y = cp.zeros(32, cp.uint32)
    module.get_function("broken")((1,), (32,), (y,))
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    np.testing.assert_array_equal(y.get(), np.full(32, 5))
    assert "this service is broken" in str(failed.value) and "Traceback" in str(failed.value)
    module.get_function("lanes")((1,), (32,), (y,))
    server.wait()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(32))


def test_another_definition_of_a_service_is_refused(server):
    @hc.service(name="Host::twice")
    def twice(x: hc.u64) -> hc.u64:
        return 2 * x

    code = '#include <hostcall_services.cuh>\nextern "C" __global__ void k(unsigned long long* y) { *y = Host::twice(*y).value_or(0); }'
    module = cp.RawModule(code=code, options=hc_cupy.options(twice))
    with pytest.raises(hc.RefusedError, match="twice"):
        server.attach(module)


def test_a_second_server_gets_the_same_module(host):
    code = SOURCE.replace("demo", "demo_twice")
    for _ in range(2):
        with hc.Server() as server:
            server.register(*host.all)
            module = cp.RawModule(code=code, options=hc_cupy.options(*host.all))
            with server.attach(module):
                y = cp.zeros(32, cp.uint32)
                module.get_function("lanes")((1,), (32,), (y,))
                server.wait()
                np.testing.assert_array_equal(y.get(), 2 * np.arange(32))
