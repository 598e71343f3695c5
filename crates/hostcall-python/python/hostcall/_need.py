"""Packages that this one can do without."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, install: str, why: str) -> Any:
    """Imports ``name``, or says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        # What is missing may be something that the package itself needs.
        raise ImportError(f"{why} needs {name}: pip install '{install}' ({error})", name=name) from None
