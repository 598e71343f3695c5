"""Code that runs on a GPU calls Python functions beside it, while the kernel is still running.

To begin with: ``service`` decorates what kernels call; ``Server`` answers, with ``"sim"`` without a GPU; ``sim.Module`` is a kernel in C++ for it;
``Server.attach`` and ``Server.wait``; ``u32``, ``f32`` and the other types of arguments. A program of a few lines::

    @hostcall.service(batch=True)
    def add42(x: hostcall.f32) -> hostcall.f32:
        return x + np.float32(42)

    KERNEL = "HOSTCALL_KERNEL(demo, float* y) { auto i = hostcall::global_id(); y[i] = Host::add42(y[i]).value_or(-1); }"
    y = np.arange(32, dtype=np.float32)
    with hostcall.Server("sim") as server:
        server.register(add42)
        module = hostcall.sim.Module(KERNEL, [add42])
        server.attach(module)
        module.launch("demo", 1, 32, y)
        server.wait()
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ._system import unsupported as _unsupported

if (_why := _unsupported()) is not None:
    raise ImportError(_why)

from . import _attach, _hostcall, _names, sim, types
from ._asserts import asserts
from ._definition import Argument, Definition, bindings, cuda_source
from ._errors import (
    CompileError,
    DeviceError,
    DeviceLost,
    DevicePanic,
    Failure,
    HandlerFailure,
    HeldLockError,
    HostcallError,
    InvalidError,
    KernelFailed,
    NotFoundError,
    OutOfMemoryError,
    RefusedError,
    Report,
    StoppedError,
    StreamError,
    UnavailableError,
    UnknownService,
    WaitTimeout,
)
from ._hostcall import Attachment, RecordBatch
from ._message import Message, stream
from ._names import *  # noqa: F403 - the types of the wire, among them `bool`, `str`, `slice` and `tuple`
from ._server import Server
from ._service import Lanes, Service, service
from ._serving import Out
from ._stats import Latency, Progress, ServiceStats, Stats
from ._streams import Stream, StreamCounts, Streams
from ._types import Err, Ok, Type
from .program import Finished, Program, ProgramFailed
from .sim import include_dir

__version__ = _hostcall.VERSION

#: Modules that are imported by themselves, because they import other packages.
_FACES = {"cuda_core", "cupy", "numba", "torch", "triton", "warp"}

if not _TYPE_CHECKING:  # A checker would believe that there is everything.

    def __getattr__(name: str) -> object:
        hint = f": `import hostcall.{name}` first" if name in _FACES else ""
        raise AttributeError(f"module 'hostcall' has no attribute {name!r}{hint}")


__all__ = [
    "Argument",
    "Attachment",
    "CompileError",
    "Definition",
    "DeviceError",
    "DeviceLost",
    "DevicePanic",
    "Err",
    "Failure",
    "Finished",
    "HandlerFailure",
    "HeldLockError",
    "HostcallError",
    "InvalidError",
    "KernelFailed",
    "Lanes",
    "Latency",
    "Message",
    "NotFoundError",
    "Ok",
    "Out",
    "OutOfMemoryError",
    "Program",
    "ProgramFailed",
    "Progress",
    "RecordBatch",
    "RefusedError",
    "Report",
    "Server",
    "Service",
    "ServiceStats",
    "Stats",
    "StoppedError",
    "Stream",
    "StreamCounts",
    "StreamError",
    "Streams",
    "Type",
    "UnavailableError",
    "UnknownService",
    "WaitTimeout",
    "asserts",
    "bindings",
    "cuda_source",
    "include_dir",
    "service",
    "sim",
    "stream",
    "types",
]
__all__ += _names.__all__
