"""Definitions: what both sides of a service must agree on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import _hostcall
from ._errors import InvalidError
from ._message import Message
from ._types import Structure, Type, raw


@dataclass(frozen=True)
class Argument:
    """An argument: its name and its type."""

    name: str
    type: Type


@dataclass(frozen=True, eq=False)
class Definition:
    """A service as it is on the wire. ``cargo hostcall bindgen --lang python`` writes these; ``hostcall.service`` makes them of annotations.

    ``name``: on the wire. ``signature``: a hash of ``text``, its types in Rust; kernels and servers compare it. ``arguments``: each an ``Argument``.
    ``result``: a ``Type``; None if the service is posted. ``takes_var``: whether an argument is a string or slice. ``units``, ``reply_units``: 32-bit units of
    a call and of its answer. ``doc``: its documentation.
    """

    name: str
    signature: int
    text: str
    arguments: tuple[Argument, ...]
    result: Type | None
    takes_var: bool
    units: int
    reply_units: int | None
    doc: str = ""

    @property
    def interface(self) -> str:
        """The name of the Rust trait."""
        return split(self.name)[0]

    @property
    def function(self) -> str:
        """The name of the function in the trait."""
        return split(self.name)[1]

    @property
    def posted(self) -> bool:
        """Whether nobody waits for it."""
        return self.result is None

    def rust(self) -> str:
        """The function in Rust."""
        arguments = ", ".join(f"{raw(argument.name)}: {argument.type.rust}" for argument in self.arguments)
        result = "" if self.result is None else f" -> {self.result.rust}"
        doc = "".join(f"    /// {line}\n".replace(" \n", "\n") for line in self.doc.splitlines())
        return f"{doc}    fn {raw(self.function)}({arguments}){result};\n"

    def structures(self) -> list[Structure]:
        """The structs that it uses, each behind those that it contains."""
        types = [argument.type for argument in self.arguments] + ([] if self.result is None else [self.result])
        return [structure for ty in types for structure in ty.structures()]

    @cached_property
    def defined(self) -> _hostcall.Defined:
        """The same for the extension module, checked."""
        (defined,) = _hostcall.define(source([self]))
        if (defined.units, defined.reply_units) != (self.units, self.reply_units):
            raise InvalidError(f"the definition of {self.name} does not agree with its types: write it by `cargo hostcall bindgen --lang python`")
        return defined.known_as(self.name, self.signature, self.text)

    def __str__(self) -> str:
        return f"{self.interface}::{self.function}{self.text.removeprefix('fn')}"


def split(name: str) -> tuple[str, str]:
    """The trait's and the function's name: of ``Host__add42`` or of ``Host::add42``."""
    interface, separator, function = name.partition("::")
    if not separator:
        interface, separator, function = name.partition("__")
    if not separator or not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", interface) or not function.isidentifier():
        raise InvalidError(f"{name!r} names no service: `Host::add42` does, a trait in camel case and a function")
    return interface, function


def source(definitions: Sequence[Definition], messages: Sequence[Message] = ()) -> str:
    """Definitions in Rust, of services and of streams."""
    structures: dict[str, Structure] = {}
    interfaces: dict[str, list[Definition]] = {}
    parts_of = [*(part.structures() for part in definitions), *(part.structures() for part in messages)]
    for structure in (structure for part in parts_of for structure in part):
        other = structures.setdefault(structure.rust, structure)
        if other.definition() != structure.definition():
            raise InvalidError(f"there are two structs {structure.rust}")
    for definition in definitions:
        interfaces.setdefault(definition.interface, []).append(definition)
    parts = [structure.definition() for structure in structures.values()] + [message.rust() for message in messages]
    for interface, members in interfaces.items():
        parts.append(f"#[hostcall::service]\npub trait {interface} {{\n{''.join(member.rust() for member in members)}}}\n")
    return "\n".join(parts)


def define(name: str, arguments: Sequence[Argument], result: Type | None, doc: str) -> Definition:
    """A definition of types; names, signature and layout come from the code that the Rust macros use."""
    interface, function = split(name)
    draft = Definition(f"{interface}__{function}", 0, "", tuple(arguments), result, False, 0, None, doc)
    (defined,) = _hostcall.define(source([draft]))
    return Definition(
        name=defined.name,
        signature=defined.signature,
        text=defined.text,
        arguments=draft.arguments,
        result=result,
        takes_var=defined.takes_var,
        units=defined.units,
        reply_units=defined.reply_units,
        doc=doc,
    )


def cuda_source(*services: Any, namespace: str | None = None) -> str:
    """The stubs of ``services``, and of streams, for kernels in C++: what ``cargo hostcall bindgen --lang cuda`` writes of the Rust file that corresponds.

    ``namespace``: of C++, around them. Raises ``InvalidError`` if two services or streams have one name.
    """
    messages: list[Message] = [message for message in services if isinstance(message, Message)]
    for service in services:
        if not isinstance(service, Message) and not isinstance(getattr(service, "definition", service), Definition):
            raise InvalidError(f"{service!r} is no service and no stream: decorate it by `@hostcall.service` or `@hostcall.stream`")
    definitions: list[Definition] = [getattr(service, "definition", service) for service in services if not isinstance(service, Message)]
    if len({message.name for message in messages}) < len(messages):
        raise InvalidError("there are two streams of one name")
    if not services:
        return "#pragma once\n#include \"hostcall.cuh\"\n"
    by_name: dict[str, Definition] = {}
    for definition in definitions:
        if by_name.setdefault(definition.name, definition).signature != definition.signature:
            raise InvalidError(f"there are two services {definition.name}")
    text = source(list(by_name.values()), messages)
    for defined in _hostcall.define(source(list(by_name.values()))) if by_name else []:
        definition = by_name[defined.name]
        if defined.signature != definition.signature:
            raise InvalidError(
                f"{definition.name} was written as `{definition.text}`, which has another signature than `{defined.text}`: its stubs come from "
                "`cargo hostcall bindgen --lang cuda` and the Rust file"
            )
    return _hostcall.cuda_source(text, namespace)


def bindings(rust: str) -> str:
    """Definitions in Python of the services in the text ``rust``: what ``cargo hostcall bindgen --lang python`` writes. Raises ``InvalidError``."""
    return _hostcall.python_source(rust)
