"""Attaching things by what they are. Modules for other packages add their adapters to ``ADAPTERS``."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from . import _hostcall
from ._errors import InvalidError

if TYPE_CHECKING:
    from ._server import Server


class Adapter(Protocol):
    """Knows how to attach some kind of object."""

    def matches(self, object: Any, /) -> bool:
        """Whether it is of that kind. Imports nothing: what has not been imported has no objects."""

    def attach(self, server: Server, object: Any, name: str | None, /) -> _hostcall.Attachment:
        """Attaches it."""


ADAPTERS: list[Adapter] = []

# : What is called with each server that has started: packages that load programs by themselves attach those that are
# there.
STARTED: list[Callable[[Server], object]] = []

_running: list[weakref.ref[Server]] = []


def running() -> list[Server]:
    """The servers of this process that have not been stopped, the one that started last at the end."""
    return [server for reference in _running if (server := reference()) is not None and server.running]


def started(server: Server) -> None:
    """A server answers calls from now on."""
    _running[:] = [reference for reference in _running if reference() is not None]
    _running.append(weakref.ref(server))
    for tell in STARTED:
        tell(server)


def stopping(server: Server) -> None:
    """It is about to stop."""
    _running[:] = [reference for reference in _running if reference() not in (None, server)]


def attach(server: Server, object: Any, name: str | None) -> _hostcall.Attachment:
    """Attaches an object by the first adapter that knows it."""
    for adapter in ADAPTERS:
        if adapter.matches(object):
            return adapter.attach(server, object, name)
    kind = f"{type(object).__module__}.{type(object).__qualname__}"
    raise InvalidError(
        f"no way is known to attach a {kind}: import the module of `hostcall` for its package first, or give CUDA's handle to "
        "`attach_cuda_module`, `attach_cuda_library` or `attach_cuda_function`"
    )


def stream_pointer(stream: Any) -> int | None:
    """CUDA's handle of a stream: a number, or an object of CuPy's, PyTorch's, Numba's or cuda.core's."""
    if stream is None or isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        _, handle = protocol() if callable(protocol) else protocol
        return int(handle)
    for name in ("cuda_stream", "ptr", "handle"):
        handle = getattr(stream, name, None)
        if handle is not None:
            # Numba's is a `ctypes.c_void_p`, whose value of the default stream is None.
            return int(getattr(handle, "value", handle) or 0)
    if type(stream).__module__.startswith("numba.cuda.simulator"):
        return None
    raise InvalidError(f"{stream!r} is no stream: a number is, and what has `__cuda_stream__`, `cuda_stream`, `ptr` or `handle`")
