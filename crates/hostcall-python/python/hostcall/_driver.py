"""The few questions that the faces ask CUDA's driver: which context is current, and what is in a module."""

from __future__ import annotations

import ctypes
import functools

#: The global that every program has that makes calls.
ABI = b"__hostcall_abi"


@functools.cache
def _cuda() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def current_context() -> int | None:
    """The context that is current on this thread, or None."""
    cuda, context = _cuda(), ctypes.c_void_p()
    if cuda is None or cuda.cuCtxGetCurrent(ctypes.byref(context)) != 0:
        return None
    return context.value


def module_calls(module: int) -> bool:
    """Whether a ``CUmodule`` has kernels that make calls."""
    return _has(lambda cuda, pointer, size: cuda.cuModuleGetGlobal_v2(pointer, size, ctypes.c_void_p(module), ABI))


def library_calls(library: int) -> bool:
    """Whether a ``CUlibrary`` has kernels that make calls."""
    return _has(lambda cuda, pointer, size: cuda.cuLibraryGetGlobal(pointer, size, ctypes.c_void_p(library), ABI))


def library_of_kernel(kernel: int) -> int:
    """The ``CUlibrary`` of a ``CUkernel``."""
    cuda, library = _cuda(), ctypes.c_void_p()
    if cuda is None:
        raise RuntimeError("there is no libcuda.so.1: install NVIDIA's driver")
    status = cuda.cuKernelGetLibrary(ctypes.byref(library), ctypes.c_void_p(kernel))
    if status != 0 or not library.value:
        raise RuntimeError(f"cuKernelGetLibrary failed with {status}: is it a kernel of a live library?")
    return library.value


def _has(ask) -> bool:  # type: ignore[no-untyped-def]
    cuda = _cuda()
    if cuda is None:
        return False
    pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
    return bool(ask(cuda, ctypes.byref(pointer), ctypes.byref(size)) == 0)
