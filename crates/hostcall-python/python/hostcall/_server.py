"""The server."""

from __future__ import annotations

import asyncio
import codecs
import contextvars
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Literal

from . import _hostcall
from ._attach import attach, started, stopping, stream_pointer
from ._errors import HeldLockError, InvalidError, KernelFailed, Report, StoppedError, StreamError, UnavailableError, WaitTimeout
from ._service import Service
from ._serving import Serving
from ._message import Named, Policy
from ._notebook import at_each_cell
from ._stats import Progress, ServiceStats, Stats
from ._streams import Streams

LOG = logging.getLogger("hostcall")

#: Seconds from one telling of progress to the next.
INTERVAL = 0.5

Goes = Literal["process", "nowhere"] | IO[str] | Callable[[str], object] | None


class Server:
    """Answers calls of kernels while they run, until its ``with`` block ends. A block that raises nothing waits first, as ``wait`` does, unless the
    last ``wait`` ended before the kernels.

    ``device``: ``"sim"``, ``"cuda:N"``, or None for the GPU of the CUDA context that is current on this thread, else the first GPU. A context of somebody
    else's must live as long as the server.

    ``loop``: where ``async def`` services run; else on a thread of the server's own. ``stdout``, ``stderr``: where prints of kernels go: None for
    ``sys.stdout`` and ``sys.stderr`` as they are at that time, a file, a function of a text, ``"process"`` for the file descriptor, ``"nowhere"``.
    ``latencies``: keep histograms for ``stats``. ``dirs``, ``env``, ``args``, ``net``, ``stdin``: what kernels may use, as ``docs/guide/policy.md`` has it.
    ``open_files``: at most so many at once. ``builtins``: whether files, prints and the like are served at all.
    ``threads``, ``ports``, ``staging`` (slots, bytes of one), ``heap`` (bytes), ``window``, ``trace`` (a file): as for servers in Rust.
    ``spin``: for how many seconds the dispatcher looks for calls before it sleeps. ``handler_stack``: bytes of stack for services, on each of the server's
    threads; without it as many as the main thread has, and 8 MiB at least. (A ``loop`` that was given has its own thread's.)

    Raises ``UnavailableError`` if there is no such device, ``InvalidError`` if an argument cannot be.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        stdout: Goes = None,
        stderr: Goes = None,
        latencies: bool = False,
        dirs: Sequence[str | os.PathLike[str]] = (),
        env: Mapping[str, str] | None = None,
        args: Sequence[str] = (),
        net: bool | Sequence[str] = False,
        stdin: bytes | None = None,
        open_files: int | None = None,
        builtins: bool = True,
        threads: int | None = None,
        ports: int | None = None,
        staging: tuple[int, int] | None = None,
        heap: int = 0,
        window: bool = True,
        trace: str | os.PathLike[str] | None = None,
        spin: float = 50e-6,
        handler_stack: int | None = None,
    ) -> None:
        self._sinks = [_sink(stdout, "stdout"), _sink(stderr, "stderr")]
        options = {
            "threads": threads,
            "handler_stack": handler_stack,
            "ports": ports,
            "staging": staging,
            "heap": heap,
            "trace": trace,
            "latencies": latencies,
            "window": window,
            "builtins": builtins,
            "dirs": [os.fspath(dir) for dir in dirs],
            "env": dict(env or {}),
            "args": list(args),
            "net": [] if net is True else None if net is False else list(net),
            "stdin": stdin,
            "stdout": stdout if stdout in ("process", "nowhere") else "python",
            "stderr": stderr if stderr in ("process", "nowhere") else "python",
            "open_files": open_files,
            "spin": spin,
        }
        try:
            self._core = _hostcall.Server(device, options)
        except UnavailableError as error:
            if device is not None:
                raise
            raise UnavailableError(f'{error}\nwithout a GPU there is the simulator: `hostcall.Server("sim")`') from None
        #: What it runs on.
        self.device: dict[str, Any] = self._core.device()
        self._own: dict[str, int] = {}
        self._last = Report()
        #: Whether the last wait ended before the kernels.
        self._gave_up = False
        self._attachments: list[_hostcall.Attachment] = []
        self._dispatcher = Dispatcher(self._core, self._sinks, loop, handler_stack)
        #: At most one. A list, which the finalizer looks into.
        self._streams: list[Streams] = []
        self._finalizer = weakref.finalize(self, _end, self._core, self._dispatcher, self._streams)
        LOG.info("serving %s", self.device["name"])
        started(self)

    def register(self, *services: Service[..., Any]) -> None:
        """Registers ``services``. Kernels that are launched from now on can call them.

        Raises ``InvalidError`` for what is no service, ``RefusedError`` if a name is taken.
        """
        for service in services:
            if not isinstance(service, Service):
                raise InvalidError(f"{service!r} is no service: decorate it by `@hostcall.service`")
            name = service.definition.name
            number = self._dispatcher.add(Serving(service))
            try:
                self._core.register(service.definition.defined, number, service.max_batch)
            except BaseException:
                self._dispatcher.remove(number)
                raise
            self._own[name] = number
            LOG.debug("registered %r", service)

    def unregister(self, *services: Service[..., Any]) -> None:
        """Takes ``services`` off. Calls to them fail from now on; those that have come are handled. Raises ``InvalidError`` if one is not registered."""
        for service in services:
            number = self._own.pop(service.definition.name, None)
            if number is None:
                raise InvalidError(f"{service.name} is not registered")
            self._core.unregister(number)

    def attach(self, object: Any, name: str | None = None) -> _hostcall.Attachment:
        """Has the calls of a program answered: ``object`` is a module, kernel or program of any package that ``hostcall`` knows.

        Raises ``InvalidError`` if it is none, ``RefusedError`` if it was built with another definition of a service. It stays attached until the server stops, or until ``detach`` of what is returned. ``name`` is what reports call it.
        """
        return self._keep(attach(self, object, name))

    def attach_cuda_module(self, pointer: int, name: str) -> _hostcall.Attachment:
        """The same for a ``CUmodule``: ``pointer``, which must be live until it is detached. ``name``: what reports call it."""
        return self._keep(self._core.attach_cuda("module", pointer, name))

    def attach_cuda_library(self, pointer: int, name: str) -> _hostcall.Attachment:
        """The same for a ``CUlibrary``: ``pointer``, with a ``name``."""
        return self._keep(self._core.attach_cuda("library", pointer, name))

    def attach_cuda_function(self, pointer: int, name: str) -> _hostcall.Attachment:
        """The same for the module of a ``CUfunction`` or ``CUkernel``: ``pointer``, with a ``name``."""
        return self._keep(self._core.attach_cuda("function", pointer, name))

    def _keep(self, attachment: _hostcall.Attachment) -> _hostcall.Attachment:
        self._dispatcher.follow()
        if attachment not in self._attachments:
            try:
                self._listen([attachment])
            except BaseException:
                attachment.detach()
                raise
            self._attachments.append(attachment)
            LOG.debug("attached %r", attachment)
        return attachment

    def _listen(self, attachments: list[_hostcall.Attachment]) -> None:
        for streams in self._streams:
            for attachment in attachments:
                streams._core.attach(attachment)

    def streams(
        self,
        *messages: Named,
        policy: Policy | Mapping[str, Policy] | None = None,
        filters: Sequence[str] = (),
        record: str | os.PathLike[str] | None = None,
        parquet: str | os.PathLike[str] | None = None,
        memory: int | None = None,
        threads: int | None = None,
        rows: int = 1 << 16,
        period: float = 0.1,
        keep: int | None = None,
    ) -> Streams:
        """Receives what kernels of attached programs send by streams, from their next launch on: once for a server.

        ``messages``: streams, as definitions or names. Of the simulator's programs all streams are received anyway; of modules that another package has
        loaded on a GPU those that are named here. ``policy``: what messages do when their ring is full, instead of what definitions say: for all, or by name.
        ``filters``: which messages are wanted, like ``"Loss: groups=0..8, rate=1/64"``. ``record``: a recording (``.hcs``) of everything; ``parquet``: an
        empty directory for files. ``memory``: bytes of rings of each program; ``threads`` that read them. A record batch has about ``rows`` rows, and comes
        after ``period`` seconds if it has fewer. ``keep``: of each stream about so many rows stay that nobody has taken, and the oldest go
        (``Stream.forgotten`` counts them). Raises ``InvalidError`` for a second call, ``StreamError`` if a file cannot be written.
        """
        if self._streams:
            raise InvalidError("this server has streams already: name all of them in one call")
        streams = Streams(self._core, messages, policy, filters, record, parquet, memory, threads, rows, period, keep)
        self._streams.append(streams)
        try:
            self._listen([attachment for attachment in self._attachments if attachment.attached])
        except BaseException:
            self._streams.remove(streams)
            streams.stop()
            raise
        return streams

    def wait(self, timeout: float | None = None, stream: Any = None, *, progress: Callable[[Progress], object] | bool = False) -> None:
        """Waits until kernels have ended and what they called is answered; other threads of Python run meanwhile.

        ``stream``: CUDA's, as a number or an object of CuPy's, PyTorch's, Numba's or cuda.core's; without it the default stream. Raises ``KernelFailed``
        if a kernel panicked or a service failed, ``WaitTimeout`` after ``timeout`` seconds, ``DeviceLost``. After each of them but the last, the server goes
        on. Ctrl-C ends the wait, and not the kernel. ``progress`` is called now and then while it lasts; ``True`` logs it.
        """
        self._dispatcher.check_not_here("wait")
        self._dispatcher.follow()
        try:
            if progress:
                tell = progress if callable(progress) else lambda now: LOG.info("waiting: %s", now)
                self._wait_telling(timeout, stream_pointer(stream), tell)
            else:
                self._core.wait(timeout, stream_pointer(stream))
            self._gave_up = False
            self._last = Report()
            for streams in self._streams:
                streams.wait(stream)
        except (WaitTimeout, KeyboardInterrupt):
            self._gave_up = True
            raise
        except KernelFailed as error:
            self._gave_up = False
            self._last = error.report
            for streams in self._streams:
                try:
                    streams.wait(stream)
                except StreamError as incomplete:
                    LOG.error("the kernel failed, and %s", incomplete)
            raise
        finally:
            self._dispatcher.write_printed()

    def _wait_telling(self, timeout: float | None, stream: int | None, tell: Callable[[Progress], object]) -> None:
        began = last = time.monotonic()
        first = before = self.stats()
        while True:
            left = INTERVAL if timeout is None else min(INTERVAL, began + timeout - last)
            try:
                return self._core.wait(max(left, 0.0), stream)
            except WaitTimeout:
                now, after = time.monotonic(), self.stats()
                speed = (after.calls - before.calls) / max(now - last, 1e-9)
                tell(Progress(now - began, after.calls - first.calls, after.failed - first.failed, speed))
                last, before = now, after
                if timeout is not None and now - began >= timeout:
                    raise

    def report(self) -> Report:
        """What the last ``wait`` reported."""
        return self._last

    def stats(self) -> Stats:
        """What was called how often. Raises ``StoppedError`` when it has stopped: inside of the ``with`` block there is time for it."""
        return Stats([ServiceStats.of(row) for row in self._core.stats()])

    def denials(self) -> list[str]:
        """What kernels asked for and were not granted, since this was last asked."""
        return self._core.denials()

    @property
    def running(self) -> bool:
        """Whether it answers calls."""
        return self._core.running

    def stop(self) -> None:
        """Stops it: what has come is answered, later calls fail. Raises what nobody has waited for. Done twice, the second time does nothing."""
        self._dispatcher.check_not_here("stop")
        stopping(self)
        if self._finalizer.detach() is not None:
            _stop(self._core, self._dispatcher, self._streams)
            LOG.info("stopped")

    def __enter__(self) -> Server:
        if not self.running:
            raise StoppedError("the server has stopped, and serves no more: make a new `hostcall.Server`")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        try:
            # Who has given up on a kernel does not wait for it here.
            if error is None and self.running and not self._gave_up:
                self._wait_for_the_rest()
        except BaseException as failed:
            error = failed
            raise
        finally:
            try:
                self.stop()
            except KernelFailed as failed:
                # What was raised before is nearer to the cause.
                if error is None:
                    raise
                LOG.error("when the server stopped: %s", failed)

    def _wait_for_the_rest(self) -> None:
        """Waits for kernels that the block launched and did not wait for: who stops answers no more."""
        try:
            self.wait()
        except HeldLockError:
            # On the loop of its services nothing can be waited for.
            LOG.warning("the block of %r ended on the loop of its services, so kernels in flight are not waited for", self)

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped"
        services = ", ".join(name.replace("__", "::") for name in self._own) or "no services"
        return f"<hostcall.Server on {self.device['name']}, {state}: {services}>"


def _end(core: _hostcall.Server, dispatcher: Dispatcher, streams: list[Streams]) -> None:
    # In a process that was forked there is nothing to stop, and nobody who asked for it.
    if not core.forked:
        _stop(core, dispatcher, streams)


def _stop(core: _hostcall.Server, dispatcher: Dispatcher, streams: list[Streams]) -> None:
    try:
        core.stop()
    finally:
        for each in streams:
            each.stop()
        dispatcher.end()
        core.close()


class Sink:
    """Where a stream of kernels' prints goes."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def put(self, text: bytes) -> None:
        self.write(self.decoder.decode(text))


def _sink(goes: Goes, name: str) -> Sink:
    def current(text: str) -> None:
        file = getattr(sys, name)
        if file is not None:
            file.write(text)
            file.flush()

    if goes is None or goes == "process" or goes == "nowhere":
        return Sink(current)
    write = getattr(goes, "write", None)
    if write is not None:
        return Sink(write)
    if callable(goes):
        return Sink(goes)
    raise InvalidError(f'{name}={goes!r}: None, a file, a function of a text, "process" and "nowhere" are places to print to')


#: Held while threads are started whose stack is not the usual one: Python has one number for all.
STACK = threading.Lock()


def start(thread: threading.Thread, handler_stack: int | None) -> None:
    """Starts a thread on which services run."""
    with STACK:
        before = threading.stack_size(_hostcall.stack_of_handlers(handler_stack))
        try:
            thread.start()
        finally:
            threading.stack_size(before)


class Dispatcher:
    """The one thread that runs services. It does not keep the server alive."""

    def __init__(
        self, core: _hostcall.Server, sinks: list[Sink], loop: asyncio.AbstractEventLoop | None, handler_stack: int | None
    ) -> None:
        self._core, self._sinks, self._given, self._stack = core, sinks, loop, handler_stack
        self._services: dict[int, Serving] = {}
        self._next = 0
        self._own: asyncio.AbstractEventLoop | None = None
        self._loop_thread: threading.Thread | None = None
        self._printing = threading.Lock()
        self.follow()
        self._end_following = at_each_cell(self.follow)
        self._thread = threading.Thread(target=self._run, name="hostcall-dispatcher", daemon=True)
        start(self._thread, handler_stack)

    def add(self, serving: Serving) -> int:
        self._next += 1
        self._services[self._next] = serving
        return self._next

    def remove(self, number: int) -> None:
        self._services.pop(number, None)

    def follow(self) -> None:
        """Services run, and what kernels print is written, in the context of whoever called this last: in a notebook that is the cell that runs."""
        self._context = contextvars.copy_context()

    def check_not_here(self, what: str) -> None:
        """Refuses what would wait for this very thread."""
        if threading.current_thread() in (self._thread, self._loop_thread):
            raise HeldLockError(f"a service cannot call `Server.{what}`: it would wait for itself")
        if self._given is not None and what == "wait":
            try:
                here = asyncio.get_running_loop()
            except RuntimeError:
                return
            if here is self._given:
                raise HeldLockError("services run on this loop, so it must go on: `await asyncio.to_thread(server.wait)`")

    def loop(self) -> asyncio.AbstractEventLoop:
        """Where async services run."""
        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = asyncio.new_event_loop()
            self._loop_thread = threading.Thread(target=self._own.run_forever, name="hostcall-loop", daemon=True)
            start(self._loop_thread, self._stack)
        return self._own

    def write_printed(self) -> None:
        """Writes what kernels have printed and nobody has written."""
        with self._printing:
            for stream, text in self._core.printed():
                try:
                    self._sinks[stream].put(text)
                except Exception:
                    LOG.exception("what kernels printed could not be written")

    def end(self) -> None:
        """Waits for its end: the server has stopped."""
        self._end_following()
        if threading.current_thread() is not self._thread:
            self._thread.join()
        if self._own is not None:
            self._own.call_soon_threadsafe(self._own.stop)
            if self._loop_thread is not None and threading.current_thread() is not self._loop_thread:
                self._loop_thread.join()
                self._own.close()
        self.write_printed()

    def _run(self) -> None:
        core, services, loop = self._core, self._services, self.loop
        while (found := core.next()) is not None:
            # A copy that nobody else has: two threads cannot be in one context.
            context = self._context
            if found is True:
                context.run(self.write_printed)
                continue
            serving = services.get(found.service)
            if serving is not None:
                context.run(serving.serve, found, loop)
            # Its arrays may go before the next is waited for.
            del found
