"""Numba-CUDA."""

import warnings

import numpy as np
import pytest

import hostcall as hc

pytest.importorskip("numba")
cuda = pytest.importorskip("numba.cuda")
hc_numba = pytest.importorskip("hostcall.numba")
warnings.filterwarnings("ignore", message="Grid size")


@pytest.fixture
def server(host):
    cuda.current_context()
    with hc.Server() as server:
        server.register(*host.all)
        yield server


def test_a_kernel_calls_a_batched_service_and_posts_a_text(host, server):
    add42, log = hc_numba.stubs(host.add42, host.log)
    done = hc_numba.text("the first lane is done")

    @cuda.jit
    def demo(y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = add42(y[i])
        if i == 0:
            log(done)

    y = cuda.to_device(np.arange(100_000, dtype=np.float32))
    demo[800, 128](y)
    server.wait()
    np.testing.assert_array_equal(y.copy_to_host(), np.arange(100_000, dtype=np.float32) + 42)
    assert sum(host.batches) == 100_000 and host.messages == ["the first lane is done"]


def test_numbers_slices_and_tuples(host, server):
    twice, total, split, note = hc_numba.stub(host.twice), hc_numba.stub(host.total), hc_numba.stub(host.split), hc_numba.stub(host.note)

    @cuda.jit
    def kernel(values, y, sums, odd):
        i = cuda.grid(1)
        y[i] = twice(i)
        if i < 2:
            sums[i] = total(values[:3] if i == 0 else values)
        high, is_odd = split((np.uint64(i) << np.uint64(32)) | np.uint64(i))
        y[i] += high
        odd[i] = is_odd
        if i == 63:
            note(i)

    values, y = cuda.to_device(np.arange(1000, dtype=np.float64)), cuda.to_device(np.zeros(64, np.uint32))
    sums, odd = cuda.to_device(np.zeros(2)), cuda.to_device(np.zeros(64, np.bool_))
    kernel[2, 32](values, y, sums, odd)
    server.wait()
    np.testing.assert_array_equal(y.copy_to_host(), 3 * np.arange(64))
    np.testing.assert_array_equal(sums.copy_to_host(), [3, 499500])
    np.testing.assert_array_equal(odd.copy_to_host(), np.arange(64) % 2 == 1)
    assert host.messages == [63]


def test_a_call_that_fails_ends_its_lane(host, server):
    odd = hc_numba.stub(host.odd)

    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        y[i] = 100 + odd(i)

    y = cuda.to_device(np.zeros(32, np.uint32))
    kernel[1, 32](y)
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    np.testing.assert_array_equal(y.copy_to_host(), [0 if i % 2 else 100 + i for i in range(32)])
    assert "Host::odd" in str(failed.value)


def test_a_status_instead(host, server):
    odd = hc_numba.stub(host.odd, on_error="value")

    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        status, value = odd(i)
        y[i] = value if status == 0 else 1000

    y = cuda.to_device(np.zeros(32, np.uint32))
    kernel[1, 32](y)
    with pytest.raises(hc.KernelFailed, match="odd numbers fail"):
        server.wait()
    np.testing.assert_array_equal(y.copy_to_host(), [1000 if i % 2 else i for i in range(32)])


def test_a_kernel_is_attached_to_the_next_server(host):
    cuda.current_context()
    twice = hc_numba.stub(host.twice)

    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        y[i] = twice(i)

    for _ in range(3):
        with hc.Server() as server:
            server.register(*host.all)
            y = cuda.to_device(np.zeros(32, np.uint32))
            kernel[1, 32](y)
            server.wait()
            np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(32))


def test_a_launch_without_a_server_warns(host):
    cuda.current_context()
    twice = hc_numba.stub(host.twice)

    @cuda.jit
    def kernel(y):
        y[cuda.grid(1)] = 3 + twice(1)

    y = cuda.to_device(np.zeros(32, np.uint32))
    with pytest.warns(RuntimeWarning, match="no server runs"):
        kernel[1, 32](y)
        cuda.synchronize()
    np.testing.assert_array_equal(y.copy_to_host(), np.zeros(32))


def test_waiting_for_a_stream(host, server):
    twice = hc_numba.stub(host.twice)

    @cuda.jit
    def kernel(y):
        i = cuda.grid(1)
        y[i] = twice(i)

    stream = cuda.stream()
    y = cuda.to_device(np.zeros(32, np.uint32))
    kernel[1, 32, stream](y)
    server.wait(stream=stream)
    np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(32))
