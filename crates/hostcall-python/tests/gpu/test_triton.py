"""Triton."""

import numpy as np
import pytest

import hostcall as hc

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
hc_triton = pytest.importorskip("hostcall.triton")
import triton.language as tl  # noqa: E402
from gpu_host import Host  # noqa: E402

#: Triton's kernels name global functions only. The host's state is made anew for each test.
HOST = Host()
add42, twice, odd, note = (hc_triton.stub(service) for service in (HOST.add42, HOST.twice, HOST.odd, HOST.note))
LIBS = hc_triton.libs(HOST.add42, HOST.twice, HOST.odd, HOST.note)


@triton.jit
def demo(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, add42(tl.load(x + i, mask=inside), mask=inside), mask=inside)
    note(i.to(tl.uint64), mask=i == 0)


@triton.jit
def lanes(y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, twice(i.to(tl.uint32), mask=i % 3 == 0, other=5).to(tl.int32))


@triton.jit
def failing(y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, odd(i.to(tl.uint32)).to(tl.int32) + 100)


@triton.jit
def too_small(y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, twice(i.to(tl.uint32)).to(tl.int32))


@pytest.fixture
def server():
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    HOST.batches.clear()
    HOST.messages.clear()
    with hc.Server() as server:
        server.register(*HOST.all)
        yield server


def test_each_element_inside_the_mask_calls_once(server):
    n = 100_000
    x = torch.arange(n, dtype=torch.float32, device="cuda")
    y = torch.zeros_like(x)
    demo[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, extern_libs=LIBS)
    server.wait()
    assert torch.equal(y, x + 42)
    assert sum(HOST.batches) == n and HOST.messages == [0]


@pytest.mark.parametrize("warps", [1, 4, 8])
def test_elements_outside_the_mask_get_other(server, warps):
    y = torch.zeros(512, dtype=torch.int32, device="cuda")
    lanes[(1,)](y, BLOCK=512, num_warps=warps, extern_libs=LIBS)
    server.wait()
    assert y.tolist() == [2 * i if i % 3 == 0 else 5 for i in range(512)]


def test_a_call_that_fails_ends_its_lane(server):
    y = torch.zeros(128, dtype=torch.int32, device="cuda")
    failing[(1,)](y, BLOCK=128, extern_libs=LIBS)
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    assert "Host::odd" in str(failed.value) and "odd numbers fail" in str(failed.value)
    # A lane that fails ends the kernel: the lanes of other warps end if they call after that.
    assert all(value == 0 if i % 2 else value in (0, 100 + i) for i, value in enumerate(y.tolist()))
    assert any(y.tolist())


def test_tensors_that_several_lanes_have_are_refused(server):
    y = torch.zeros(64, dtype=torch.int32, device="cuda")
    with pytest.raises(Exception, match="called for 64 elements by 128 lanes"):
        too_small[(1,)](y, BLOCK=64, extern_libs=LIBS)
    too_small[(1,)](y, BLOCK=64, num_warps=2, extern_libs=LIBS)
    server.wait()
    assert y.tolist() == [2 * i for i in range(64)]


def test_a_kernel_is_attached_to_the_next_server():
    for _ in range(2):
        with hc.Server() as server:
            server.register(*HOST.all)
            y = torch.zeros(512, dtype=torch.int32, device="cuda")
            lanes[(1,)](y, BLOCK=512, num_warps=2, extern_libs=LIBS)
            server.wait()
            np.testing.assert_array_equal(y.cpu().numpy(), [2 * i if i % 3 == 0 else 5 for i in range(512)])
