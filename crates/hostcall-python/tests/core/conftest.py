"""What the tests share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hostcall as hc

ROOT = Path(__file__).parents[4]
CRATE = ROOT / "crates/hostcall-python"


def pytest_configure() -> None:
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        pytest.exit(f"the tests compile kernels: there is no {compiler}", returncode=1)


@pytest.fixture
def server() -> Iterator[hc.Server]:
    """A simulator. What nobody has waited for fails the test."""
    with hc.Server("sim", stdout="nowhere", stderr="nowhere") as server:
        yield server


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def python() -> Run:
    """Runs a program of Python's in a process of its own."""

    def run(program: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, **environment},
        )

    return run
