"""Definitions of streams: types whose values kernels send without an answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, overload

from . import _hostcall
from ._errors import InvalidError
from ._scope import local_names
from ._types import Structure, Type, of_annotation, raw

Policy = Literal["block", "drop", "wait", "sample"]


@dataclass(frozen=True)
class Message:
    """A stream as it is on the wire: ``hostcall.stream`` makes these of classes with annotations.

    ``name``: the class's. ``fields``: names and types of a value's parts. ``policy``: what a message does when its ring is full. ``doc``: its documentation.
    """

    name: str
    fields: tuple[tuple[str, Type], ...]
    policy: Policy
    doc: str = ""

    def rust(self) -> str:
        """The struct in Rust."""
        doc = "".join(f"/// {line}".rstrip() + "\n" for line in self.doc.splitlines())
        fields = "".join(f"    pub {raw(name)}: {ty.rust},\n" for name, ty in self.fields)
        head = f'#[hostcall::stream(policy = "{self.policy}")]\n#[derive(Clone, Copy)]\n#[repr(C)]\n'
        return f"{doc}{head}pub struct {self.name} {{\n{fields}}}\n"

    def structures(self) -> list[Structure]:
        """The structs that it uses, each behind those that it contains."""
        return [structure for _, ty in self.fields for structure in ty.structures()]

    def __str__(self) -> str:
        return f"{self.name} {{ {', '.join(f'{name}: {ty.rust}' for name, ty in self.fields)} }}"


#: What names a stream: its definition, or the name. Type checkers take the class that ``stream`` decorates for a class.
Named = Message | str | type[Any]


def name_of(message: Named) -> str:
    """The name of a stream. Raises ``InvalidError`` for a class that is none."""
    if isinstance(message, type):
        raise InvalidError(f"{message.__name__} is no stream: decorate it by `@hostcall.stream`")
    return message.name if isinstance(message, Message) else message


def _of_class(cls: type[Any], policy: Policy) -> Message:
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", cls.__name__):
        raise InvalidError(f"a stream has a name in camel case, such as `Loss`, not `{cls.__name__}`")
    try:
        annotations = inspect.get_annotations(cls, locals=local_names(), eval_str=True)
    except NameError as error:
        raise InvalidError(f"{cls.__name__}: {error}; annotations name types that are there when the class is defined") from error
    fields = tuple((name, of_annotation(ty, f"field {name!r} of {cls.__name__}")) for name, ty in annotations.items())
    doc = cls.__doc__ and inspect.cleandoc(cls.__doc__)
    message = Message(cls.__name__, fields, policy, doc or "")
    parts = {structure.rust: structure.definition() for structure in message.structures()}
    # Its layout is checked by who writes the stubs.
    _hostcall.cuda_source("\n".join([*parts.values(), message.rust()]))
    return message


@overload
def stream(cls: type[Any], /) -> Message: ...


@overload
def stream(*, policy: Policy = "block") -> Callable[[type[Any]], Message]: ...


def stream(cls: Any = None, /, *, policy: Policy = "block") -> Any:
    """Makes a class with annotations a stream: kernels send its values, and nobody answers.

    ``policy``: what a message does when its ring is full. ``"block"`` waits, ``"drop"`` is dropped and counted, ``"wait"`` waits for a millisecond, and of
    ``"sample"`` the fewer are sent the fuller the ring is. Pass it to ``hostcall.sim.Module`` or ``hostcall.cuda_source`` as a service is, and to
    ``Server.streams``. Raises ``InvalidError`` if ``cls`` has another name than one in camel case, or fields of types that are not plain.
    """
    if cls is None:
        return lambda cls: _of_class(cls, policy)
    return _of_class(cls, policy)
