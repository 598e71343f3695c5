"""A service's types as a face needs them: read from the definition's text, which is Rust's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Scalars: NumPy's name, and bytes of a value.
SCALARS = {
    "u8": ("u1", 1), "u16": ("<u2", 2), "u32": ("<u4", 4), "u64": ("<u8", 8), "usize": ("<u8", 8),
    "i8": ("i1", 1), "i16": ("<i2", 2), "i32": ("<i4", 4), "i64": ("<i8", 8), "isize": ("<i8", 8),
    "f32": ("<f4", 4), "f64": ("<f8", 8), "bool": ("?", 1), "char": ("<u4", 4),
}  # fmt: skip


@dataclass(frozen=True)
class Type:
    """What one argument or result is: ``scalar``, ``unit``, ``tuple``, ``str``, ``slice``, ``slice_mut``, or ``other``."""

    kind: str
    text: str
    #: Of a tuple its members, of a slice its element.
    of: tuple[Type, ...] = ()

    @property
    def dtype(self) -> str:
        """NumPy's name of a scalar."""
        return SCALARS[self.text][0]

    @property
    def units(self) -> int:
        """32-bit units of a value on the wire."""
        if self.kind == "scalar":
            return (SCALARS[self.text][1] + 3) // 4
        return sum(member.units for member in self.of)

    @property
    def cpp(self) -> str:
        """The same type in C++, as ``hostcall.cuh`` names it."""
        if self.kind == "scalar":
            return {"bool": "bool", "char": "char32_t", "usize": "::hostcall::u64", "isize": "::hostcall::i64"}.get(
                self.text, f"::hostcall::{self.text}"
            )
        if self.kind == "unit":
            return "::hostcall::unit"
        if self.kind == "tuple":
            return f"::hostcall::tuple<{', '.join(member.cpp for member in self.of)}>"
        return "::hostcall::str" if self.kind == "str" else f"::hostcall::{self.kind}<{self.of[0].cpp}>"


@dataclass(frozen=True)
class Wire:
    """A definition: ``Host__add42`` and what it takes and gives. A ``result`` of None: a message that nobody waits for."""

    name: str
    signature: int
    text: str
    arguments: tuple[Type, ...]
    result: Type | None

    @property
    def spoken(self) -> str:
        """Its name for people: ``Host::add42``."""
        return self.name.replace("__", "::", 1)


def wire(service: Any) -> Wire:
    """What ``service``, or a definition itself, is on the wire."""
    definition = getattr(service, "definition", service)
    arguments, result = signature(definition.text)
    return Wire(definition.name, definition.signature, definition.text, arguments, result)


def signature(text: str) -> tuple[tuple[Type, ...], Type | None]:
    """Reads ``fn(f32, &str) -> (u32, bool)``."""
    inside, _, result = text.removeprefix("fn(").partition(") -> ")
    if not result:
        inside = inside.removesuffix(")")
    return tuple(_type(part) for part in _parts(inside)), _type(result) if result else None


def _type(text: str) -> Type:
    if text in SCALARS:
        return Type("scalar", text)
    if text == "()":
        return Type("unit", text)
    if text == "&str":
        return Type("str", text)
    for begin, kind in (("&[", "slice"), ("&mut [", "slice_mut")):
        if text.startswith(begin) and text.endswith("]"):
            return Type(kind, text, (_type(text[len(begin) : -1]),))
    if text.startswith("(") and text.endswith(")"):
        return Type("tuple", text, tuple(_type(part) for part in _parts(text[1:-1])))
    return Type("other", text)


def _parts(text: str) -> list[str]:
    """Splits at commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]
