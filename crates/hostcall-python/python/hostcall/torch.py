"""PyTorch's C++ extensions whose kernels call Python.

    module = hc.torch.load_inline("mine", cpp_sources="void run(torch::Tensor);", cuda_sources=SOURCE, functions=["run"],
                                  services=[add42], kernel="demo")
    server.attach(module)
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from . import _attach, _need, _source

#: The function that gives the module away.
_FUNCTION = "hostcall_function"


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str],
    *,
    services: Sequence[Any],
    kernel: str,
    functions: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] = (),
    **more: Any,
) -> Any:
    """``torch.utils.cpp_extension.load_inline`` for sources whose kernels call ``services``.

    ``name``, ``cpp_sources``, ``cuda_sources``, ``functions``, ``extra_include_paths`` and ``more`` are its own.

    Functions run without the interpreter lock, which the handlers of their kernels need while a launch blocks (``CUDA_LAUNCH_BLOCKING=1``, profilers):
    they must not touch Python's objects. The stubs are included before the sources. ``kernel`` is any ``__global__`` function of them: ``Server.attach`` finds the module by its symbol.
    """
    extension = _need.package("torch.utils.cpp_extension", "torch", "hostcall.torch")
    cpp = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    cuda = [cuda_sources] if isinstance(cuda_sources, str) else list(cuda_sources)
    return extension.load_inline(
        name,
        cpp_sources=[*cpp, f"unsigned long long {_FUNCTION}();", _WITHOUT_LOCK],
        cuda_sources=["#include <hostcall_services.cuh>", *cuda, _binding(kernel)],
        functions=[*(functions or []), _FUNCTION],
        extra_include_paths=[_source.directory(*services), *extra_include_paths],
        with_cuda=True,
        **more,
    )


#: PyTorch's own binding of each function, in the form that releases the lock.
_WITHOUT_LOCK = "#define wrap_pybind_function wrap_pybind_function_no_gil"


def _binding(kernel: str) -> str:
    return f"""
#include <stdexcept>
unsigned long long {_FUNCTION}() {{
  cudaFunction_t function = nullptr;
  const cudaError_t error = cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&{kernel}));
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
  return reinterpret_cast<unsigned long long>(function);
}}
"""


class _Adapter:
    """``Server.attach`` of an extension that ``load_inline`` made."""

    @staticmethod
    def matches(object: Any) -> bool:
        return isinstance(object, ModuleType) and hasattr(object, _FUNCTION)

    @staticmethod
    def attach(server: Any, object: Any, name: str | None) -> Any:
        return server.attach_cuda_function(getattr(object, _FUNCTION)(), name or object.__name__)


_attach.ADAPTERS.append(_Adapter)
