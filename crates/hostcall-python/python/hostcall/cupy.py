"""Kernels of CuPy's ``RawModule`` and ``RawKernel`` that call Python.

    module = cp.RawModule(code='#include <hostcall_services.cuh> …', options=hc.cupy.options(add42))
    server.attach(module)
"""

from __future__ import annotations

from typing import Any

from . import _attach, _need, _source

cupy = _need.package("cupy", "cupy-cuda13x", "hostcall.cupy")


def options(*services: Any) -> tuple[str, ...]:
    """Options of ``RawModule`` and ``RawKernel`` for sources that include ``<hostcall_services.cuh>``, the stubs of ``services``.

    The directory in them is named by a hash of its files, so CuPy's cache finds no kernel that was compiled with other ones.
    """
    return ("-std=c++17", f"-I{_source.directory(*services)}")


class _Adapter:
    """``Server.attach`` of a ``RawModule``, a ``RawKernel``, or the module of either as CuPy has it loaded."""

    @staticmethod
    def matches(object: Any) -> bool:
        return isinstance(object, cupy.RawModule | cupy.RawKernel | cupy.cuda.function.Module | cupy.cuda.function.Function)

    @staticmethod
    def attach(server: Any, object: Any, name: str | None) -> Any:
        # Compiles and loads it for the current device, if it was not yet.
        if isinstance(object, cupy.RawModule):
            object = object.module
        elif isinstance(object, cupy.RawKernel):
            name = name or object.name
            object = object.kernel
        if isinstance(object, cupy.cuda.function.Module):
            return server.attach_cuda_module(object.ptr, name or "a CuPy module")
        return server.attach_cuda_function(object.ptr, name or "a CuPy kernel")


_attach.ADAPTERS.append(_Adapter)
