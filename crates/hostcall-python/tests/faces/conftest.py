"""Tests of the faces without a GPU. Packages that are missing make theirs skip, with the reason."""

import ctypes
import os
import site
from pathlib import Path

import pytest
from face_services import SERVICES

ROOT = Path(__file__).resolve().parents[4]


def find_toolkit():
    """NVIDIA's compilers: packages of this Python, those that ``cargo xtask setup`` installs, or the machine's own."""
    packages = [Path(directory, "nvidia/cu13") for directory in site.getsitepackages()]
    for place in (*packages, ROOT / "target/cuda/nvidia/cu13", Path("/usr/local/cuda")):
        if (place / "bin/nvcc").is_file():
            return place
    return None


TOOLKIT = find_toolkit()
if TOOLKIT is not None:
    os.environ.setdefault("CUDA_HOME", str(TOOLKIT))
    # Who looks for them finds what is loaded already: all of one version.
    for pattern in ("libcudart.so.13", "libnvrtc-builtins.so.*", "libnvrtc.so.13", "libnvvm.so.4"):
        places = (TOOLKIT / "lib", TOOLKIT / "lib64", TOOLKIT / "nvvm/lib64")
        for library in [file for place in places for file in place.glob(pattern)][:1]:
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


@pytest.fixture
def toolkit():
    if TOOLKIT is None:
        pytest.skip("there is no CUDA toolkit; `cargo xtask setup` installs one")
    return TOOLKIT


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTCALL_CACHE", str(tmp_path / "hostcall"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy"))


@pytest.fixture
def services():
    return {service.definition.function: service for service in SERVICES}
