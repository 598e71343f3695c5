"""What compilers of kernels are given: the headers as one file, and a directory with the stubs of some services."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from ._definition import cuda_source
from .sim import include_dir

_INCLUDE = re.compile(r'^\s*#include\s+[<"](hostcall[^>"]*)[>"]\s*$', re.MULTILINE)


@functools.cache
def header() -> str:
    """``hostcall.cuh`` with all its parts in it, for compilers that are given sources and no directories."""
    root = Path(include_dir())
    seen: set[str] = set()

    def expand(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        text = (root / name).read_text(encoding="utf-8").replace("#pragma once\n", "")
        return _INCLUDE.sub(lambda found: expand(found[1]), text)

    return expand("hostcall.cuh")


def whole(*services: Any) -> str:
    """The headers and the stubs of ``services``, as one source without includes."""
    return header() + _INCLUDE.sub("", cuda_source(*services).replace("#pragma once\n", ""))


def directory(*services: Any) -> str:
    """A directory with ``hostcall.cuh`` and ``hostcall_services.cuh``, the stubs of ``services``.

    Its name is a hash of what is in it. So a cache of compiled kernels that looks at options, and not at headers, finds no kernel that was
    compiled with others.
    """
    return str(_keep({"hostcall.cuh": "#pragma once\n" + header(), "hostcall_services.cuh": cuda_source(*services)}))


def kept(name: str, text: str) -> str:
    """A file of this name with this text."""
    return str(_keep({name: text}) / name)


def _keep(files: dict[str, str]) -> Path:
    """A directory with these files, which is named by a hash of them."""
    hashed = hashlib.sha256()
    for name, text in files.items():
        hashed.update(f"{name} {len(text)}\n{text}".encode())
    for root in _roots():
        place = root / hashed.hexdigest()[:32]
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name, text in files.items():
                _write(place / name, text)
        except OSError:
            continue
        return place
    raise OSError("there is no directory for the stubs of services: name one that can be written in HOSTCALL_CACHE")


def _roots() -> list[Path]:
    """Where such directories can be: in the cache of hostcall's tools."""
    named = os.environ.get("HOSTCALL_CACHE")
    if named:
        return [Path(named, "kernels")]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [Path(cache, "hostcall", "kernels"), _of_process()]


@functools.cache
def _of_process() -> Path:
    """Kept for the life of the process, and not shared: its name is not to be guessed."""
    return Path(tempfile.mkdtemp(prefix="hostcall-"))


def _write(file: Path, text: str) -> None:
    """Another process may write the same, and read it, at the same time."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
