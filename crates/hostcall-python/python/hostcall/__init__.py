"""Code that runs on a GPU calls Python functions beside it, while the kernel is still running."""

from __future__ import annotations

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
