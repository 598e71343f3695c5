"""Reports of what kernels in C++ assert, for modules that were built with ``hostcall_assert.cuh``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._errors import KernelFailed
from ._server import Server


@contextmanager
def asserts(*modules: Any, device: str | None = None, raises: bool = True, **options: Any) -> Iterator[Server]:
    """Serves what kernels of ``modules`` assert and print, while the block lasts; at its end it waits for them.

    ``modules``: what ``Server.attach`` takes. ``device`` and ``options``: as for ``Server``. If a check failed it raises ``KernelFailed``; with
    ``raises=False`` it prints the report to ``sys.stderr``. The context stays usable either way. What the block raises itself comes first.
    """
    with Server(device, **options) as server:
        for module in modules:
            server.attach(module)
        yield server
        try:
            server.wait()
        except KernelFailed as failed:
            if raises:
                raise
            print(failed, file=sys.stderr)
