"""Stubs for Triton as LLVM IR: for each service its globals, and a function that packs the arguments and calls hostcall's client."""

from __future__ import annotations

from ._wire import SCALARS, Type, Wire

#: Triton's names of scalars. ``char`` is its code.
TRITON = {f"{sign}{bits}": f"{name}{bits}" for sign, name in (("u", "uint"), ("i", "int")) for bits in (8, 16, 32, 64)}
TRITON |= {"usize": "uint64", "isize": "int64", "f32": "float32", "f64": "float64", "bool": "int1", "char": "uint32"}
_LLVM = {"f32": "float", "f64": "double", "bool": "i1"}
#: Units that the client's functions take.
_UNITS = 16
_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
#: How the functions of ``triton/core.cu`` go on behind the word, and behind the result.
_PARAMETERS = ", ".join(["i32"] * _UNITS)


def check(wire: Wire) -> None:
    """Refuses services that no stub can call."""
    for at, argument in enumerate(wire.arguments):
        if argument.kind != "scalar":
            raise TypeError(f"{wire.spoken}: argument {at} is `{argument.text}`: stubs for Triton take numbers and bool only")
    if wire.result is not None and wire.result.kind not in ("scalar", "unit"):
        raise TypeError(f"{wire.spoken}: the result is `{wire.result.text}`: stubs for Triton return a number, a bool, or nothing")
    units = sum(argument.units for argument in wire.arguments)
    if units > _UNITS:
        raise TypeError(f"{wire.spoken}: the arguments take {units * 4} bytes: stubs for Triton take at most {_UNITS * 4}")


def symbol(wire: Wire) -> str:
    """The function's name. The signature is in it, so that Triton's cache tells a service that was defined anew."""
    return f"hostcall_triton_{wire.signature:016x}_{wire.name}"


def module(wires: list[Wire]) -> str:
    """The module of all stubs."""
    wires = list(dict.fromkeys(wires))
    for wire in wires:
        check(wire)
    words = [word for wire in wires for word in (f"__HOSTCALL__{wire.name}", f"__HOSTCALL_SIGNATURE__{wire.name}")]
    used = ", ".join(f"ptr addrspacecast (ptr addrspace(1) @{word} to ptr)" for word in words)
    client = sorted({_client(wire) for wire in wires})
    return "\n".join(
        [
            f'target datalayout = "{_LAYOUT}"',
            'target triple = "nvptx64-nvidia-cuda"',
            *(_globals(wire) for wire in wires),
            f'@llvm.compiler.used = appending global [{len(words)} x ptr] [{used}], section "llvm.metadata"',
            *(f"declare {declared} #0" for _, declared in client),
            "declare void @hostcall_failed(i64, ptr) #0",
            *(_function(wire) for wire in wires),
            "attributes #0 = { convergent nounwind }",
            # A tensor has many elements of each lane, and a call is long.
            "attributes #1 = { convergent noinline nounwind }",
            "",
        ]
    )


def _globals(wire: Wire) -> str:
    """What the host finds by name, as ``HOSTCALL_SERVICE`` of ``hostcall.cuh`` defines it."""
    text = wire.text.encode()
    room = (len(text) + 7) // 8 * 8
    signature = f"{{ i64, [{room} x i8] }}"
    spoken = wire.spoken.encode()
    return "\n".join(
        [
            f"@__HOSTCALL__{wire.name} = weak addrspace(1) externally_initialized global i32 0, align 4",
            f"@__HOSTCALL_SIGNATURE__{wire.name} = weak addrspace(1) externally_initialized global {signature} "
            f"{{ i64 {wire.signature}, [{room} x i8] {_bytes(text, room)} }}, align 8",
            f"@hostcall_spoken_{wire.name} = private unnamed_addr constant [{len(spoken) + 1} x i8] {_bytes(spoken, len(spoken) + 1)}",
        ]
    )


def _bytes(text: bytes, room: int) -> str:
    """An array with ``text`` and zeros behind it."""
    return 'c"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.ljust(room, b"\0")) + '"'


def _client(wire: Wire) -> tuple[str, str]:
    """The client's function, and its declaration."""
    units = sum(argument.units for argument in wire.arguments)
    if wire.result is None:
        name = f"hostcall_post_{units}"
        return name, f"i64 @{name}(ptr, {_PARAMETERS})"
    name = f"hostcall_call_{units}_{wire.result.units}"
    return name, f"i64 @{name}(ptr, ptr, {_PARAMETERS})"


def _function(wire: Wire) -> str:
    value = wire.result if wire.result is not None and wire.result.kind == "scalar" else None
    returned = "i1" if value is None else _llvm(value)
    parameters = [f"{_llvm(argument)} %a{at}" for at, argument in enumerate(wire.arguments)]
    lines, units = [], []
    for at, argument in enumerate(wire.arguments):
        code, made = _put(argument, at)
        lines += code
        units += made
    given = ", ".join(f"i32 {unit}" for unit in units + ["0"] * (_UNITS - len(units)))
    word = f"ptr addrspacecast (ptr addrspace(1) @__HOSTCALL__{wire.name} to ptr)"
    room = "" if wire.result is None else "ptr %room, "
    got = [] if value is None else _get(value)
    result = "true" if value is None else "%value"
    body = [
        "%room = alloca [2 x i32], align 8",
        "br i1 %mask, label %call, label %skipped",
        "call:",
        *lines,
        f"%end = call i64 @{_client(wire)[0]}({word}, {room}{given}) #0",
        "%good = icmp eq i64 %end, 0",
        "br i1 %good, label %done, label %failed",
        "failed:",
        f"call void @hostcall_failed(i64 %end, ptr @hostcall_spoken_{wire.name}) #0",
        "unreachable",
        "done:",
        *got,
        f"ret {returned} {result}",
        "skipped:",
        f"ret {returned} %other",
    ]
    text = "".join(f"{'' if line.endswith(':') else '  '}{line}\n" for line in body)
    head = ", ".join([*parameters, "i1 %mask", f"{returned} %other"])
    return f"define {returned} @{symbol(wire)}({head}) #1 {{\n{text}}}"


def _put(argument: Type, at: int) -> tuple[list[str], list[str]]:
    """Makes units of parameter ``at``."""
    name, llvm = f"%a{at}", _llvm(argument)
    if argument.units == 2:
        lines = [] if llvm == "i64" else [f"%w{at} = bitcast {llvm} {name} to i64"]
        wide = name if llvm == "i64" else f"%w{at}"
        lines += [f"%l{at} = trunc i64 {wide} to i32", f"%s{at} = lshr i64 {wide}, 32", f"%h{at} = trunc i64 %s{at} to i32"]
        return lines, [f"%l{at}", f"%h{at}"]
    if llvm == "i32":
        return [], [name]
    return [f"%u{at} = {'bitcast' if llvm == 'float' else 'zext'} {llvm} {name} to i32"], [f"%u{at}"]


def _get(result: Type) -> list[str]:
    """Makes ``%value`` of the units that came."""
    llvm = _llvm(result)
    bits = "i64" if result.units == 2 else "i32"
    lines = [f"%got = load {bits}, ptr %room, align 4"]
    if llvm in ("float", "double"):
        return [*lines, f"%value = bitcast {bits} %got to {llvm}"]
    if llvm == bits:
        return [f"%value = load {bits}, ptr %room, align 4"]
    if llvm == "i1":
        return [*lines, "%value = icmp ne i32 %got, 0"]
    return [*lines, f"%value = trunc i32 %got to {llvm}"]


def _llvm(of: Type) -> str:
    return _LLVM.get(of.text) or f"i{SCALARS[of.text][1] * 8}"
