"""Numba's simulator, end to end: kernels in Python call services through the wire. It is chosen when Numba is imported, so each test is a process."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from doc_programs import program  # noqa: E402

pytest.importorskip("numba")
pytest.importorskip("numba.cuda")

BEGIN = """
import warnings
import numpy as np
import hostcall as hc, hostcall.numba
from numba import cuda
import numba.cuda.simulator
assert hc.numba.simulated()
batches, messages = [], []

@hc.service(batch=True)
def add42(x: hc.f32) -> hc.f32:
    batches.append(len(x))
    return x + np.float32(42)

@hc.service
def log(message: str):
    messages.append(message)
"""


def run(code, **environment):
    script = BEGIN + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_a_kernel_calls_a_batched_service_and_posts_a_text():
    run("""
        add42_, log_ = hc.numba.stubs(add42, log)
        done = hc.numba.text("the first lane is done: \\u00fc")

        @cuda.jit
        def demo(y):
            i = cuda.grid(1)
            if i < y.size:
                y[i] = add42_(y[i])
            if i == 0:
                log_(done)

        y = np.arange(200, dtype=np.float32)
        with hc.Server("sim") as server:
            server.register(add42, log)
            demo[8, 32](y)
            server.wait()
        assert (y == np.arange(200) + 42).all(), y
        assert sum(batches) == 200 and messages == ["the first lane is done: \\u00fc"], messages
    """)


def test_all_types_that_stubs_have():
    run("""
        @hc.service
        def mixed(a: hc.i8, b: hc.u16, c: hc.i64, d: hc.f64, yes: hc.bool, letter: hc.char) -> hc.tuple(hc.i8, hc.u64, hc.f64, hc.bool):
            assert (type(yes), letter) == (bool, "\\u00fc"), (yes, letter)
            return (a, b + c, d, not yes)

        @hc.service
        def total(numbers: hc.slice(hc.u16), text: str) -> hc.f64:
            return float(numbers.sum()) + len(text)

        @hc.service
        def halve(out: hc.slice_mut(hc.u16), other: hc.slice_mut(hc.u8)) -> hc.u32:
            out.write(np.arange(len(out) // 2, dtype=np.uint16) + 1)
            other[:] = 9
            return len(out)

        @hc.service
        def nothing() -> hc.unit:
            messages.append("nothing")

        stubs = hc.numba.stubs(mixed, total, halve, nothing)
        text = hc.numba.text("four")

        @cuda.jit
        def kernel(y, numbers, out, other):
            a, b, c, d = stubs[0](-3, 65535, 1 << 40, 0.5, True, ord("\\u00fc"))
            y[0], y[1], y[2], y[3] = a, b, c, d
            y[4] = stubs[1](numbers, text)
            y[5] = stubs[2](out, other)
            if stubs[3]() is None:
                y[6] = 1

        y, numbers = np.zeros(7), np.full(50_000, 3, np.uint16)
        out, other = np.full(7, 100, np.uint16), np.zeros(5, np.uint8)
        with hc.Server("sim") as server:
            server.register(mixed, total, halve, nothing)
            kernel[1, 1](y, numbers, out, other)
            server.wait()
        assert y.tolist() == [-3, 65535 + (1 << 40), 0.5, 0, 150_004, 7, 1], y
        assert out.tolist() == [1, 2, 3, 100, 100, 100, 100] and other.tolist() == [9] * 5, (out, other)
        assert messages == ["nothing"]
    """)


def test_a_call_that_fails_ends_its_lane_and_wait_raises():
    run("""
        @hc.service(batch=True)
        def odd(x: hc.u32) -> hc.u32:
            return hc.Lanes(x, failed=x % 2 == 1, codes=7, message="odd numbers fail")

        odd_ = hc.numba.stub(odd)
        odd_status = hc.numba.stub(odd, on_error="value")

        @cuda.jit
        def kernel(y, status):
            i = cuda.grid(1)
            status[i], _ = odd_status(i)
            cuda.syncthreads()
            y[i] = 100 + odd_(i)

        y, status = np.zeros(8), np.zeros(8)
        with hc.Server("sim") as server:
            server.register(odd)
            kernel[1, 8](y, status)
            try:
                server.wait()
                raise SystemExit("it did not fail")
            except hc.KernelFailed as failed:
                assert "odd numbers fail" in str(failed) and "Host::odd" in str(failed), failed
                assert {panic.thread[0] for panic in failed.panics} <= {1, 3, 5, 7}, failed.panics
            server.wait()
        # A lane that fails ends the kernel: others end when they call after that.
        assert all(y[i] == 0 if i % 2 else y[i] in (0, 100 + i) for i in range(8)), y
        assert [s != 0 for s in status] == [i % 2 == 1 for i in range(8)], status
    """)


def test_an_exception_and_a_service_that_is_not_there():
    run("""
        @hc.service(batch=True)
        def broken(x: hc.u32) -> hc.u32:
            raise RuntimeError("this service is broken")

        @hc.service
        def nobody(x: hc.u32) -> hc.u32:
            return x

        broken_, nobody_ = hc.numba.stubs(broken, nobody, on_error="value")

        @cuda.jit
        def kernel(y):
            y[0], _ = broken_(1)
            y[1], _ = nobody_(1)

        y = np.zeros(2)
        with hc.Server("sim") as server:
            server.register(broken)
            kernel[1, 1](y)
            try:
                server.wait()
                raise SystemExit("it did not fail")
            except hc.KernelFailed as failed:
                assert "this service is broken" in str(failed) and "Traceback" in str(failed), failed
        assert y[0] != 0 and y[1] != 0 and y[0] != y[1], y
    """)


def test_arguments_that_cannot_be_are_told():
    run("""
        @hc.service
        def total(numbers: hc.slice(hc.u16)) -> hc.u32:
            return int(numbers.sum())

        stub = hc.numba.stub(total)

        @cuda.jit
        def strided(y, numbers):
            y[0] = stub(numbers[::2])

        @cuda.jit
        def of_floats(y, numbers):
            y[0] = stub(y)

        with hc.Server("sim") as server:
            server.register(total)
            for kernel in strided, of_floats:
                try:
                    kernel[1, 1](np.zeros(1), np.zeros(4, np.uint16))
                    raise SystemExit("it was taken")
                except TypeError as error:
                    assert "one-dimensional contiguous array of uint16" in str(error), error
    """)


def test_without_a_server_a_kernel_says_so():
    run("""
        stub = hc.numba.stub(add42)

        @cuda.jit
        def kernel(y):
            y[0] = stub(y[0])

        try:
            kernel[1, 1](np.zeros(1, np.float32))
            raise SystemExit("it ran")
        except hc.StoppedError as error:
            assert "no server runs" in str(error), error
        for _ in range(2):
            y = np.zeros(1, np.float32)
            with hc.Server("sim") as server:
                server.register(add42)
                kernel[1, 1](y)
            assert y[0] == 42
    """)


def test_the_stream_of_the_simulator_can_be_waited_for():
    run("""
        with hc.Server("sim") as server:
            server.wait(stream=cuda.stream())
    """)


def test_the_program_of_the_documentation_runs():
    done = subprocess.run(
        [sys.executable, "-c", program("Numba")],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the kernel says: the first lane is done\n[42. 43. 44. 45.]\n"
