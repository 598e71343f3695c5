"""Types that are made of others, as functions: ``hostcall.types.option(hostcall.u64)``.

They are the same as ``hostcall.option`` and so on, which type checkers take for annotations, and will not have called. Files of
``cargo hostcall bindgen --lang python`` use these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _names
from ._types import Type

_ANY: Any = _names

array: Callable[[Type, int], Type] = _ANY.array
tuple: Callable[..., Type] = _ANY.tuple
option: Callable[[Type], Type] = _ANY.option
result: Callable[[Type, Type], Type] = _ANY.result
slice: Callable[[Type], Type] = _ANY.slice
slice_mut: Callable[[Type], Type] = _ANY.slice_mut
