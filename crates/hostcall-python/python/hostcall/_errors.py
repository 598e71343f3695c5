"""What goes wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class HostcallError(Exception):
    """Everything that this package raises, but the errors of Python's own."""


class InvalidError(HostcallError, ValueError):
    """An argument cannot be."""


class NotFoundError(HostcallError, LookupError):
    """There is no kernel, service or symbol of this name."""


class RefusedError(HostcallError):
    """A program or service cannot be attached or registered: its name is taken, or it was built with another definition."""


class StoppedError(HostcallError, RuntimeError):
    """The server has stopped, or belongs to the process that this one was forked from."""


class DeviceError(HostcallError, RuntimeError):
    """The device's driver refused."""


class UnavailableError(DeviceError):
    """There is no such device, or no driver for it."""


class OutOfMemoryError(DeviceError):
    """The device or the system has no memory left."""


class DeviceLost(DeviceError):
    """The device's context is lost: with CUDA, only a new process has the device again. ``report`` is what was reported before."""

    report: Any = None


class WaitTimeout(HostcallError, TimeoutError):
    """The time to wait was over. The text names the calls that are open. Kernels and handlers go on."""


class CompileError(HostcallError):
    """The compiler refused a kernel. The text is what it said."""


class HeldLockError(HostcallError, RuntimeError):
    """Waiting here would wait for ever: the thread that would answer is the one that waits."""


@dataclass(frozen=True)
class DevicePanic:
    """Lanes that panicked, or failed a check of a kernel in C++: the first of them, and how many.

    ``program``: the kernel's. ``message``, ``file``, ``line``: what it said, and where in the source, if that is known. ``block``, ``thread``: coordinates of
    the first lane. ``lanes``: how many panicked.
    """

    program: str
    message: str
    file: str | None
    line: int | None
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    lanes: int


@dataclass(frozen=True)
class HandlerFailure:
    """A service that failed lanes: ``service``, the ``code`` that ``lanes`` lanes got, and why. The ``message`` of an exception is its traceback."""

    service: str
    code: int
    message: str
    lanes: int


@dataclass(frozen=True)
class UnknownService:
    """A ``service`` that was called and is not registered: ``calls`` and ``posts`` of it."""

    service: str
    calls: int
    posts: int


@dataclass(frozen=True)
class Report:
    """What a wait reports. As a condition it is true if nothing failed.

    ``text``: all of it for people. ``success``: whether nothing failed. ``exit_code``: with which the kernel ended itself, and ``exits``, all such codes.
    ``panics``: each a ``DevicePanic``. ``handler_failures``: each a ``HandlerFailure``. ``handler_panics``: faults in services of the package itself.
    ``unknown_services``: each an ``UnknownService``. ``malformed``: messages that no client writes. ``omitted``: entries beyond those that are kept.
    """

    text: str = ""
    success: bool = True
    exit_code: int | None = None
    panics: tuple[DevicePanic, ...] = ()
    exits: tuple[int, ...] = ()
    handler_failures: tuple[HandlerFailure, ...] = ()
    handler_panics: tuple[dict[str, Any], ...] = ()
    unknown_services: tuple[UnknownService, ...] = ()
    malformed: int = 0
    omitted: int = 0

    @classmethod
    def of(cls, found: dict[str, Any]) -> Report:
        """From what the extension module ``found``."""
        parts = dict(found)
        parts["panics"] = tuple(
            DevicePanic(**{**panic, "block": tuple(panic["block"]), "thread": tuple(panic["thread"])}) for panic in found["panics"]
        )
        parts["handler_failures"] = tuple(HandlerFailure(**failure) for failure in found["handler_failures"])
        parts["unknown_services"] = tuple(UnknownService(**unknown) for unknown in found["unknown_services"])
        parts["exits"], parts["handler_panics"] = tuple(found["exits"]), tuple(found["handler_panics"])
        return cls(**parts)

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return self.success


class StreamError(HostcallError):
    """Streams cannot start, a program has another definition of one, or what was sent did not come whole or was not kept."""


class KernelFailed(HostcallError):
    """A kernel or a service failed. ``report`` says all of it."""

    def __init__(self, found: dict[str, Any] | Report) -> None:
        self.report = found if isinstance(found, Report) else Report.of(found)
        super().__init__(self.report.text)

    def __reduce__(self) -> Any:
        return (KernelFailed, (self.report,))

    @property
    def panics(self) -> tuple[DevicePanic, ...]:
        """Lanes that panicked."""
        return self.report.panics

    @property
    def exit_code(self) -> int | None:
        """The code with which the kernel ended itself."""
        return self.report.exit_code


@dataclass
class Failure(Exception):
    """Raised by a service: the calling lane gets the code, the host's report the message. In a batch: all its lanes."""

    code: int = 1
    message: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.code < 1 << 32:
            raise InvalidError(f"a failure's code is a u32, not {self.code}")
        super().__init__(self.code, self.message)

    def __str__(self) -> str:
        return self.message or f"failed with code {self.code}"
