"""Names where a decorator of this package is used."""

from __future__ import annotations

import inspect
from typing import Any


def local_names() -> dict[str, Any]:
    """The names of the function in which something is defined: annotations may be texts that name them."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("hostcall."):
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else {}
