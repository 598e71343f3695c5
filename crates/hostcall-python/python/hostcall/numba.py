"""Kernels of Numba-CUDA that call Python.

    add42 = hc.numba.stub(service)         # callable in @cuda.jit kernels

A stub is a function in C++ that Numba compiles with NVRTC and links into the kernel. What Numba loads is attached by itself, to the server that
runs. Under Numba's simulator (``NUMBA_ENABLE_CUDASIM=1``) a stub is a Python function that calls the same server.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _driver, _loaded, _need, _numba_source, _source
from ._wire import Wire, wire

cuda = _need.package("numba.cuda", "numba-cuda[cu13]", "hostcall.numba")

#: Of each service, and way to fail, the function that there is: two of one name do not link.
_stubs: dict[tuple[Wire, str | None], Any] = {}


def stub(service: Any, *, on_error: str | None = None) -> Any:
    """A function that kernels call, which calls ``service``.

    Arguments and results are numbers and booleans; a result can be a tuple of them. Slices are one-dimensional contiguous arrays, ``str`` is an
    array of bytes (``text``). A call that fails ends its lane, and ``Server.wait`` raises. With ``on_error="value"`` the function returns
    ``(status, value)``: status 0, or why there is no value.
    """
    return stubs(service, on_error=on_error)[0]


def stubs(*services: Any, on_error: str | None = None) -> tuple[Any, ...]:
    """As ``stub``, for several services: compiled together, which takes as long as one."""
    if on_error not in (None, "value"):
        raise ValueError(f'on_error is None (a call that fails ends its lane) or "value" (the stub returns a status, too), not {on_error!r}')
    wires = [wire(service) for service in services]
    for each in wires:
        _numba_source.check(each)
    if simulated():
        from . import _numba_sim

        return tuple(_numba_sim.Stub(each, on_error) for each in wires)
    missing = {each: service for each, service in zip(wires, services, strict=True) if (each, on_error) not in _stubs}
    if missing:
        source = _source.whole(*missing.values()) + _numba_source.functions(list(missing), on_error)
        code = cuda.CUSource(source, name="hostcall-stubs.cu", setup_callback=_attach, teardown_callback=_detach)
        for each in missing:
            _stubs[each, on_error] = cuda.declare_device(
                _numba_source.symbol(each, on_error), _numba_source.signature(each, on_error), link=code
            )
    return tuple(_stubs[each, on_error] for each in wires)


def text(message: str) -> np.ndarray:
    """``message`` as kernels pass it for a ``str``: an array of its bytes in UTF-8, to be made outside of the kernel."""
    return np.frombuffer(message.encode(), np.uint8)


def simulated() -> bool:
    """Whether Numba simulates CUDA in this process."""
    return bool(cuda.config.ENABLE_CUDASIM)


def _attach(library: Any) -> None:
    _loaded.loaded("library", int(library.handle), "a Numba kernel")


def _detach(library: Any) -> None:
    _loaded.unloaded("library", int(library.handle))
