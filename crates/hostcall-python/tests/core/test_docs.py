"""The examples of the pages, and the files of `examples/`."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from .conftest import CRATE, ROOT


def blocks() -> list[str]:
    """The blocks of Python of the guide's pages, but those that say they cannot run."""
    page = "".join((ROOT / "docs/guide" / name).read_text() for name in ("python.md", "python-streams.md"))
    return [text for what, text in re.findall(r"```python([^\n]*)\n(.*?)```", page, re.DOTALL) if "no-run" not in what]


def test_the_page_s_examples_run_in_their_order(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks():
        exec(compile(block, "docs/guide/python*.md", "exec"), namespace)
    assert len(blocks()) >= 4
    said = capsys.readouterr().out
    assert "the kernel says: the first lane is done\n[42. 43. 44.]\n" in said
    assert said.endswith("12800 Loss: 400 sent, 400 received, 12,800 values, 0 dropped\n")


@pytest.mark.parametrize("name", [path.stem for path in sorted((ROOT / "examples/python").glob("*.py"))])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples/python" / f"{name}.py"), run_name="__main__")
    expected = {"add42": "[42. 43. 44. 45. 46.]\n", "lookup": "106 found\n"}
    assert capsys.readouterr().out.endswith(expected[name])
