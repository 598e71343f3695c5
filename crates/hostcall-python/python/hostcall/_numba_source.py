"""What Numba compiles and links for a stub, and the signature under which it calls it.

Numba's functions return a status (0: no exception) and write their result through the first parameter. An array arrives as the seven members of
Numba's record of it.
"""

from __future__ import annotations

import importlib
from typing import Any

from ._wire import Type, Wire

#: Numba's names of scalars.
_NUMBA = {f"{sign}{bits}": f"{name}{bits}" for sign, name in (("u", "uint"), ("i", "int")) for bits in (8, 16, 32, 64)}
_NUMBA |= {"usize": "uint64", "isize": "int64", "f32": "float32", "f64": "float64", "bool": "boolean", "char": "uint32"}
#: C++'s of those that Numba passes and stores as something else than hostcall does.
_CARRIED = {"bool": "unsigned char", "char": "::hostcall::u32"}


def check(wire: Wire) -> None:
    """Refuses services that no stub can call."""
    for at, argument in enumerate(wire.arguments):
        slice_of = argument.of[0].text if argument.kind in ("slice", "slice_mut") and argument.of[0].kind == "scalar" else None
        if argument.kind not in ("scalar", "str") and slice_of in (None, "bool", "char"):
            raise TypeError(f"{wire.spoken}: argument {at} is `{argument.text}`: stubs for Numba take numbers, bool, str and slices of numbers")
    result = wire.result
    if result is not None and result.kind != "unit" and not all(of.kind == "scalar" for of in _members(result)):
        raise TypeError(f"{wire.spoken}: the result is `{result.text}`: stubs for Numba return a number, a bool, a tuple of them, or nothing")


def symbol(wire: Wire, on_error: str | None) -> str:
    """The function's name. The signature is in it, so that a service that was defined anew is another function."""
    return f"hostcall_numba_{on_error or 'end'}_{wire.signature:016x}_{wire.name}"


def signature(wire: Wire, on_error: str | None) -> Any:
    """Its type for Numba."""
    types: Any = importlib.import_module("numba.cuda.types")

    def scalar(of: Type) -> Any:
        return getattr(types, _NUMBA[of.text])

    def argument(of: Type) -> Any:
        if of.kind == "scalar":
            return scalar(of)
        element = types.uint8 if of.kind == "str" else scalar(of.of[0])
        return types.Array(element, 1, "C", readonly=of.kind != "slice_mut")

    value = None
    if wire.result is not None and wire.result.kind != "unit":
        members = [scalar(of) for of in _members(wire.result)]
        value = types.Tuple(members) if wire.result.kind == "tuple" else members[0]
    if on_error == "value":
        returned = types.int32 if value is None else types.Tuple([types.int32, value])
    else:
        returned = types.void if value is None else value
    return returned(*(argument(of) for of in wire.arguments))


def functions(wires: list[Wire], on_error: str | None) -> str:
    """The functions in C++, to follow ``hostcall.cuh`` and the services' stubs."""
    return "".join(_function(wire, on_error) for wire in wires)


def _members(result: Type) -> tuple[Type, ...]:
    return result.of if result.kind == "tuple" else (result,)


def _function(wire: Wire, on_error: str | None) -> str:
    name = symbol(wire, on_error)
    parameters, given = ["void* hc_result"], [f"&__HOSTCALL__{wire.name}"]
    for at, of in enumerate(wire.arguments):
        parameter, argument = _argument(of, at)
        parameters.append(parameter)
        given.append(argument)
    verb = "post" if wire.result is None else f"call<{'void' if wire.result.kind == 'unit' else wire.result.cpp}>"
    lines = [f"const auto hc_answer = ::hostcall::{verb}({', '.join(given)});", "(void)hc_result;"]
    if on_error is None:
        lines.append(f'::hostcall::or_abort(hc_answer, "{wire.spoken}", "a Numba kernel", 0);')
    before = ""
    if wire.result is not None and wire.result.kind != "unit":
        members = _members(wire.result)
        before = f"struct {name}_value {{ {' '.join(f'{_carried(of)} _{at};' for at, of in enumerate(members))} }};\n"
        value = "hc_answer.value._{}" if wire.result.kind == "tuple" else "hc_answer.value"
        lines.append(f"{name}_value hc_value{{{', '.join(f'({_carried(of)}){value.format(at)}' for at, of in enumerate(members))}}};")
        if on_error == "value":
            before += f"struct {name}_result {{ int status; {name}_value value; }};\n"
            lines.append(f"*({name}_result*)hc_result = {{(int)hc_answer.status, hc_value}};")
        else:
            lines.append(f"*({name}_value*)hc_result = hc_value;")
    elif on_error == "value":
        lines.append("*(int*)hc_result = (int)hc_answer.status;")
    body = "".join(f"    {line}\n" for line in [*lines, "return 0;"])
    return f'\n{before}extern "C" HC_ON_DEVICE int {name}({", ".join(parameters)}) {{\n{body}}}\n'


def _argument(of: Type, at: int) -> tuple[str, str]:
    """A parameter, and what the call is given of it."""
    if of.kind == "scalar":
        return f"{_carried(of)} a{at}", f"a{at} != 0" if of.text == "bool" else f"({of.cpp})a{at}"
    element, data = ("unsigned char", f"(const char*)a{at}") if of.kind == "str" else (of.of[0].cpp, f"a{at}")
    # Counts of references, the number of elements, their size, the elements, the shape and the strides.
    return f"void*, void*, long long n{at}, long long, {element}* a{at}, long long, long long", f"{of.cpp}({data}, (::hostcall::size_t)n{at})"


def _carried(of: Type) -> str:
    return _CARRIED.get(of.text, of.cpp)
