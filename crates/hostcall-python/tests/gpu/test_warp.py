"""Warp."""

import numpy as np
import pytest

import hostcall as hc

wp = pytest.importorskip("warp")
hc_warp = pytest.importorskip("hostcall.warp")
from gpu_host import Host  # noqa: E402

#: Warp's kernels name global functions only. The host's state is made anew for each test.
HOST = Host()
CALLED = [HOST.add42, HOST.twice, HOST.odd, HOST.note]
add42, twice, odd, note = (hc_warp.stub(service) for service in CALLED)
wp.set_module_options({"extra_build_options": hc_warp.options(*CALLED)})


@wp.kernel
def demo(y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = add42(y[i])
    if i == 0:
        note(wp.uint64(7))


@wp.kernel
def lanes(y: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    y[i] = twice(wp.uint32(i))


@wp.kernel
def failing(y: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    y[i] = odd(wp.uint32(i)) + wp.uint32(100)


@pytest.fixture
def server():
    wp.set_device("cuda:0")
    HOST.batches.clear()
    HOST.messages.clear()
    with hc.Server() as server:
        server.register(*HOST.all)
        with server.attach(wp.get_module(__name__)):
            yield server


def test_each_lane_calls_once_and_one_posts(server):
    n = 100_000
    y = wp.array(np.arange(n, dtype=np.float32), dtype=wp.float32)
    wp.launch(demo, dim=n, inputs=[y])
    server.wait(stream=wp.get_stream())
    np.testing.assert_array_equal(y.numpy(), np.arange(n, dtype=np.float32) + 42)
    assert sum(HOST.batches) == n and HOST.messages == [7]


def test_warps_own_wait_lets_the_handlers_run(server):
    y = wp.zeros(256, dtype=wp.uint32)
    wp.launch(lanes, dim=256, inputs=[y])
    wp.synchronize()
    np.testing.assert_array_equal(y.numpy(), 2 * np.arange(256))
    server.wait()


def test_a_call_that_fails_ends_its_lane_and_the_report_says_so(server):
    y = wp.zeros(32, dtype=wp.uint32)
    wp.launch(failing, dim=32, inputs=[y])
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait(stream=wp.get_stream())
    assert "odd numbers fail" in str(failed.value)
    assert y.numpy()[1] == 0, "the lane ended before it stored"
