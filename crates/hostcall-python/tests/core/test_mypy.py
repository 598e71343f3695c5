"""Type checkers take what `bindgen` writes, and programs that use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hostcall as hc

from .conftest import ROOT

USER = """
import numpy as np
import numpy.typing as npt

import hostcall as hc
from services import Host, Particle

@hc.service(Host.step)
def step(p: Particle, seconds: hc.f32) -> Particle:
    return p

@hc.service(Host.add42, batch=True)
def add42(x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return x + np.float32(42)

wrong: int = Host.step
"""


def test_generated_definitions_pass_a_strict_type_checker(tmp_path: Path) -> None:
    (tmp_path / "services.py").write_text(hc.bindings((ROOT / "examples/cuda/services.rs").read_text()))
    (tmp_path / "user.py").write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "services.py", "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    # The one mistake is found: what is generated has types.
    assert done.stdout.splitlines() == [
        'user.py:16: error: Incompatible types in assignment (expression has type "Definition", variable has type "int")  [assignment]',
        "Found 1 error in 1 file (checked 2 source files)",
    ], done.stdout + done.stderr


def test_the_stubs_say_what_the_extension_module_has(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "hostcall._hostcall", "--concise"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (Path(hc.__file__).parent / "py.typed").is_file()
