"""Kernels in C++ on the CPU simulator: no GPU, no CUDA, a C++ compiler."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _hostcall
from ._attach import ADAPTERS
from ._definition import Definition, cuda_source
from ._errors import CompileError, InvalidError, NotFoundError, StoppedError

if TYPE_CHECKING:
    from ._server import Server

__all__ = ["Module", "compile", "include_dir"]


def include_dir() -> str:
    """The directory of ``hostcall.cuh``, for compilers of kernels. Raises ``NotFoundError`` if the package is not whole."""
    here = Path(__file__).parent / "include"
    if (here / "hostcall.cuh").exists():
        return str(here)
    # In a checkout the headers are at their own place.
    for parent in Path(__file__).parents:
        if (parent / "include" / "hostcall.cuh").exists():
            return str(parent / "include")
    raise NotFoundError("hostcall.cuh is not where the package was installed: install it again")


#: The header with the stubs of services, for the compiler of a kernel.
SERVICES = "hostcall_services.cuh"


def compile(source: str, services: Sequence[Any] = (), compiler: str | None = None, options: Sequence[str] = ()) -> bytes:
    """Compiles kernels for the simulator: a shared library.

    ``source``: C++ with ``HOSTCALL_KERNEL``s, which may call ``services``. ``compiler``: a program; without it the variable CXX names one, or it is ``g++``.
    ``options``: further ones for it. Raises ``CompileError`` with what the compiler says.
    """
    program = compiler or os.environ.get("CXX") or "g++"
    if shutil.which(program) is None:
        raise CompileError(f"there is no C++ compiler `{program}`: install g++ (or clang++), and name it by `compiler=` or the variable CXX")
    with tempfile.TemporaryDirectory(prefix="hostcall-") as directory:
        kernel, library = Path(directory, "kernel.cc"), Path(directory, "kernel.so")
        # In directories of the system's the compiler warns of nothing: what it says is about the kernel.
        system = Path(directory, "include")
        system.mkdir()
        (system / SERVICES).write_text(cuda_source(*services))
        kernel.write_text(f'#include <{SERVICES}>\n#line 1 "kernel"\n{source}')
        flags = ["-std=c++17", "-x", "c++", "-O2", "-g1", "-shared", "-fPIC", "-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-nostdlib"]
        if platform.machine() == "aarch64":
            # Atomics as instructions: as functions they would be in a library of the compiler's.
            flags.append("-mno-outline-atomics")
        command = [program, *flags, "-isystem", str(system), "-isystem", include_dir(), *options, str(kernel), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(f"{program} refused the kernel:\n{done.stderr.strip()}{_hints(done.stderr)}")
        return library.read_bytes()


#: What people who know CUDA write, as the compiler tells it, and what it is here.
HINTS = {
    "‘Host’ has not been declared": "pass the services whose stubs it calls: `Module(source, [service])`",
    "use of undeclared identifier 'Host'": "pass the services whose stubs it calls: `Module(source, [service])`",
    "__global__": "a kernel is written `HOSTCALL_KERNEL(name, float* y, unsigned n) { … }`",
    "threadIdx": "`threadIdx` is `hostcall::local_id()`, `blockIdx` is `hostcall::group_id()`, and `hostcall::global_id()` is the thread's number in the grid",
    "blockIdx": "`threadIdx` is `hostcall::local_id()`, `blockIdx` is `hostcall::group_id()`, and `hostcall::global_id()` is the thread's number in the grid",
    "hostcall::returned<": "a call gives a value or the status with which it failed: `.value_or(other)` takes the value",
}


def _hints(said: str) -> str:
    hints = dict.fromkeys(hint for told, hint in HINTS.items() if told in said)
    return "".join(f"\nhostcall: {hint}" for hint in hints)


class Module:
    """Kernels in C++, compiled for the simulator. ``server.attach(module)`` loads them.

    ``source`` has ``HOSTCALL_KERNEL(name, parameters…) { … }``; the stubs of ``services`` and ``hostcall.cuh`` are before it. ``compiler`` and ``options``: as
    for ``compile``, which raises ``CompileError``. ``name``: what reports call it.
    """

    def __init__(
        self,
        source: str,
        services: Sequence[Any] = (),
        compiler: str | None = None,
        options: Sequence[str] = (),
        name: str = "kernel",
    ) -> None:
        self.name = name
        self.library = compile(source, services, compiler, options)
        definitions = [getattr(service, "definition", service) for service in services]
        self._called = [definition.name for definition in definitions if isinstance(definition, Definition)]
        self._server: weakref.ref[Server] | None = None
        self._kernels = re.findall(r"\bHOSTCALL_KERNEL\s*\(\s*(\w+)", source)
        self._loaded: _hostcall.SimModule | None = None
        self._arguments: list[Any] = []

    def attach(self, server: Server, name: str | None = None) -> _hostcall.Attachment:
        """Loads it on the simulator of ``server``, and attaches it, as ``server.attach(module)`` does. ``name``: what reports call it."""
        self._loaded, attachment = server._core.attach_sim(name or self.name, self.library)
        self._server = weakref.ref(server)
        return attachment

    def launch(self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Any) -> None:
        """Starts a ``kernel``, by its name; ``server.wait()`` waits for it.

        ``grid``: blocks, and ``block``: threads of each; a number or a tuple of up to three. ``arguments``: for the kernel's parameters.

        An array is passed as the address of its first element: the kernel works on NumPy's own memory, which it must not leave, and which nobody else
        should use until the kernel has ended. Its elements are those that the kernel's parameter points at. Numbers of Python become what the parameter is,
        if they fit; numbers of NumPy have to be that. Arrays live at least until their kernel has ended, or this module goes. Raises
        ``NotFoundError`` if there is no such kernel, ``InvalidError`` if an argument is not what it takes, ``StoppedError`` if the server has stopped. A
        service of the module's that nobody has registered is a ``RuntimeWarning``.
        """
        server = self._server() if self._server is not None else None
        if self._loaded is None:
            raise InvalidError("it is not loaded: `server.attach(module)` first")
        if server is None or not server.running:
            raise StoppedError("its server has stopped, so nobody would answer: make a new `hostcall.Server`, and attach this module to it")
        self._warn_of_unknown(server)
        try:
            parameters = self._loaded.parameters(kernel)
        except NotFoundError:
            raise NotFoundError(self._missing(kernel)) from None
        if parameters is not None and len(parameters) != len(arguments):
            raise InvalidError(f"`{kernel}` takes {len(parameters)} arguments, not {len(arguments)}")
        wanted = [Parameter(*parameter) for parameter in parameters] if parameters is not None else [None] * len(arguments)
        given = [_bytes(argument, f"argument {i} of `{kernel}`", of) for i, (argument, of) in enumerate(zip(arguments, wanted))]
        if self._loaded.idle():
            self._arguments.clear()
        self._arguments.append([argument for argument in arguments if isinstance(argument, np.ndarray)])
        self._loaded.launch(kernel, _three(grid, "grid"), _three(block, "block"), given)

    def _warn_of_unknown(self, server: Server) -> None:
        """A kernel alone sees that a service of its is nobody's, and may look away (``value_or``)."""
        unknown = [name.replace("__", "::") for name in self._called if name not in server._own]
        if unknown:
            text = f"nobody has registered {', '.join(unknown)}: calls fail in what is launched now; `server.register(…)` comes before the launch"
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def _missing(self, kernel: str) -> str:
        kernels = f"its kernels are {', '.join(self._kernels)}" if self._kernels else "it has none"
        return f"module `{self.name}` has no kernel `{kernel}`; {kernels}; one is written `HOSTCALL_KERNEL({kernel}, float* y, unsigned n) {{ … }}`"

    def __repr__(self) -> str:
        return f"<hostcall.sim.Module {self.name!r}, {'loaded' if self._loaded else 'not loaded'}>"


def _three(size: int | tuple[int, ...], what: str) -> tuple[int, int, int]:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if not 1 <= len(sizes) <= 3 or any(one < 1 for one in sizes):
        raise InvalidError(f"{what} is one to three sizes of at least 1, not {size!r}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


@dataclass(frozen=True)
class Parameter:
    """What a kernel says of a parameter: its bytes, the kind of number that it is or points at, and the bytes of that."""

    size: int
    kind: int
    bytes: int
    is_value: bool

    def number(self) -> str:
        """The number in the words of C++; empty if it is not known."""
        return NUMBERS.get((self.kind, self.bytes), "")


#: Kinds of numbers, as NumPy has them, by the kernel's.
KINDS = {1: "u", 2: "i", 3: "f"}
#: Numbers in the words of C++.
NUMBERS = {
    (1, 1): "unsigned char",
    (1, 2): "unsigned short",
    (1, 4): "unsigned",
    (1, 8): "unsigned long long",
    (2, 1): "signed char",
    (2, 2): "short",
    (2, 4): "int",
    (2, 8): "long long",
    (3, 2): "half",
    (3, 4): "float",
    (3, 8): "double",
}


def _fits(dtype: np.dtype[Any], of: Parameter) -> bool:
    """Whether elements of NumPy's are what the kernel takes them for, as far as both say."""
    kind = KINDS.get(of.kind)
    return kind is None or dtype.kind not in "uif" or (dtype.kind, dtype.itemsize) == (kind, of.bytes)


def _dtype(of: Parameter) -> str:
    return f"np.{np.dtype(f'{KINDS[of.kind]}{of.bytes}').name}"


def _bytes(argument: Any, what: str, of: Parameter | None) -> bytes:
    """An argument as the kernel takes it."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous or not argument.flags.writeable:
            raise InvalidError(f"{what} is an array that is not contiguous and writable: pass a copy")
        if of is not None and (of.is_value or of.size != 8):
            number = of.number() or f"a value of {of.size} bytes"
            raise InvalidError(f"{what} is an array, and the kernel takes `{number}` there: pass a number")
        if of is not None and not _fits(argument.dtype, of):
            raise InvalidError(f"{what} is an array of {argument.dtype}, and the kernel takes `{of.number()}*`: pass an array of {_dtype(of)}")
        return int(argument.ctypes.data).to_bytes(8, "little")
    if isinstance(argument, np.generic) or (isinstance(argument, bool) and (of is None or not of.kind)):
        value = np.asarray(argument)
        if of is not None and of.is_value and not _fits(value.dtype, of):
            raise InvalidError(f"{what} is a number of type {value.dtype}, and the kernel takes `{of.number()}`: pass {_dtype(of)}(…)")
        return value.tobytes()
    if isinstance(argument, (int, float)) and of is not None and of.is_value and of.kind == 3:
        return bytes(np.dtype(f"f{of.bytes}").type(argument).tobytes())
    if isinstance(argument, int):
        wanted = 8 if of is None else of.size
        signed = argument < 0 if of is None or not of.is_value else of.kind == 2
        try:
            return argument.to_bytes(wanted, "little", signed=signed)
        except OverflowError:
            number = f"`{of.number()}`" if of is not None and of.is_value else f"{wanted} bytes"
            raise InvalidError(f"{what}, {argument}, does not fit into {number}") from None
    if isinstance(argument, float):
        if of is not None and of.kind and (of.is_value or of.size == 8):
            number = of.number() if of.is_value else f"{of.number()}*"
            raise InvalidError(f"{what} is a float, and the kernel takes `{number}`")
        return np.float64(argument).tobytes()
    raise InvalidError(f"{what} is a {type(argument).__name__}: arrays and numbers can be passed")


class _Adapter:
    def matches(self, object: Any) -> bool:
        return isinstance(object, Module)

    def attach(self, server: Server, object: Any, name: str | None) -> _hostcall.Attachment:
        return object.attach(server, name)  # type: ignore[no-any-return]


ADAPTERS.append(_Adapter())
