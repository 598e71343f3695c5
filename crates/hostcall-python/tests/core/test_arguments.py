"""What kernels in C++ take is compared with what they are given; and what is said of kernels that do not compile or are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hostcall as hc

KERNEL = """
HOSTCALL_KERNEL(scale, float* y, float by, unsigned n) {
    const auto i = hostcall::global_id();
    if (i < n) y[i] *= by;
}

HOSTCALL_KERNEL(kinds, const unsigned* u, const double* d, int i, long long wide, void* any) {}
"""


@pytest.fixture
def kernels() -> Iterator[Any]:
    with hc.Server("sim") as server:
        module = hc.sim.Module(KERNEL)
        server.attach(module)
        yield module
        server.wait()


def refused(kernels: Any, kernel: str, *arguments: Any) -> str:
    with pytest.raises(hc.InvalidError) as error:
        kernels.launch(kernel, 1, 32, *arguments)
    return str(error.value)


def test_numbers_of_python_become_what_the_kernel_takes(kernels: Any) -> None:
    y = np.ones(4, np.float32)
    kernels.launch("scale", 1, 32, y, 2.5, 4)
    kernels.launch("scale", 1, 32, y, 2, np.uint32(4))
    while not kernels._loaded.idle():
        pass
    assert y.tolist() == [5.0] * 4


def test_arrays_have_the_elements_that_the_kernel_takes(kernels: Any) -> None:
    said = refused(kernels, "scale", np.zeros(3), 1.0, 3)
    assert said == "argument 0 of `scale` is an array of float64, and the kernel takes `float*`: pass an array of np.float32"
    assert "array of int32" in refused(kernels, "scale", np.zeros(3, np.int32), 1.0, 3)
    u, d, any = np.zeros(1, np.uint32), np.zeros(1), np.zeros(1, np.int16)
    assert "`unsigned*`" in refused(kernels, "kinds", u.view(np.int32), d, 1, 2, any)
    assert "`double*`" in refused(kernels, "kinds", u, d.view(np.int64), 1, 2, any)
    assert "an array, and the kernel takes `int`" in refused(kernels, "kinds", u, d, u, 2, any)
    assert "an array, and the kernel takes `long long`" in refused(kernels, "kinds", u, d, 1, u, any)
    # What a pointer to nothing in particular points at, nobody knows.
    kernels.launch("kinds", 1, 32, u, d, -1, -1, any)


def test_numbers_have_the_type_and_the_sign_that_the_kernel_takes(kernels: Any) -> None:
    y = np.ones(4, np.float32)
    assert "pass np.float32(…)" in refused(kernels, "scale", y, np.float64(2), 4)
    assert "pass np.float32(…)" in refused(kernels, "scale", y, np.int32(2), 4)
    assert "-1, does not fit into `unsigned`" in refused(kernels, "scale", y, 1.0, -1)
    assert "4294967296, does not fit into `unsigned`" in refused(kernels, "scale", y, 1.0, 1 << 32)
    assert "is a float, and the kernel takes `unsigned`" in refused(kernels, "scale", y, 1.0, 4.0)
    assert "is a float, and the kernel takes `float*`" in refused(kernels, "scale", 1.0, 1.0, 4)


def test_a_kernel_that_is_missing_is_told_in_the_words_of_cpp(kernels: Any) -> None:
    with pytest.raises(hc.NotFoundError) as error:
        kernels.launch("scael", 1, 32)
    said = str(error.value)
    assert "its kernels are scale, kinds" in said and "HOSTCALL_KERNEL(scael, " in said and "pub fn" not in said


def test_a_compile_error_is_about_the_kernel_alone() -> None:
    @hc.service
    def add42(x: hc.f32) -> hc.f32:
        return x

    with pytest.raises(hc.CompileError) as error:
        hc.sim.Module("HOSTCALL_KERNEL(demo, float* y) { y[0] = nothing; }", [add42])
    said = str(error.value)
    assert "kernel:1:" in said and "nothing" in said and "warning" not in said, said
