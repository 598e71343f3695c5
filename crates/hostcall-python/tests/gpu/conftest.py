"""Tests on a CUDA device. Each is skipped, with its reason, where the device or a package is missing."""

import ctypes

import numpy as np
import pytest
from gpu_host import Host

# numba-cuda 0.30 asks for a name that NumPy 2.5 no longer has, when it is imported. Several files import it.
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack


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

    names = ["hostcall", "numpy", "cupy-cuda13x", "cuda-core", "cuda-bindings", "numba", "numba-cuda", "torch", "triton", "warp-lang"]
    found = []
    for name in names:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


@pytest.fixture
def host():
    return Host()
