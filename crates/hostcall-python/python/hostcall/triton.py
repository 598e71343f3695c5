"""Kernels in Triton that call Python.

    add42 = hc.triton.stub(service)

    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, add42(tl.load(x + i, mask=i < n), mask=i < n), mask=i < n)

    kernel[(blocks,)](x, y, n, BLOCK=1024, extern_libs=hc.triton.libs(service))

A stub is an external function, called for each element of its arguments. What Triton loads is attached by itself, to the server that runs.

    with hc.asserts():
        kernel[(blocks,)](x, y, n, BLOCK=1024)

reports what ``tl.device_assert`` finds in kernels that are compiled with ``debug=True``.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import _asserts, _attach, _driver, _loaded, _need, _source, _triton_ir
from ._wire import wire

triton = _need.package("triton", "triton", "hostcall.triton")
tl = _need.package("triton.language", "triton", "hostcall.triton")

#: The client of hostcall for Triton's LLVM: ``triton/core.cu``, which the wheel contains as bitcode.
CORE = Path(__file__).with_name("_triton.bc")
#: What takes the place of CUDA's ``__assertfail``: ``triton/assert.cu``. A kernel that asserts nothing is the same with
#: it and without.
ASSERT = Path(__file__).with_name("_triton_assert.bc")


def stub(service: Any) -> Any:
    """A function that kernels call with tensors or scalars, and that calls ``service`` for each element.

    Arguments and results are numbers and booleans. ``mask`` says for which elements there is a call; the others, and those of services without a
    result, get ``other``. Other arguments than the service's raise ``TypeError`` where the kernel is compiled. A call that fails ends its lane, and ``Server.wait`` raises. The kernel is launched with ``extern_libs=libs(…)``.
    """
    of = wire(service)
    _triton_ir.check(of)
    types = [_triton_ir.TRITON[argument.text] for argument in of.arguments]
    value = of.result if of.result is not None and of.result.kind == "scalar" else None
    result = "int1" if value is None else _triton_ir.TRITON[value.text]
    symbols = {tuple(getattr(tl, name) for name in (*types, "int1", result)): (_triton_ir.symbol(of), getattr(tl, result))}

    def call(*arguments: Any, mask: Any = None, other: Any = None, _semantic: Any = None) -> Any:
        if len(arguments) != len(types):
            raise TypeError(f"{of.spoken} takes {len(types)} arguments, not {len(arguments)}: {of.text}")
        given = [_of_type(each, to, f"argument {at} of {of.spoken}", _semantic) for at, (each, to) in enumerate(zip(arguments, types, strict=True))]
        given.append(_of_type(True if mask is None else mask, "int1", f"the mask of {of.spoken}", _semantic))
        given.append(_of_type(0 if other is None else other, result, f"`other` of {of.spoken}", _semantic))
        _refuse_copies(given, of.spoken, _semantic)
        return tl.core.extern_elementwise("hostcall", "", given, symbols, is_pure=False, _semantic=_semantic)

    call.__name__ = call.__qualname__ = of.name
    return tl.core.extern(call)


def libs(*services: Any, asserts: bool = False) -> dict[str, str]:
    """``extern_libs`` of a launch: the stubs of ``services``, and hostcall's client; with ``asserts`` reports of ``tl.device_assert``, too."""
    linked = {}
    if services or not asserts:
        text = _triton_ir.module([wire(service) for service in services])
        linked = {"hostcall_stubs": _source.kept("stubs.ll", text), "hostcall": _bitcode(CORE)}
    return linked | ({_ASSERT: _bitcode(ASSERT)} if asserts else {})


def _bitcode(file: Path) -> str:
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: install hostcall's wheel, or make it by `python triton/build.py {CORE}`")
    return str(file)


#: The name of ``ASSERT`` among a kernel's libraries.
_ASSERT = "hostcall_assert"
_lock = threading.Lock()
_blocks = 0
_replaced: list[tuple[Any, str, Any, Any]] = []


@contextmanager
def asserts() -> Iterator[None]:
    """While the block lasts, what ``tl.device_assert`` finds is reported to the server that runs, in kernels that are launched or compiled.

    ``hostcall.asserts`` does it by itself. Triton has a kernel that is launched in such a block beside the one that is launched outside of it.
    """
    global _blocks
    _bitcode(ASSERT)
    with _lock:
        _blocks += 1
        if _blocks == 1:
            _replace()
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if _blocks == 0:
                _restore()


def _replace() -> None:
    """Adds the library to launches, whose options tell kernels in memory from each other, and to what is compiled without a launch."""
    backend = _need.package("triton.backends.nvidia.compiler", "triton", "hostcall.triton").CUDABackend
    jit = triton.runtime.jit.JITFunction
    launch, parse = jit.run, backend.parse_options

    def run(self: Any, *args: Any, **options: Any) -> Any:
        return launch(self, *args, **_linked(options))

    def parse_options(self: Any, options: Any) -> Any:
        return parse(self, _linked(options))

    _replaced.extend([(jit, "run", launch, run), (backend, "parse_options", parse, parse_options)])
    for owner, name, _, ours in _replaced:
        setattr(owner, name, ours)


def _restore() -> None:
    while _replaced:
        owner, name, before, ours = _replaced.pop()
        # Who replaced it after us keeps it, and then calls ours, which adds nothing any more.
        if getattr(owner, name) is ours:
            setattr(owner, name, before)


def _linked(options: Any) -> Any:
    return {**options, "extern_libs": {**dict(options.get("extern_libs") or {}), _ASSERT: str(ASSERT)}} if _blocks else options


def _of_type(value: Any, to: str, what: str, semantic: Any) -> Any:
    """A tensor of type ``to``. Constants become one; tensors of another type are the kernel's to convert."""
    if isinstance(value, tl.constexpr):
        value = value.value
    if not isinstance(value, tl.tensor):
        return semantic.cast(semantic.to_tensor(value), getattr(tl, to))
    if value.dtype != getattr(tl, to):
        raise TypeError(f"{what} is of type {value.dtype}, and the service takes tl.{to}: convert it by `.to(tl.{to})`")
    return value


def _refuse_copies(given: list[Any], spoken: str, semantic: Any) -> None:
    """Of a tensor with fewer elements than a program has lanes, several lanes have each element, and all of them would call."""
    lanes = 32 * semantic.builder.options.num_warps
    elements = max(math.prod(int(size) for size in value.shape) if value.type.is_block() else 1 for value in given)
    if elements < lanes:
        raise ValueError(
            f"{spoken} is called for {elements} elements by {lanes} lanes, which have several copies of each: give it blocks of {lanes} elements "
            f"or more (with a mask, `tl.arange(0, {lanes}) == 0` for one call), or launch with fewer warps"
        )


def _on_load(module: Any, function: Any, name: str, metadata: Any, hash: str) -> None:
    if _driver.module_calls(int(module)):
        _loaded.loaded("module", int(module), name)


def _on_unload(module: Any, function: Any, name: str, metadata: Any, hash: str) -> None:
    _loaded.unloaded("module", int(module))


triton.knobs.runtime.kernel_load_end_hook.add(_on_load)
# Triton 3.6 unloads nothing.
if hasattr(triton.knobs.runtime, "kernel_unload_hook"):
    triton.knobs.runtime.kernel_unload_hook.add(_on_unload)


class _Adapter:
    """``Server.attach`` of a kernel that Triton compiled and loaded, for those who launch it themselves."""

    @staticmethod
    def matches(object: Any) -> bool:
        return isinstance(object, triton.compiler.CompiledKernel)

    @staticmethod
    def attach(server: Any, object: Any, name: str | None) -> Any:
        object._init_handles()
        return server.attach_cuda_module(int(object.module), name or object.name)


_attach.ADAPTERS.append(_Adapter)
_asserts.LINKED.append(asserts)
