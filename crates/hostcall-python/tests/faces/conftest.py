"""Tests of the faces without a GPU. Packages that are missing make theirs skip, with the reason."""

import ctypes
import os
from pathlib import Path

import numpy as np
import pytest

import hostcall as hc

ROOT = Path(__file__).resolve().parents[4]


def find_toolkit():
    """NVIDIA's compilers as ``cargo xtask setup`` installs them, or the machine's own."""
    for place in (ROOT / "target/cuda/nvidia/cu13", Path("/usr/local/cuda")):
        if (place / "bin/nvcc").is_file():
            return place
    return None


TOOLKIT = find_toolkit()
if TOOLKIT is not None:
    os.environ.setdefault("CUDA_HOME", str(TOOLKIT))
    # Who looks for them finds what is loaded already.
    for name in ("libcudart.so.13", "libnvrtc.so.13", "libnvvm.so.4"):
        for place in (TOOLKIT / "lib", TOOLKIT / "lib64", TOOLKIT / "nvvm/lib64"):
            if (place / name).is_file():
                ctypes.CDLL(str(place / name), ctypes.RTLD_GLOBAL)
                break


@pytest.fixture
def toolkit():
    if TOOLKIT is None:
        pytest.skip("there is no CUDA toolkit; `cargo xtask setup` installs one")
    return TOOLKIT


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTCALL_CACHE_DIR", str(tmp_path / "hostcall"))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cupy"))


@hc.service(batch=True)
def add42(x: hc.f32) -> hc.f32:
    return x + np.float32(42)


@hc.service
def log(message: str):
    pass


@hc.service
def note(x: hc.u64):
    pass


@hc.service
def nothing() -> hc.unit:
    pass


@hc.service
def small(a: hc.i8, b: hc.u16, yes: hc.bool, letter: hc.char) -> hc.i16:
    return a + b


@hc.service
def wide(a: hc.f64, b: hc.i64) -> hc.f64:
    return a + b


@hc.service
def is_odd(x: hc.u64) -> hc.bool:
    return x % 2 == 1


@hc.service
def split(x: hc.u64) -> hc.tuple(hc.u32, hc.bool):
    return (x >> 32, x % 2 == 1)


@hc.service
def measure(text: str, numbers: hc.slice(hc.f64)) -> hc.f64:
    return len(text) + float(np.sum(numbers))


@hc.service
def fill(value: hc.u16, out: hc.slice_mut(hc.u16)) -> hc.u32:
    out.write(np.full(len(out) // 2, value, np.uint16))
    return len(out)


SERVICES = [add42, log, note, nothing, small, wide, is_odd, split, measure, fill]
SCALAR = [add42, note, nothing, small, wide, is_odd]


@pytest.fixture
def services():
    return {service.definition.function: service for service in SERVICES}


def symbols(cubin):
    """The names in an ELF file's symbol table, with the number of times that each is there."""
    import struct
    from collections import Counter

    assert cubin[:4] == b"\x7fELF"
    at, size, count = struct.unpack_from("<Q", cubin, 40)[0], *struct.unpack_from("<HH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    found = Counter()
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != 2:
            continue
        strings = sections[link][4]
        for entry in range(offset, offset + length, 24):
            name = strings + struct.unpack_from("<I", cubin, entry)[0]
            found[cubin[name : cubin.index(b"\0", name)].decode()] += 1
    return found


def assert_is_attachable(cubin, services):
    """The host finds what it patches by name, once each."""
    found = symbols(cubin)
    names = ["__hostcall_device", "__hostcall_abi"]
    for service in services:
        names += [f"__HOSTCALL__{service.definition.name}", f"__HOSTCALL_SIGNATURE__{service.definition.name}"]
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
