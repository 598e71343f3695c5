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
_codes: list[_Code] = []


def stub(service: Any, *, on_error: str | None = None) -> Any:
    """A function that kernels call, which calls ``service``.

    Arguments and results are numbers and booleans; a result can be a tuple of them. Slices are one-dimensional contiguous arrays, ``str`` is an
    array of bytes (``text``). A call that fails ends its lane, and ``Server.wait`` raises. With ``on_error="value"`` the function returns
    ``(status, value)``: status 0, or why there is no value.
    """
    return stubs(service, on_error=on_error)[0]


def stubs(*services: Any, on_error: str | None = None) -> tuple[Any, ...]:
    """As ``stub``, for several ``services``. Raises ``ValueError`` if ``on_error`` is neither None nor ``"value"``."""
    if on_error not in (None, "value"):
        raise ValueError(f'on_error is None (a call that fails ends its lane) or "value" (the stub returns a status, too), not {on_error!r}')
    wires = [wire(service) for service in services]
    for each in wires:
        _numba_source.check(each)
    if simulated():
        from . import _numba_sim

        return tuple(_numba_sim.Stub(each, on_error) for each in wires)
    for each, service in zip(wires, services):
        if (each, on_error) not in _stubs:
            signature = _numba_source.signature(each, on_error)
            _stubs[each, on_error] = cuda.declare_device(_numba_source.symbol(each, on_error), signature, link=_code(each, service, on_error))
    return tuple(_stubs[each, on_error] for each in wires)


def text(message: str) -> np.ndarray:
    """``message`` as kernels pass it for a ``str``: an array of its bytes in UTF-8, to be made outside of the kernel."""
    return np.frombuffer(message.encode(), np.uint8)


def simulated() -> bool:
    """Whether Numba simulates CUDA in this process."""
    return bool(cuda.config.ENABLE_CUDASIM)


def _code(wire: Wire, service: Any, on_error: str | None) -> Any:
    """The code that has this stub. A service that was defined anew begins another."""
    if not _codes or any(each.name == wire.name and each != wire for each in _codes[-1].services):
        _codes.append(_Code())
    code = _codes[-1]
    code.services[wire] = service
    code.functions.setdefault(on_error, []).append(wire)
    return code


def _attach(library: Any) -> None:
    _loaded.loaded("library", int(library.handle), "a Numba kernel")


def _detach(library: Any) -> None:
    _loaded.unloaded("library", int(library.handle))


# The simulator has no such class, and needs none.
class _Code(getattr(cuda, "CUSource", object)):  # type: ignore[misc]
    """The source of all stubs, as far as there are any when a kernel is linked.

    A kernel gets one source however many stubs it calls, because nvJitLink before 13.5 refuses a second definition of a global, though both are weak.
    """

    def __init__(self) -> None:
        super().__init__("", name="hostcall-stubs.cu", setup_callback=_attach, teardown_callback=_detach)
        self.services: dict[Wire, Any] = {}
        self.functions: dict[str | None, list[Wire]] = {}

    @property
    def data(self) -> str:
        functions = (_numba_source.functions(wires, on_error) for on_error, wires in self.functions.items())
        return _source.whole(*self.services.values()) + "".join(functions)
