"""Triton."""

import subprocess
import sys
from pathlib import Path

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


@triton.jit(debug=True)
def checked(y, most, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(i < most, "an index below the most")
    tl.store(y + i, i)


@triton.jit(debug=True)
def checked_and_called(y, most, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(i < most)
    tl.store(y + i, twice(i.to(tl.uint32)).to(tl.int32))


def line_of(text):
    """Where the first line with this text is in this file."""
    return next(number for number, line in enumerate(Path(__file__).read_text().splitlines(), 1) if text in line)


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


def below(most, size=128):
    return [i if i < most else -1 for i in range(size)]


def run_checked(most):
    """Each lane has one element. All numbers that the tests give have one kernel: none is 1 or a multiple of 16."""
    y = torch.full((128,), -1, dtype=torch.int32, device="cuda")
    checked[(1,)](y, most, BLOCK=128, num_warps=4)
    return y


def test_a_failed_assert_is_raised_and_the_context_lives():
    assert run_checked(130).tolist() == below(130)
    with pytest.raises(hc.KernelFailed) as failed, hc.asserts():
        y = run_checked(100)
    (panic,) = failed.value.panics
    assert panic.message == "assertion `an index below the most` failed"
    assert (Path(panic.file).name, panic.line) == (Path(__file__).name, line_of('"an index below the most"'))
    assert (panic.block, panic.thread, panic.lanes) == ((0, 0, 0), (100, 0, 0), 28) and "checked" in panic.program
    assert y.tolist() == below(100)
    with hc.asserts():
        y = run_checked(130)
    assert y.tolist() == below(130)
    assert run_checked(130).tolist() == below(130)


def test_the_twin_that_reports_is_attached_to_each_server_in_turn(capsys):
    for most in (100, 130, 61):
        with hc.asserts(raises=False):
            y = run_checked(most)
        assert y.tolist() == below(most)
        assert ("an index below the most" in capsys.readouterr().err) == (most < 130)


def test_asserts_are_reported_beside_calls(server):
    libs = hc_triton.libs(HOST.twice, asserts=True)
    y = torch.full((512,), -1, dtype=torch.int32, device="cuda")
    checked_and_called[(4,)](y, 500, BLOCK=128, extern_libs=libs)
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    (panic,) = failed.value.panics
    assert panic.message == "assertion `tl.device_assert` failed" and panic.lanes == 12 and panic.block == (3, 0, 0)
    assert y.tolist() == [2 * i if i < 500 else -1 for i in range(512)]


ALONE = """
import sys
sys.path.insert(0, {here!r})
import test_triton as t
y = t.torch.zeros(128, dtype=t.torch.int32, device="cuda")
t.checked[(1,)](y, 100, BLOCK=128, extern_libs=t.hc_triton.libs(asserts=True))
t.torch.cuda.synchronize()
"""


def test_without_a_server_it_fails_as_cudas_does():
    code = ALONE.format(here=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode != 0 and "device-side assert triggered" in done.stderr
    assert "Assertion `an index below the most` failed" in done.stdout + done.stderr
