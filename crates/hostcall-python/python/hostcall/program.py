"""Programs with Rust's ``std``, built by ``cargo hostcall build``: what ``cargo hostcall exec FILE`` does."""

from __future__ import annotations

import gzip
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _hostcall
from ._errors import HostcallError, KernelFailed, Report
from ._server import Goes, Server
from ._service import Service

LOG = logging.getLogger("hostcall")

#: Threads and bytes of heap and of a thread's stack, if nothing is said: those of ``cargo hostcall exec``.
THREADS, HEAP, STACK = 128, 256 << 20, 1 << 20
#: What a program has of the simulator's memory beside heap and stacks, and what the simulator has if nothing is said.
BESIDE, MEMORY = 1 << 30, 4 << 30
#: The exit code of a program that panicked, as of Rust programs.
PANICKED = 101


class ProgramFailed(HostcallError):
    """A program ended with another exit code than 0. ``result`` says all of it."""

    def __init__(self, result: Finished) -> None:
        self.result = result
        super().__init__(f"{result.program} ended with exit code {result.returncode}" + (f": {result.report}" if result.report.text else ""))


@dataclass(frozen=True)
class Finished:
    """A program that has ended.

    ``program``: its path. ``returncode``: 0 if it did not fail, 101 if it panicked. ``report``: a ``Report``. ``device``: what it ran on. ``denials``: what it
    asked for and was not granted.
    """

    program: str
    returncode: int
    report: Report
    device: str
    denials: tuple[str, ...]

    def check(self) -> Finished:
        """Raises ``ProgramFailed`` unless the exit code is 0."""
        if self.returncode:
            raise ProgramFailed(self)
        return self


class Program:
    """A program: the file at ``path``, which ``cargo hostcall build`` wrote. Raises ``OSError`` if it cannot be read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        image = self.path.read_bytes()
        self.image = gzip.decompress(image) if image[:2] == b"\x1f\x8b" else image

    @staticmethod
    def run(
        path: str | os.PathLike[str],
        args: Sequence[str] = (),
        *,
        device: str | None = None,
        services: Sequence[Service[..., Any]] = (),
        threads: int | None = None,
        stack: int = STACK,
        heap: int = HEAP,
        timeout: float | None = None,
        dirs: Sequence[str | os.PathLike[str]] = (),
        env: Mapping[str, str] | None = None,
        net: bool | Sequence[str] = False,
        stdin: bytes | None = None,
        stdout: Goes = None,
        stderr: Goes = None,
    ) -> Finished:
        """Runs the program at ``path`` to its end.

        ``args`` are its arguments behind its own name. ``device``: as for ``Server``, but without it the first device that the program was built for.
        ``dirs``, ``env``, ``net``, ``stdin``: what it may use; nothing, if nothing is said. ``services``: Python functions that it calls. ``threads``: the most at
        once, each with ``stack`` bytes of stack; ``heap``: bytes that all share. ``stdout``, ``stderr``: as for ``Server``. Raises ``WaitTimeout`` after ``timeout`` seconds. A program that panics has the exit code 101.
        """
        return Program(path).start(
            args,
            device=device,
            services=services,
            threads=threads,
            stack=stack,
            heap=heap,
            timeout=timeout,
            dirs=dirs,
            env=env,
            net=net,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )

    def start(
        self,
        args: Sequence[str],
        *,
        device: str | None,
        services: Sequence[Service[..., Any]],
        threads: int | None,
        stack: int,
        heap: int,
        timeout: float | None,
        **grants: Any,
    ) -> Finished:
        """As ``run``, which has the defaults, and says what ``args``, ``device``, ``services``, ``threads``, ``stack``, ``heap``, ``timeout`` and the other
        ``grants`` are.
        """
        why = "as was asked for"
        if device is None:
            device, why = _hostcall.default_device(self.image)
        waves = threads or THREADS
        opened = simulator(device, waves, stack, heap)
        server = Server(opened, heap=heap, args=[str(self.path), *args], ports=waves, staging=(min(waves, 1024), 64 << 10), **grants)
        report, code = Report(), 0
        with server:
            LOG.info("running %s on %s (%s)", self.path, server.device["name"], why)
            server.register(*services)
            try:
                server._core.start_program(self.image, waves, stack)
                server.wait(timeout)
            except KernelFailed as error:
                report = error.report
                code = returncode(report)
            denials = tuple(server.denials())
        return Finished(str(self.path), code, report, server.device["name"], denials)

    def __repr__(self) -> str:
        return f"<hostcall.Program {self.path}>"


def returncode(report: Report) -> int:
    """The exit code, as ``cargo hostcall exec`` has it."""
    if report.panics:
        return PANICKED
    if report.exit_code:
        # As the operating system does, the low byte; but a failure is never taken for a success.
        return max(report.exit_code & 0xFF, 1)
    return 1


def simulator(device: str, waves: int, stack: int, heap: int) -> str:
    """The settings of a simulator with room for a program, where they do not say otherwise."""
    kind, _, settings = device.partition(":")
    if kind != "sim":
        return device
    parts = [part.strip() for part in settings.split(",") if part.strip()]
    said = {part.split("=")[0] for part in parts}
    if "stack" not in said:
        parts.append(f"stack={stack}")
    if not said & {"sms", "waves"}:
        parts.append(f"sms={max(-(-waves // 16), 4)}")
    wanted = heap + stack * waves + BESIDE
    if wanted > MEMORY and "memory" not in said:
        # Reserved, not committed.
        parts.append(f"memory={wanted}")
    return "sim:" + ",".join(parts)
