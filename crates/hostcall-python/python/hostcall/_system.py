"""Systems that the package is for. It imports nothing else of the package: what builds it asks, too."""

from __future__ import annotations

import os
import platform
import sys

#: What there are wheels for.
SUPPORTED = "Linux with glibc, on x86-64 or AArch64, and CPython 3.10 or newer"


def libc() -> str:
    """The C library by its name; empty if it is not glibc."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""


def unsupported() -> str | None:
    """Why the package does not run here, in one line; None if it does."""
    machine, python = platform.machine(), platform.python_implementation()
    if sys.platform != "linux":
        here, instead = f"{platform.system()} on {machine}", "run it in a container or on another machine"
    elif not libc().startswith("glibc"):
        here, instead = f"Linux on {machine} with another C library (musl, in Alpine)", "take an image with glibc, such as python:3-slim"
    elif machine not in ("x86_64", "aarch64"):
        here, instead = f"Linux on {machine}", "run it on another machine"
    elif python != "CPython":
        here, instead = python, "run it with CPython"
    else:
        return None
    return f"hostcall needs {SUPPORTED}. This is {here}: {instead}."
