"""Kernels that ``cuda.core`` compiles and calls Python from.

    program = Program(source, "c++", hc.cuda_core.options(add42))
    code = program.compile("cubin")
    server.attach(code)
"""

from __future__ import annotations

from typing import Any

from . import _attach, _driver, _need, _source

core = _need.package("cuda.core", "cuda-core[cu13]", "hostcall.cuda_core")


def options(*services: Any, **more: Any) -> Any:
    """``ProgramOptions`` for sources that include ``<hostcall_services.cuh>``, the stubs of ``services``; ``more`` are further ones."""
    include = more.pop("include_path", None) or []
    include = [include] if isinstance(include, str) else list(include)
    return core.ProgramOptions(**{"std": "c++17", **more, "include_path": [_source.directory(*services), *include]})


class _Adapter:
    """``Server.attach`` of an ``ObjectCode`` or a ``Kernel``."""

    @staticmethod
    def matches(object: Any) -> bool:
        return isinstance(object, core.ObjectCode | core.Kernel)

    @staticmethod
    def attach(server: Any, object: Any, name: str | None) -> Any:
        # Loads it, if it was not yet.
        handle = int(object.handle)
        library = _driver.library_of_kernel(handle) if isinstance(object, core.Kernel) else handle
        return server.attach_cuda_library(library, name or "a program of cuda.core")


_attach.ADAPTERS.append(_Adapter)
