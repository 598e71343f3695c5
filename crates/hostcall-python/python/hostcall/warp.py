"""Kernels of Warp that call Python.

    add42 = hc.warp.stub(service)          # callable in @wp.kernel functions
    wp.set_module_options({"extra_build_options": hc.warp.options(service)})
    server.attach(wp.get_module(__name__))

A stub is a function in C++, which Warp compiles with the kernels' module. Warp calls what this stands on experimental.
"""

from __future__ import annotations

from typing import Any

from . import _attach, _need, _source
from ._errors import InvalidError
from ._wire import SCALARS, Type, Wire, wire

wp = _need.package("warp", "warp-lang", "hostcall.warp")
_build = _need.package("warp.build_experimental", "warp-lang>=1.19", "hostcall.warp")

#: Warp's names of scalars. ``char`` is its code.
_WARP = {f"{sign}{bits}": f"{name}{bits}" for sign, name in (("u", "uint"), ("i", "int")) for bits in (8, 16, 32, 64)}
_WARP |= {"usize": "uint64", "isize": "int64", "f32": "float32", "f64": "float64", "bool": "bool", "char": "uint32"}


def stub(service: Any) -> Any:
    """A function that kernels call, which calls ``service``. A call that fails ends its lane, and ``Server.wait`` raises.

    Arguments and results are numbers and booleans. The kernels' module needs ``options`` of the service.
    """
    of = wire(service)
    _check(of)
    parameters = {f"a{at}": getattr(wp, _WARP[argument.text]) for at, argument in enumerate(of.arguments)}
    value = getattr(wp, _WARP[of.result.text]) if of.result is not None and of.result.kind == "scalar" else None
    return _build.add_builtin(_symbol(of), parameters, value, native_name=f"::hostcall_warp::{_symbol(of)}", doc=f"Calls {of.spoken}.")


def options(*services: Any) -> Any:
    """``extra_build_options`` of a module whose kernels call ``services``. Its ``merged`` adds those of others."""
    wires = list(dict.fromkeys(wire(service) for service in services))
    stubs = "".join(_function(of) for of in wires)
    preamble = f"#include <hostcall_services.cuh>\nnamespace hostcall_warp {{\n{stubs}}}\n"
    return wp.ModuleBuildOptions(extra_cuda_include_dirs=[_source.directory(*services)], extra_cuda_preamble=preamble)


def _check(of: Wire) -> None:
    """Refuses services that no stub can call."""
    for at, argument in enumerate(of.arguments):
        if argument.kind != "scalar":
            raise TypeError(f"{of.spoken}: argument {at} is `{argument.text}`: stubs for Warp take numbers and bool only")
    if of.result is not None and of.result.kind not in ("scalar", "unit"):
        raise TypeError(f"{of.spoken}: the result is `{of.result.text}`: stubs for Warp return a number, a bool, or nothing")


def _symbol(of: Wire) -> str:
    """The function's name. The signature is in it, so that a service that was defined anew is another function."""
    return f"hostcall_{of.signature:016x}_{of.name}"


def _function(of: Wire) -> str:
    """The function in C++, which follows Warp's headers and the services' stubs."""
    _check(of)
    returned = "void" if of.result is None or of.result.kind == "unit" else _cpp(of.result)
    parameters = ", ".join(f"{_cpp(argument)} a{at}" for at, argument in enumerate(of.arguments))
    given = "".join(f", ({argument.cpp})a{at}" for at, argument in enumerate(of.arguments))
    verb = "post" if of.result is None else f"call<{'void' if of.result.kind == 'unit' else of.result.cpp}>"
    lines = [
        f"const auto hc_answer = ::hostcall::{verb}(&__HOSTCALL__{of.name}{given});",
        f'::hostcall::or_abort(hc_answer, "{of.spoken}", "a Warp kernel", 0);',
    ]
    if returned != "void":
        lines.append(f"return ({returned})hc_answer.value;")
    body = "".join(f"    {line}\n" for line in lines)
    return f"inline HC_ON_DEVICE {returned} {_symbol(of)}({parameters}) {{\n{body}}}\n"


def _cpp(of: Type) -> str:
    """The type as Warp passes it."""
    assert of.text in SCALARS
    return "bool" if of.text == "bool" else f"::wp::{_WARP[of.text]}"


class _Adapter:
    """``Server.attach`` of a module, or of a kernel's, as it is loaded for the current device and launches of 256 threads a block."""

    @staticmethod
    def matches(object: Any) -> bool:
        return isinstance(object, wp.Module | wp.Kernel)

    @staticmethod
    def attach(server: Any, object: Any, name: str | None) -> Any:
        module = object.module if isinstance(object, wp.Kernel) else object
        device = wp.get_device()
        # Compiles and loads it, if it was not yet.
        loaded = module.load(device) if device.is_cuda else None
        if loaded is None:
            raise InvalidError(f"Warp's module {module.name} is not loaded on {device}: only modules on a CUDA device call the host")
        return server.attach_cuda_module(int(loaded.handle), name or f"Warp's module {module.name}")


_attach.ADAPTERS.append(_Adapter)
