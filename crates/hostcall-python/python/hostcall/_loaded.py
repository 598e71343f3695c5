"""Programs that Numba and Triton load by themselves, at a kernel's first launch, and the servers that they are attached to.

A program is attached to the server that runs in its context, the one that started last if there are several. One that is loaded while none runs
is remembered, and attached when a server starts; so is one whose server has ended.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _attach, _driver


@dataclass
class _Program:
    attach: Callable[[Any], Any]
    name: str
    context: int | None
    server: Any = None
    attachment: Any = None


#: Of one thread several times: what is freed while it is held may be a program that is unloaded.
_lock = threading.RLock()
_programs: dict[tuple[str, int], _Program] = {}


def loaded(kind: str, pointer: int, name: str) -> None:
    """A ``module`` or ``library`` with calls in it has been loaded in the current context."""
    with _lock:
        if (kind, pointer) in _programs:
            return
        program = _Program(lambda server: getattr(server, f"attach_cuda_{kind}")(pointer, name), name, _driver.current_context())
        _programs[kind, pointer] = program
    server = _server_of(program)
    if server is None:
        warnings.warn(
            f"{name} calls the host, and no server runs: its calls fail until there is one. Launch it inside `with hostcall.Server()`",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    try:
        _give(program, server)
    except BaseException:
        # The next launch asks again.
        with _lock:
            _programs.pop((kind, pointer), None)
        raise


def unloaded(kind: str, pointer: int) -> None:
    """It is about to be unloaded."""
    with _lock:
        program = _programs.pop((kind, pointer), None)
    if program is not None and program.attachment is not None and program.server in _attach.running():
        program.attachment.detach()


def _server_of(program: _Program) -> Any:
    for server in reversed(_attach.running()):
        if _context_of(server) == program.context:
            return server
    return None


def _context_of(server: Any) -> int | None:
    """A simulator has none."""
    context: int | None = server.device["context"]
    return context


def _give(program: _Program, server: Any) -> None:
    # Without the lock: what is attached may wait for a kernel that waits for a handler that loads a program.
    program.attachment = program.attach(server)
    program.server = server


def _started(server: Any) -> None:
    context = _context_of(server)
    if context is None:
        return
    running = _attach.running()
    with _lock:
        waiting = [program for program in list(_programs.values()) if program.context == context and program.server not in running]
    for program in waiting:
        _give(program, server)


_attach.STARTED.append(_started)
