"""Services: Python functions that kernels call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from ._definition import Argument, Definition, define
from ._errors import InvalidError
from ._scope import local_names
from ._types import Type, Unit, of_annotation

P = ParamSpec("P")
R = TypeVar("R")


class Lanes:
    """What a batch returns if some of its lanes have no result.

    ``values``: what the function would return else; values of failed lanes are not looked at. ``failed``: a mask of bools.
    ``codes``: what failed lanes get, one for all or an array; 1 if it is left out. ``message``: what the report shows. Raises ``InvalidError`` if ``failed`` is no
    mask or ``codes`` are no numbers of 32 bits.
    """

    def __init__(self, values: Any, failed: Any, codes: Any = 1, message: str = "") -> None:
        self.values, self.message = values, message
        self.failed = np.asarray(failed)
        if self.failed.dtype != np.bool_ or self.failed.ndim != 1:
            raise InvalidError(f"`failed` is an array of bools, one for each lane, not of {self.failed.dtype} and shape {self.failed.shape}")
        given = np.asarray(codes)
        if given.dtype.kind not in "iu" or np.any(given < 0) or np.any(given > 0xFFFFFFFF):
            raise InvalidError("`codes` are numbers of 32 bits")
        self.codes = np.broadcast_to(given.astype(np.uint32), self.failed.shape)

    def __repr__(self) -> str:
        return f"<hostcall.Lanes: {int(self.failed.sum())} of {len(self.failed)} failed>"


class Service(Generic[P, R]):
    """A function with its definition: ``hostcall.service``. Called, it is the function."""

    def __init__(self, function: Callable[P, R], definition: Definition, batch: bool, max_batch: int) -> None:
        self.function, self.definition, self.batch, self.max_batch = function, definition, batch, max_batch
        #: Whether it is ``async def``.
        self.is_async = inspect.iscoroutinefunction(function)
        functools.update_wrapper(self, function)

    @property
    def interface(self) -> str:
        """The name of the Rust trait."""
        return self.definition.interface

    @property
    def name(self) -> str:
        """The name as kernels say it: ``Host::add42``."""
        return f"{self.definition.interface}::{self.definition.function}"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        kind = ("async " if self.is_async else "") + ("batch" if self.batch else "per lane")
        return f"<hostcall.Service {self.definition}, {kind}>"


def _of_function(function: Callable[..., Any], name: str | None) -> Definition:
    what = getattr(function, "__name__", "service")
    try:
        signature = inspect.signature(function, locals=local_names(), eval_str=True)
    except NameError as error:
        raise InvalidError(f"{what}: {error}; annotations name types that are there when the function is defined") from error
    arguments = []
    for parameter in signature.parameters.values():
        where = f"parameter {parameter.name!r} of {what}"
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise InvalidError(f"{where}: a service has positional parameters only")
        if parameter.default is not parameter.empty:
            raise InvalidError(f"{where}: a kernel always gives it, so it has no default")
        if parameter.annotation is parameter.empty:
            raise InvalidError(f"{where} has no annotation: say its type, such as `{parameter.name}: hostcall.f32`")
        arguments.append(Argument(parameter.name, of_annotation(parameter.annotation, where)))
    returned = signature.return_annotation
    result = None if returned in (None, signature.empty) else of_annotation(returned, f"the result of {what}")
    return define(name or f"Host::{what}", arguments, result, inspect.getdoc(function) or "")


@overload
def service(function: Callable[P, R], /) -> Service[P, R]: ...


@overload
def service(
    definition: Definition | None = None, /, *, batch: bool = False, name: str | None = None, max_batch: int = 1 << 20
) -> Callable[[Callable[P, R]], Service[P, R]]: ...


def service(
    what: Any = None, /, *, batch: bool = False, name: str | None = None, max_batch: int = 1 << 20
) -> Any:
    """Makes a function a service.

    ``@service``: the function is called for each lane, with Python's scalars, strings and arrays. ``@service(batch=True)``: it is called once for all
    lanes that wait, with an array for each argument, and returns an array. Its annotations say the types; without a result, or with ``None``, it is posted:
    kernels do not wait for it. ``name`` is ``Trait::function``, else ``Host::`` and the function's name. ``max_batch``: the most lanes of a batch.

    ``@service(definition)``: the types are those of a definition that ``cargo hostcall bindgen --lang python`` wrote, and annotations do not count.

    So ``what`` is a function, a definition, or left out. Raises ``InvalidError`` if an annotation is missing or no type of the wire.
    """
    if callable(what) and not isinstance(what, Definition):
        return Service(what, _of_function(what, None), False, max_batch)
    if what is not None and not isinstance(what, Definition):
        raise InvalidError(f"`service` takes a function or a Definition, not {type(what).__name__}")
    if what is not None and name is not None:
        raise InvalidError("a definition has a name already")
    if max_batch < 1:
        raise InvalidError(f"a batch has at least one lane, not {max_batch}")

    def decorate(function: Callable[P, R]) -> Service[P, R]:
        definition = what if what is not None else _of_function(function, name)
        if what is not None:
            count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in inspect.signature(function).parameters.values())
            if count != len(definition.arguments):
                raise InvalidError(f"{definition} has {len(definition.arguments)} arguments, and {function.__name__} takes {count}")
        return Service(function, definition, batch, max_batch)

    return decorate


def is_waited_for_nothing(result: Type | None) -> bool:
    """Whether nothing comes back: of a post, or of ``()``."""
    return result is None or isinstance(result, Unit)
