"""Notebooks: what is printed belongs to the cell that runs, which IPython says."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable


def at_each_cell(call: Callable[[], None]) -> Callable[[], None]:
    """Has a function called when a cell begins, in its context, if IPython runs in this process. Gives the function that ends this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return lambda: None

    def begins(*_: object) -> None:
        call()

    def end() -> None:
        # Somebody may have taken all such functions off.
        with contextlib.suppress(ValueError):
            shell.events.unregister("pre_run_cell", begins)

    shell.events.register("pre_run_cell", begins)
    return end
