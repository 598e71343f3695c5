"""Other systems get one line: from ``import hostcall``, and from ``pip`` before it compiles."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
import types
from typing import Any

import pytest

from hostcall import _system

from .conftest import CRATE, Run

OTHERS = {
    "macOS": ({"sys.platform": "darwin", "platform.system": "Darwin", "platform.machine": "arm64"}, "Darwin on arm64"),
    "Windows": ({"sys.platform": "win32", "platform.system": "Windows", "platform.machine": "AMD64"}, "Windows on AMD64"),
    "musl": ({"os.confstr": None}, "another C library (musl, in Alpine): take an image with glibc"),
    "RISC-V": ({"platform.machine": "riscv64"}, "Linux on riscv64"),
    "PyPy": ({"platform.python_implementation": "PyPy"}, "This is PyPy"),
}


def pretend(monkeypatch: pytest.MonkeyPatch, system: dict[str, Any]) -> None:
    for name, value in system.items():
        module, attribute = name.split(".")
        of = {"os": os, "platform": platform, "sys": sys}[module]
        if name == "sys.platform":
            monkeypatch.setattr(of, attribute, value)
        elif name == "os.confstr":
            monkeypatch.setattr(of, attribute, refuse)
        else:
            monkeypatch.setattr(of, attribute, lambda value=value: value)


def refuse(name: str) -> str:
    """As with musl."""
    raise OSError(22, "Invalid argument")


@pytest.mark.parametrize("name", OTHERS)
def test_another_system_is_named_in_one_line_with_those_that_are_supported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system, here = OTHERS[name]
    pretend(monkeypatch, system)
    why = _system.unsupported()
    assert why is not None and here in why and _system.SUPPORTED in why and "\n" not in why


def test_this_system_is_supported() -> None:
    assert _system.unsupported() is None


def test_the_package_says_so_before_it_imports_anything_else(python: Run) -> None:
    done = python(
        """
        import sys
        sys.platform = "darwin"
        try:
            import hostcall
        except ImportError as error:
            print(error)
        assert "numpy" not in sys.modules
        """
    )
    assert done.returncode == 0 and done.stdout.startswith("hostcall needs Linux with glibc"), done.stderr


def test_a_build_from_sources_ends_at_once_on_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    # What it passes everything on to, which the tests' environment need not have.
    monkeypatch.setitem(sys.modules, "maturin", types.SimpleNamespace(__all__=[], get_requires_for_build_wheel=lambda settings: ["of maturin"]))  # type: ignore[arg-type]
    spec = importlib.util.spec_from_file_location("hostcall_backend", CRATE / "backend/hostcall_backend.py")
    assert spec is not None and spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    assert backend.get_requires_for_build_wheel() == ["of maturin"]
    pretend(monkeypatch, OTHERS["musl"][0])
    with pytest.raises(SystemExit, match="hostcall needs Linux with glibc.*another C library"):
        backend.get_requires_for_build_wheel()


def test_pip_shows_the_line(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A backend that looks as the real one does, at a system that is not supported; nothing is fetched.
    (tmp_path / "backend").mkdir()
    (tmp_path / "backend/looks.py").write_text(
        f"import sys\nsys.path.insert(0, {str(CRATE / 'python/hostcall')!r})\nimport _system\n_system.sys = type('', (), {{'platform': 'darwin'}})\n"
        "def get_requires_for_build_wheel(settings=None):\n    raise SystemExit(_system.unsupported())\n"
    )
    (tmp_path / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "looks"\nbackend-path = ["backend"]\n')
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--disable-pip-version-check", "-w", str(tmp_path), str(tmp_path)]
    done = subprocess.run(pip, capture_output=True, text=True)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if "hostcall needs Linux with glibc" in line]
    assert done.returncode != 0 and len(lines) == 1, done.stdout + done.stderr
