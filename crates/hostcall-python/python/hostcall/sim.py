"""Kernels in C++ on the CPU simulator: no GPU, no CUDA, a C++ compiler."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _hostcall
from ._attach import ADAPTERS
from ._definition import cuda_source
from ._errors import CompileError, InvalidError, NotFoundError

if TYPE_CHECKING:
    from ._server import Server


def include_dir() -> str:
    """The directory of ``hostcall.cuh``, for compilers of kernels."""
    here = Path(__file__).parent / "include"
    if (here / "hostcall.cuh").exists():
        return str(here)
    # In a checkout the headers are at their own place.
    for parent in Path(__file__).parents:
        if (parent / "include" / "hostcall.cuh").exists():
            return str(parent / "include")
    raise NotFoundError("hostcall.cuh is not where the package was installed: install it again")


def compile(source: str, services: Sequence[Any] = (), compiler: str | None = None, options: Sequence[str] = ()) -> bytes:
    """Compiles kernels for the simulator: a shared library."""
    program = compiler or os.environ.get("CXX") or "g++"
    if shutil.which(program) is None:
        raise CompileError(f"there is no C++ compiler `{program}`: install g++ (or clang++), and name it by `compiler=` or the variable CXX")
    text = cuda_source(*services) + "\n" + "#line 1 \"kernel\"\n" + source
    with tempfile.TemporaryDirectory(prefix="hostcall-") as directory:
        kernel, library = Path(directory, "kernel.cc"), Path(directory, "kernel.so")
        kernel.write_text(text)
        flags = ["-std=c++17", "-x", "c++", "-O2", "-g1", "-shared", "-fPIC", "-DHOSTCALL_SIM", "-fno-exceptions", "-fno-rtti", "-nostdlib"]
        if platform.machine() == "aarch64":
            # Atomics as instructions: as functions they would be in a library of the compiler's.
            flags.append("-mno-outline-atomics")
        command = [program, *flags, "-I", include_dir(), *options, str(kernel), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CompileError(f"{program} refused the kernel:\n{done.stderr.strip()}")
        return library.read_bytes()


class Module:
    """Kernels in C++, compiled for the simulator. ``server.attach(module)`` loads them.

    ``source`` has ``HOSTCALL_KERNEL(name, parameters…) { … }``; the stubs of ``services`` and ``hostcall.cuh`` are before it.
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
        self._loaded: _hostcall.SimModule | None = None
        self._arguments: list[Any] = []

    def attach(self, server: Server, name: str | None = None) -> _hostcall.Attachment:
        """Loads it on the server's simulator, and attaches it."""
        self._loaded, attachment = server._core.attach_sim(name or self.name, self.library)
        return attachment

    def launch(self, kernel: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Any) -> None:
        """Starts a kernel; ``server.wait()`` waits for it.

        An array is passed as the address of its first element: the kernel works on NumPy's own memory, which it must not leave, and which nobody else
        should use until the kernel has ended. Numbers have the size of the kernel's parameter; floats of Python are ``double``, so pass ``np.float32(x)`` for
        ``float``. Arrays live at least until their kernel has ended, or this module goes.
        """
        if self._loaded is None:
            raise InvalidError("it is not loaded: `server.attach(module)` first")
        sizes = self._loaded.parameters(kernel)
        if sizes is not None and len(sizes) != len(arguments):
            raise InvalidError(f"`{kernel}` takes {len(sizes)} arguments, not {len(arguments)}")
        given = [_bytes(argument, i, sizes[i] if sizes is not None else None) for i, argument in enumerate(arguments)]
        if self._loaded.idle():
            self._arguments.clear()
        self._arguments.append([argument for argument in arguments if isinstance(argument, np.ndarray)])
        self._loaded.launch(kernel, _three(grid, "grid"), _three(block, "block"), given)

    def __repr__(self) -> str:
        return f"<hostcall.sim.Module {self.name!r}, {'loaded' if self._loaded else 'not loaded'}>"


def _three(size: int | tuple[int, ...], what: str) -> tuple[int, int, int]:
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if not 1 <= len(sizes) <= 3 or any(one < 1 for one in sizes):
        raise InvalidError(f"{what} is one to three sizes of at least 1, not {size!r}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _bytes(argument: Any, i: int, size: int | None) -> bytes:
    """An argument as the kernel takes it."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous or not argument.flags.writeable:
            raise InvalidError(f"argument {i} is an array that is not contiguous and writable: pass a copy")
        return int(argument.ctypes.data).to_bytes(8, "little")
    if isinstance(argument, (np.generic, bool)):
        return np.asarray(argument).tobytes()
    if isinstance(argument, int):
        wanted = 8 if size is None else size
        try:
            return argument.to_bytes(wanted, "little", signed=argument < 0)
        except OverflowError:
            raise InvalidError(f"argument {i}, {argument}, does not fit into {wanted} bytes") from None
    if isinstance(argument, float):
        return np.float64(argument).tobytes()
    raise InvalidError(f"argument {i} is a {type(argument).__name__}: arrays and numbers can be passed")


class _Adapter:
    def matches(self, object: Any) -> bool:
        return isinstance(object, Module)

    def attach(self, server: Server, object: Any, name: str | None) -> _hostcall.Attachment:
        return object.attach(server, name)  # type: ignore[no-any-return]


ADAPTERS.append(_Adapter())
