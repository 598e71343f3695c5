"""The types of the wire by their names: `hostcall.f32`, `hostcall.slice(hostcall.u8)`.

Type checkers see `Any` in their place: the same annotation means a number in a service that is called per lane, and an array in one that is called per batch.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy.typing as npt

from . import _types

__all__ = [
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "bool",
    "char",
    "unit",
    "str",
    "array",
    "tuple",
    "option",
    "result",
    "slice",
    "slice_mut",
    "struct",
]


def struct(name: builtins.str, dtype: npt.DTypeLike, align: int | None = None) -> Any:
    """A struct of the wire: ``name`` is Rust's, the fields are those of a structured ``dtype``, without padding, little-endian.

    ``align``: its alignment in bytes, if it is not that of its fields. Raises ``InvalidError`` for a dtype that is no struct of the wire.
    """
    return _types.Structure(name, dtype, align)


if TYPE_CHECKING:
    from typing import TypeAlias, Union

    from typing_extensions import TypeVarTuple, Unpack

    _Ts = TypeVarTuple("_Ts")
    _T = TypeVar("_T")
    _E = TypeVar("_E")
    _N = TypeVar("_N")

    u8: TypeAlias = Any
    u16: TypeAlias = Any
    u32: TypeAlias = Any
    u64: TypeAlias = Any
    u128: TypeAlias = Any
    usize: TypeAlias = Any
    i8: TypeAlias = Any
    i16: TypeAlias = Any
    i32: TypeAlias = Any
    i64: TypeAlias = Any
    i128: TypeAlias = Any
    isize: TypeAlias = Any
    f32: TypeAlias = Any
    f64: TypeAlias = Any
    bool: TypeAlias = Any
    char: TypeAlias = Any
    unit: TypeAlias = Any
    str: TypeAlias = Any

    array: TypeAlias = Union[Any, _T, _N]
    tuple: TypeAlias = builtins.tuple[Unpack[_Ts]]
    option: TypeAlias = Union[Any, _T]
    result: TypeAlias = Union[Any, _T, _E]
    slice: TypeAlias = Union[Any, _T]
    slice_mut: TypeAlias = Union[Any, _T]

else:
    globals().update(_types.NUMBERS)
    bool, char, unit, str = _types.BOOL, _types.CHAR, _types.UNIT, _types.STR

    class _Maker:
        """Makes a type of others, by a call or by brackets."""

        def __init__(self, name: builtins.str, make: Callable[..., _types.Type], doc: builtins.str) -> None:
            self._name, self._make, self.__doc__ = name, make, doc

        def __call__(self, *parts: Any) -> _types.Type:
            # The lengths of arrays are numbers, or `Literal[3]` where type checkers look.
            parts = [part if isinstance(part, int) else getattr(part, "__args__", [part])[0] for part in parts]
            given = [part if isinstance(part, int) else _types.of_annotation(part, f"a part of hostcall.{self._name}") for part in parts]
            return self._make(*given)

        def __getitem__(self, parts: Any) -> _types.Type:
            return self(*parts) if type(parts).__name__ == "tuple" else self(parts)

        def __repr__(self) -> builtins.str:
            return f"hostcall.{self._name}"

    _KINDS = "Parts are types of this package, or ``int``, ``float``, ``bool`` and NumPy's scalar types. Others raise ``InvalidError``."
    array = _Maker(
        "array",
        _types.Array,
        f"``hostcall.array[T, N]`` is ``[T; N]``: N numbers, arrays or structs. A service per lane sees an array of the shape ``(N,)``, one per batch of "
        f"``(lanes, N)``. {_KINDS}",
    )
    tuple = _Maker(
        "tuple",
        _types.Tuple,
        f"``hostcall.tuple[A, B]`` is ``(A, B)``, of 1 to 8 parts. A service per lane sees ``tuple``, one per batch a structured array of ``_0``, ``_1`` and "
        f"so on; it may return a tuple of arrays. {_KINDS}",
    )
    option = _Maker(
        "option",
        _types.Option,
        f"``hostcall.option[T]`` is ``Option<T>``. A service per lane sees the value or ``None``, one per batch a structured array of ``has`` and ``value``; "
        f"it may return a masked array. {_KINDS}",
    )
    result = _Maker(
        "result",
        _types.Result,
        f"``hostcall.result[T, E]`` is ``Result<T, E>``. A service per lane sees ``hostcall.Ok(value)`` or ``hostcall.Err(error)``, one per batch a structured "
        f"array of ``is_err``, ``value`` and ``error``. {_KINDS}",
    )
    slice = _Maker(
        "slice",
        _types.Slice,
        f"``hostcall.slice[T]`` is ``&[T]``, as an argument only. A service per lane sees an array, one per batch a list of arrays. {_KINDS}",
    )
    slice_mut = _Maker(
        "slice_mut",
        _types.SliceMut,
        f"``hostcall.slice_mut[T]`` is ``&mut [T]``, as an argument only. A service per lane sees ``hostcall.Out``, which goes back to the lane, one per batch "
        f"a list of them. {_KINDS}",
    )
