"""What ``pip`` builds the package by: maturin, after a look at the system.

Without it ``pip`` would compile for minutes where nothing can come of it, and end with a compiler's message. Now it ends
at once, with one line. Everything that follows is maturin's.
"""

import importlib.util
from pathlib import Path

import maturin
from maturin import *  # noqa: F403

#: In a checkout and in a source distribution.
SYSTEM = Path(__file__).resolve().parent.parent / "python/hostcall/_system.py"


def look():
    """Ends with one line, if nothing can be built for this system."""
    spec = importlib.util.spec_from_file_location("hostcall_system", SYSTEM)
    system = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(system)
    why = system.unsupported()
    if why is not None:
        raise SystemExit(why)


def get_requires_for_build_wheel(config_settings=None):
    look()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    look()
    return maturin.get_requires_for_build_editable(config_settings)
