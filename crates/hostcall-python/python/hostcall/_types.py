"""Types of the wire: how Rust writes them, and what NumPy and Python see of them.

A value lies in a row of 32-bit units. ``Type.dtype`` is a view of it there, so that a column of arguments is an array over the message's memory.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._errors import InvalidError

Column = npt.NDArray[Any]


class Ok(NamedTuple):
    """The value of a ``Result`` that is one."""

    value: Any = None


class Err(NamedTuple):
    """The error of a ``Result`` that is one."""

    error: Any = None


class Type:
    """A type of the wire."""

    #: What Rust calls it.
    rust: builtins.str
    #: 32-bit units of a value.
    units: int
    #: A value where it lies.
    dtype: np.dtype[Any]
    #: Whether it is its bytes, so that there can be slices of it.
    plain: builtins.bool = False
    #: Whether a list of values is an array of the same numbers.
    scalar: builtins.bool = False

    def to_list(self, column: Column) -> list[Any]:
        """The values of a column, as Python has them."""
        return list(column)

    def encode(self, value: Any) -> Any:
        """A value as ``put`` takes it. Raises ``TypeError`` or ``ValueError`` if it is none."""
        raise NotImplementedError

    def put(self, column: Column, i: int, value: Any) -> None:
        """Writes a ``value`` that was encoded into row ``i`` of a ``column`` of zeros."""
        column[i] = value

    def from_batch(self, given: Any, lanes: int, what: builtins.str) -> Column:
        """The values of all ``lanes`` that ``given`` is, checked; ``what`` is whose result it is, for errors."""
        return checked(given, lanes, self.dtype, what)

    def structures(self) -> list[Structure]:
        """The structs in it, each behind those that it contains."""
        return []

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, Type) and self.rust == other.rust and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.rust)

    def __repr__(self) -> builtins.str:
        return f"<hostcall type {self.rust}>"


def checked(given: Any, lanes: int, dtype: np.dtype[Any], what: builtins.str) -> Column:
    """An array of a value for each lane, with no value changed on the way."""
    base, shape = (dtype.subdtype[0], dtype.subdtype[1]) if dtype.subdtype else (dtype, ())
    if isinstance(given, (list, builtins.tuple)):
        given = np.array(given, dtype=base)
    if not isinstance(given, np.ndarray):
        raise TypeError(f"{what} returned {type(given).__name__}, not an array with a value for each of {lanes} lanes")
    if given.shape != (lanes, *shape):
        raise ValueError(f"{what} returned an array of shape {given.shape}, where {lanes} lanes need {(lanes, *shape)}")
    if given.dtype != base:
        if not np.can_cast(given.dtype, base, "safe"):
            raise TypeError(f"{what} returned values of {given.dtype}, and its result is {base}: convert them by `.astype({base.name!r})`")
        given = given.astype(base)
    found: Column = given
    return found


class Number(Type):
    """A type of numbers."""

    plain = True

    def __init__(self, rust: builtins.str, code: builtins.str) -> None:
        self.rust = rust
        self.dtype = np.dtype(code)
        self.units = -(-self.dtype.itemsize // 4)
        self.wide = code == "V16"
        self.scalar = not self.wide
        self.signed = rust.startswith("i")
        bits = self.dtype.itemsize * 8
        self.floating = self.dtype.kind == "f"
        #: The largest that is not infinite.
        self.largest = float(np.finfo(self.dtype).max) if self.floating else math.inf
        self.least = -(1 << bits - 1) if self.signed else 0
        self.most = (1 << bits - self.signed) - 1
        kind = "a floating-point number" if self.floating else "a signed integer" if self.signed else "an unsigned integer"
        arrays = "bytes, 16 of a value" if self.wide else f"``{self.dtype.name}``"
        python = "float" if self.floating else "int"
        self.__doc__ = f"``{rust}``: {kind} of {bits} bits. A service per lane sees ``{python}``, one per batch an array of {arrays}."

    def to_list(self, column: Column) -> list[Any]:
        if self.wide:
            return [int.from_bytes(value.tobytes(), "little", signed=self.signed) for value in column]
        return column.tolist()  # type: ignore[no-any-return]

    def encode(self, value: Any) -> Any:
        if self.floating:
            if isinstance(value, (builtins.str, bytes)):
                raise TypeError(f"a {self.rust} is a number, not {value!r}")
            number = float(value)
            if self.dtype.itemsize < 8 and math.isfinite(number) and abs(number) > self.largest:
                raise ValueError(f"{number} is no {self.rust}: it has at most {self.largest}")
            return number
        number = operator.index(value)
        if not self.least <= number <= self.most:
            raise ValueError(f"{number} is no {self.rust}")
        return np.void(number.to_bytes(16, "little", signed=self.signed)) if self.wide else number


class Bool(Type):
    rust = "bool"
    units = 1
    dtype = np.dtype("?")
    scalar = True

    def to_list(self, column: Column) -> list[Any]:
        return column.tolist()  # type: ignore[no-any-return]

    def encode(self, value: Any) -> Any:
        if not isinstance(value, (builtins.bool, np.bool_)):
            raise TypeError(f"a bool is True or False, not {value!r}")
        return builtins.bool(value)


class Char(Type):
    rust = "char"
    units = 1
    dtype = np.dtype("<u4")
    scalar = True

    def to_list(self, column: Column) -> list[Any]:
        # What is behind an absent value may be no character.
        return [chr(code) if code < 0x110000 else "\0" for code in column.tolist()]

    def encode(self, value: Any) -> Any:
        if not isinstance(value, builtins.str) or len(value) != 1 or 0xD800 <= ord(value) < 0xE000:
            raise TypeError(f"a char is a string of one character, not {value!r}")
        return ord(value)

    def from_batch(self, given: Any, lanes: int, what: builtins.str) -> Column:
        codes = super().from_batch(given, lanes, what)
        if np.any((codes >= 0x110000) | ((codes >= 0xD800) & (codes < 0xE000))):
            raise ValueError(f"{what} returned codes that are no characters")
        return codes


class Unit(Type):
    rust = "()"
    units = 0
    dtype = np.dtype("V0")

    def to_list(self, column: Column) -> list[Any]:
        return [None] * len(column)

    def encode(self, value: Any) -> Any:
        if value is not None:
            raise TypeError(f"there is no result, and {value!r} was returned")

    def put(self, column: Column, i: int, value: Any) -> None:
        pass

    def from_batch(self, given: Any, lanes: int, what: builtins.str) -> Column:
        if given is not None:
            raise TypeError(f"{what} has no result, and returned {type(given).__name__}")
        return np.zeros(lanes, self.dtype)


class Array(Type):
    plain = True

    def __init__(self, element: Type, count: int) -> None:
        if not element.plain or count < 1:
            raise InvalidError(f"no array of {count} times {element.rust}: elements are numbers, arrays or structs, and at least one")
        self.element, self.count = element, count
        self.rust = f"[{element.rust}; {count}]"
        self.dtype = np.dtype((element.dtype, (count,)))
        self.units = -(-self.dtype.itemsize // 4)

    def encode(self, value: Any) -> Any:
        base = self.dtype.base
        given = np.asarray(value)
        if given.shape != self.dtype.shape:
            raise ValueError(f"a {self.rust} has the shape {self.dtype.shape}, not {given.shape}")
        if given.dtype != base and not np.can_cast(given.dtype, base, "safe"):
            exact = given.astype(base)
            if given.dtype.kind not in "iuf" or not np.array_equal(exact, given):
                raise TypeError(f"values of {given.dtype} are none of {base}")
            return exact
        return given

    def structures(self) -> list[Structure]:
        return self.element.structures()


class Structure(Type):
    """A struct: ``hostcall.struct``."""

    plain = True

    def __init__(self, name: builtins.str, dtype: npt.DTypeLike, align: int | None = None) -> None:
        self.dtype = np.dtype(dtype)
        if not name.isidentifier() or self.dtype.names is None:
            raise InvalidError(f"a struct has a name and a structured dtype, not {name!r} and {dtype!r}")
        self.rust = name
        self.fields: list[tuple[builtins.str, Type]] = []
        used, natural = 0, 1
        for field in self.dtype.names:
            inner, offset = self.dtype.fields[field][:2]  # type: ignore[index]
            if offset != used:
                raise InvalidError(f"struct {name} has padding before {field!r}: order the fields, or add explicit ones")
            used = offset + inner.itemsize
            ty = of_dtype(inner, f"{name}.{field}")
            self.fields.append((field, ty))
            natural = max(natural, _align(ty))
        self.align = natural if align is None else align
        self.packed = self.align < natural
        if used != self.dtype.itemsize or (not self.packed and used % self.align):
            raise InvalidError(f"struct {name} has {self.dtype.itemsize} bytes, its fields {used}: add explicit fields at its end")
        self.units = -(-used // 4)
        listed = ", ".join(f"{field}: {ty.rust}" for field, ty in self.fields)
        self.__doc__ = f"``{name}``, a struct by ``hostcall.struct``: {listed}. A service per lane sees a scalar of its dtype, one per batch an array."
        STRUCTURES.setdefault(_key(self.dtype), self)

    def encode(self, value: Any) -> Any:
        if isinstance(value, dict):
            value = builtins.tuple(value[field] for field in self.dtype.names or ())
        out = np.zeros((), self.dtype)
        out[()] = value
        return out[()]

    def structures(self) -> list[Structure]:
        inner = [structure for _, ty in self.fields for structure in ty.structures()]
        return [*inner, self]

    def definition(self) -> builtins.str:
        """The struct in Rust."""
        packed = "packed" if self.align == 1 else f"packed({self.align})"
        aligned = f"C, align({self.align})" if self.align > 1 else "C"
        fields = "".join(f"    pub {raw(name)}: {ty.rust},\n" for name, ty in self.fields)
        return f"#[derive(hostcall::Plain)]\n#[repr({'C, ' + packed if self.packed else aligned})]\npub struct {self.rust} {{\n{fields}}}\n"


class Tuple(Type):
    def __init__(self, *types: Type) -> None:
        if not 1 <= len(types) <= 8:
            raise InvalidError(f"a tuple has 1 to 8 elements, not {len(types)}")
        self.types = types
        self.rust = f"({', '.join(ty.rust for ty in types)}{',' if len(types) == 1 else ''})"
        self.units = sum(ty.units for ty in types)
        offsets = [sum(ty.units for ty in types[:i]) for i in range(len(types))]
        self.dtype = _row([(f"_{i}", ty, at) for i, (ty, at) in enumerate(zip(types, offsets))], self.units)

    def _columns(self, column: Column) -> list[Column]:
        return [_field(column, f"_{i}", ty) for i, ty in enumerate(self.types)]

    def to_list(self, column: Column) -> list[Any]:
        return list(zip(*(ty.to_list(part) for ty, part in zip(self.types, self._columns(column)))))

    def encode(self, value: Any) -> Any:
        if not isinstance(value, builtins.tuple) or len(value) != len(self.types):
            raise TypeError(f"a {self.rust} is a tuple of {len(self.types)}, not {value!r}")
        return builtins.tuple(ty.encode(part) for ty, part in zip(self.types, value))

    def put(self, column: Column, i: int, value: Any) -> None:
        for ty, part, inner in zip(self.types, self._columns(column), value):
            ty.put(part, i, inner)

    def from_batch(self, given: Any, lanes: int, what: builtins.str) -> Column:
        if not isinstance(given, builtins.tuple):
            return super().from_batch(given, lanes, what)
        if len(given) != len(self.types):
            raise ValueError(f"{what} returned {len(given)} arrays, where {self.rust} needs {len(self.types)}")
        out = np.zeros(lanes, self.dtype)
        for i, (ty, part) in enumerate(zip(self.types, given)):
            values = ty.from_batch(part, lanes, f"element {i} of what {what}")
            if ty.units:
                out[f"_{i}"] = values
        return out

    def structures(self) -> list[Structure]:
        return [structure for ty in self.types for structure in ty.structures()]


class Option(Type):
    def __init__(self, value: Type) -> None:
        self.value = value
        self.rust = f"Option<{value.rust}>"
        self.units = 1 + value.units
        self.dtype = _row([("has", BOOL, 0), ("value", value, 1)], self.units)

    def to_list(self, column: Column) -> list[Any]:
        values = self.value.to_list(_field(column, "value", self.value))
        return [value if has else None for has, value in zip(column["has"].tolist(), values)]

    def encode(self, value: Any) -> Any:
        return None if value is None else (self.value.encode(value),)

    def put(self, column: Column, i: int, value: Any) -> None:
        if value is not None:
            column["has"][i] = True
            self.value.put(_field(column, "value", self.value), i, value[0])

    def from_batch(self, given: Any, lanes: int, what: builtins.str) -> Column:
        if not isinstance(given, np.ma.MaskedArray):
            return super().from_batch(given, lanes, what)
        out = np.zeros(lanes, self.dtype)
        values = self.value.from_batch(given.filled(0), lanes, what)
        has = ~np.ma.getmaskarray(given)
        out["has"] = has
        out["value"][has] = values[has]
        return out

    def structures(self) -> list[Structure]:
        return self.value.structures()


class Result(Type):
    def __init__(self, value: Type, error: Type) -> None:
        self.value, self.error = value, error
        self.rust = f"Result<{value.rust}, {error.rust}>"
        self.units = 1 + max(value.units, error.units)
        self.dtype = _row([("is_err", BOOL, 0), ("value", value, 1), ("error", error, 1)], self.units)

    def to_list(self, column: Column) -> list[Any]:
        values = self.value.to_list(_field(column, "value", self.value))
        errors = self.error.to_list(_field(column, "error", self.error))
        return [Err(error) if is_err else Ok(value) for is_err, value, error in zip(column["is_err"].tolist(), values, errors)]

    def encode(self, value: Any) -> Any:
        if isinstance(value, Ok):
            return Ok(self.value.encode(value.value))
        if isinstance(value, Err):
            return Err(self.error.encode(value.error))
        raise TypeError(f"a {self.rust} is `hostcall.Ok(value)` or `hostcall.Err(error)`, not {value!r}")

    def put(self, column: Column, i: int, value: Any) -> None:
        if isinstance(value, Err):
            column["is_err"][i] = True
            self.error.put(_field(column, "error", self.error), i, value.error)
        else:
            self.value.put(_field(column, "value", self.value), i, value.value)

    def structures(self) -> list[Structure]:
        return [*self.value.structures(), *self.error.structures()]


class Variable(Type):
    """A string or slice: an argument, never a part of a value. In a row there is its length."""

    units = 1
    dtype = np.dtype("<u4")


class Str(Variable):
    rust = "&str"


class Slice(Variable):
    def __init__(self, element: Type) -> None:
        _element(element)
        self.element = element
        self.rust = f"&[{element.rust}]"

    def structures(self) -> list[Structure]:
        return self.element.structures()


class SliceMut(Slice):
    def __init__(self, element: Type) -> None:
        super().__init__(element)
        self.rust = f"&mut [{element.rust}]"


def _element(element: Type) -> None:
    if not element.plain:
        raise InvalidError(f"no slice of {element.rust}: elements are numbers, arrays or structs")


def _row(fields: Sequence[tuple[builtins.str, Type, int]], units: int) -> np.dtype[Any]:
    """A structured dtype of values at units."""
    there = [(name, ty, at) for name, ty, at in fields if ty.units]
    if not there:
        return np.dtype(f"V{units * 4}")
    names, types, places = zip(*there)
    return np.dtype({"names": list(names), "formats": [ty.dtype for ty in types], "offsets": [4 * at for at in places], "itemsize": 4 * units})


def _field(column: Column, name: builtins.str, ty: Type) -> Column:
    return column[name] if ty.units else np.zeros(len(column), ty.dtype)


def _align(ty: Type) -> int:
    if isinstance(ty, Structure):
        return ty.align
    return _align(ty.element) if isinstance(ty, Array) else ty.dtype.itemsize


def _key(dtype: np.dtype[Any]) -> Any:
    return (dtype.itemsize, builtins.str(dtype.descr) if dtype.names else dtype.str, dtype.names)


def _said(ty: Type, doc: builtins.str) -> Type:
    """A type with what `help` shows of it."""
    ty.__doc__ = doc
    return ty


BOOL = _said(Bool(), "``bool``: a truth value. A service per lane sees ``bool``, one per batch an array of ``bool``.")
CHAR = _said(Char(), "``char``: a character. A service per lane sees ``str`` of one character, one per batch an array of ``uint32``, the code points.")
UNIT = _said(Unit(), "``()``: a result that says nothing. Kernels wait for it; they do not wait for a service without a result.")
STR = _said(Str(), "``&str``: a text, as an argument only. A service per lane sees ``str``, one per batch a list of ``str``.")
NUMBERS = {
    name: Number(name, code)
    for name, code in [
        ("u8", "u1"),
        ("u16", "<u2"),
        ("u32", "<u4"),
        ("u64", "<u8"),
        ("u128", "V16"),
        ("usize", "<u8"),
        ("i8", "i1"),
        ("i16", "<i2"),
        ("i32", "<i4"),
        ("i64", "<i8"),
        ("i128", "V16"),
        ("isize", "<i8"),
        ("f32", "<f4"),
        ("f64", "<f8"),
    ]
}
STRUCTURES: dict[Any, Structure] = {}
_OF_DTYPE = {ty.dtype: ty for name, ty in NUMBERS.items() if name not in ("usize", "isize", "i128")}


def of_dtype(dtype: np.dtype[Any], where: builtins.str) -> Type:
    """The type of the wire that a dtype is."""
    if dtype.subdtype:
        inner, shape = dtype.subdtype
        ty = of_dtype(inner, where)
        for count in reversed(shape):
            ty = Array(ty, count)
        return ty
    if dtype.names:
        structure = STRUCTURES.get(_key(dtype))
        if structure is None:
            raise InvalidError(f"{where} is a struct without a name: define it by `hostcall.struct` first")
        return structure
    number = _OF_DTYPE.get(dtype.newbyteorder("<"))
    if number is None or dtype.str.startswith(">"):
        raise InvalidError(f"{where} is of {dtype}, which is no type of the wire: little-endian numbers, arrays and structs of them are")
    return number


def of_annotation(annotation: Any, where: builtins.str) -> Type:
    """The type of the wire that an annotation names."""
    if isinstance(annotation, Type):
        return annotation
    builtin = {builtins.str: STR, builtins.bool: BOOL, int: NUMBERS["i64"], float: NUMBERS["f64"]}
    if isinstance(annotation, type):
        if annotation in builtin:
            return builtin[annotation]
        if annotation is np.bool_:
            return BOOL
        if issubclass(annotation, np.number):
            return of_dtype(np.dtype(annotation), where)
    raise InvalidError(
        f"{where} has the annotation {annotation!r}, which is no type of the wire: hostcall.u32, hostcall.f32, hostcall.str, hostcall.slice(hostcall.u8) "
        "and so on are; str, bool, int (i64) and float (f64) are understood"
    )


_KEYWORDS = frozenset(
    "as break const continue else enum extern false fn for if impl in let loop match mod move mut pub ref return static struct trait true type unsafe "
    "use where while async await dyn abstract become box do final gen macro override priv try typeof unsized virtual yield".split()
)


def raw(name: builtins.str) -> builtins.str:
    """A name as Rust can have it."""
    if name in ("self", "Self", "super", "crate", "_"):
        return name + "_"
    return "r#" + name if name in _KEYWORDS else name
