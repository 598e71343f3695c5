"""Synchronise functions while a kernel waits for Python: none of them may hang, and a held interpreter lock is told."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from gpu_host import SOURCE

import hostcall as hc

cp = pytest.importorskip("cupy", reason="the kernel that waits is CuPy's")
hc_cupy = pytest.importorskip("hostcall.cupy")


@pytest.fixture
def waiting(host):
    """Launches a kernel, on a stream or on the default one, whose call takes a quarter of a second; and says whether it went well."""
    cp.cuda.runtime.free(0)
    with hc.Server() as server:
        server.register(*host.all)
        module = cp.RawModule(code=SOURCE, options=hc_cupy.options(*host.all))
        server.attach(module)
        host.seconds = 0.25
        kernel = module.get_function("wait_for_host")
        launched = []

        def launch(stream=None):
            y = cp.zeros(32, cp.uint32)
            cp.cuda.Device().synchronize()
            launched.append(y)
            if stream is None:
                kernel((1,), (32,), (y,))
            else:
                with stream:
                    kernel((1,), (32,), (y,))

        yield launch
        server.wait()
        for y in launched:
            np.testing.assert_array_equal(y.get(), np.arange(1, 33))


def cupy_stream():
    return cp.cuda.Stream(non_blocking=True)


def test_cupys_stream(waiting):
    stream = cupy_stream()
    waiting(stream)
    stream.synchronize()


def test_cupys_event(waiting):
    stream, event = cupy_stream(), cp.cuda.Event()
    waiting(stream)
    event.record(stream)
    event.synchronize()


def test_cupys_device(waiting):
    waiting()
    cp.cuda.Device().synchronize()


def test_cupys_copy_to_the_host(waiting):
    stream = cupy_stream()
    waiting(stream)
    with stream:
        cp.zeros(4).get(stream=stream)


def test_torchs_device(waiting):
    torch = pytest.importorskip("torch")
    torch.cuda.init()
    waiting()
    torch.cuda.synchronize()


def test_torchs_stream_and_event(waiting):
    torch = pytest.importorskip("torch")
    stream, event = torch.cuda.Stream(), torch.cuda.Event()
    waiting(cp.cuda.ExternalStream(stream.cuda_stream))
    event.record(stream)
    event.synchronize()
    waiting(cp.cuda.ExternalStream(stream.cuda_stream))
    stream.synchronize()


def test_torchs_copy_to_the_host(waiting):
    torch = pytest.importorskip("torch")
    y = torch.ones(4, device="cuda")
    waiting()
    assert y.sum().item() == 4


def test_numbas_context_stream_and_event(waiting):
    pytest.importorskip("numba")
    cuda = pytest.importorskip("numba.cuda")
    stream, event = cuda.stream(), cuda.event()
    waiting()
    cuda.synchronize()
    waiting(cp.cuda.ExternalStream(int(getattr(stream.handle, "value", stream.handle) or 0)))
    event.record(stream)
    event.synchronize()
    waiting(cp.cuda.ExternalStream(int(getattr(stream.handle, "value", stream.handle) or 0)))
    stream.synchronize()


def test_cuda_cores_device_stream_and_event(waiting):
    core = pytest.importorskip("cuda.core")
    device = core.Device(0)
    device.set_current()
    stream = device.create_stream()
    waiting(cp.cuda.ExternalStream(int(stream.handle)))
    stream.sync()
    waiting(cp.cuda.ExternalStream(int(stream.handle)))
    stream.record().sync()
    waiting()
    device.sync()


HELD = """
import ctypes, cupy as cp, numpy as np, hostcall as hc, hostcall.cupy
from gpu_host import Host, SOURCE
host = Host()
with hc.Server() as server:
    server.register(*host.all)
    module = cp.RawModule(code=SOURCE, options=hc.cupy.options(*host.all))
    server.attach(module)
    y = cp.zeros(32, cp.uint32)
    cp.cuda.Device().synchronize()
    module.get_function("lanes")((1,), (32,), (y,))
    # Holds the lock for four seconds: `PyDLL` does not release it.
    ctypes.PyDLL(None).usleep(4_000_000)
    server.wait()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(32))
print("done")
"""


def test_a_held_interpreter_lock_is_told():
    child = subprocess.run(
        [sys.executable, "-c", HELD], capture_output=True, text=True, timeout=120, cwd=os.path.dirname(os.path.abspath(__file__)), check=False
    )
    assert child.returncode == 0, child.stderr
    assert "holds the interpreter lock" in child.stderr and "server.wait()" in child.stderr, child.stderr
    assert child.stdout == "done\n"


def test_a_timeout_names_the_call(host):
    with hc.Server() as server:
        server.register(*host.all)
        module = cp.RawModule(code=SOURCE, options=hc_cupy.options(*host.all))
        server.attach(module)
        host.seconds = 1.0
        y = cp.zeros(32, cp.uint32)
        module.get_function("wait_for_host")((1,), (32,), (y,))
        with pytest.raises(hc.WaitTimeout, match="Host::slow"):
            server.wait(timeout=0.2)
        server.wait()
        np.testing.assert_array_equal(y.get(), np.arange(1, 33))


def test_ctrl_c_ends_a_wait_and_neither_the_kernel_nor_the_server(host):
    with hc.Server() as server:
        server.register(*host.all)
        module = cp.RawModule(code=SOURCE, options=hc_cupy.options(*host.all))
        server.attach(module)
        host.seconds = 1.0
        y = cp.zeros(32, cp.uint32)
        cp.cuda.Device().synchronize()
        module.get_function("wait_for_host")((1,), (32,), (y,))
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            server.wait()
        server.wait()
        np.testing.assert_array_equal(y.get(), np.arange(1, 33))
        module.get_function("lanes")((1,), (32,), (y,))
        server.wait()
        np.testing.assert_array_equal(y.get(), 2 * np.arange(32))
