"""Reports of what kernels assert: of modules that were built with ``hostcall_assert.cuh``, and of what Triton compiles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ._errors import KernelFailed
from ._server import Server

#: Blocks in which a package that compiles kernels by itself links them with reports, on NVIDIA GPUs. Modules for such
#: packages add theirs.
LINKED: list[Callable[[], AbstractContextManager[None]]] = []


@contextmanager
def asserts(*modules: Any, device: str | None = None, raises: bool = True, **options: Any) -> Iterator[Server]:
    """Serves what kernels of ``modules`` assert and print, while the block lasts; at its end it waits for them.

    If ``hostcall.triton`` is imported, it serves what kernels assert that Triton launches in the block, too: see ``hostcall.triton.asserts``.

    ``modules``: what ``Server.attach`` takes. ``device`` and ``options``: as for ``Server``. If a check failed it raises ``KernelFailed``; with
    ``raises=False`` it prints the report to ``sys.stderr``. The context stays usable either way. What the block raises itself comes first.
    """
    with Server(device, **options) as server:
        for module in modules:
            server.attach(module)
        with ExitStack() as linked:
            if server.device["context"] is not None:
                for link in LINKED:
                    linked.enter_context(link())
            yield server
        try:
            server.wait()
        except KernelFailed as failed:
            if raises:
                raise
            print(failed, file=sys.stderr)
