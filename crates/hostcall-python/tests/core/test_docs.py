"""The examples of the pages, and the files of `examples/`."""

from __future__ import annotations

import io
import re
import runpy
from pathlib import Path

import numpy as np
import pandas
import pytest
import tqdm

import hostcall as hc

from .conftest import CRATE, ROOT


#: Not in those versions of pandas that CPython 3.10 can have.
HAS_FROM_ARROW = hasattr(pandas.DataFrame, "from_arrow")


def blocks() -> list[str]:
    """The blocks of Python of the guide's pages, but those that say they cannot run."""
    page = "".join((ROOT / "docs/guide" / name).read_text() for name in ("python.md", "python-examples.md", "python-streams.md"))
    return [text for what, text in re.findall(r"```python([^\n]*)\n(.*?)```", page, re.DOTALL) if "no-run" not in what and (HAS_FROM_ARROW or "from_arrow" not in text)]


def test_the_page_s_examples_run_in_their_order(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks():
        exec(compile(block, "docs/guide/python*.md", "exec"), namespace)
    assert len(blocks()) >= 4
    said, drawn = capsys.readouterr()
    assert "the kernel says: the first lane is done\n[42. 43. 44.]\n" in said
    assert "100%" in drawn and "1000/1000" in drawn
    if HAS_FROM_ARROW:
        frame = namespace["frame"]
        assert isinstance(frame, pandas.DataFrame) and frame.shape[0] == 12800 and "workgroup" in said
    assert said.endswith("12800 Loss: 400 sent, 400 received, 12,800 values, 0 dropped\n")


@pytest.mark.parametrize("name", [path.stem for path in sorted((ROOT / "examples/python").glob("*.py"))])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "frame" and not HAS_FROM_ARROW:
        pytest.skip(f"pandas {pandas.__version__} has no `DataFrame.from_arrow`")
    runpy.run_path(str(ROOT / "examples/python" / f"{name}.py"), run_name="__main__")
    expected = {
        "add42": "[42. 43. 44. 45. 46.]\n",
        "frame": "12800 rows, the last loss of block 3 is 0.04\n",
        "lookup": "106 found\n",
        "progress": "1000 of 1000 steps\n",
    }
    assert capsys.readouterr().out.endswith(expected[name])


def test_a_bar_moves_while_its_kernel_runs(server: hc.Server) -> None:
    at, seen = np.zeros(1, np.uint32), []

    @hc.service
    def progress(n: hc.u32) -> hc.unit:
        bar.update(n)
        # The kernel waits for this answer, and has made no further step.
        seen.append((bar.n, int(at[0])))

    source = """
    HOSTCALL_KERNEL(work, unsigned* at, unsigned steps) {
        for (unsigned step = 1; step <= steps; step++) {
            *at = step;
            Host::progress(1);
        }
    }
    """
    with tqdm.tqdm(total=20, file=io.StringIO()) as bar:
        server.register(progress)
        kernels = hc.sim.Module(source, [progress])
        server.attach(kernels)
        kernels.launch("work", 1, 1, at, 20)
        server.wait()
    assert seen == [(step, step) for step in range(1, 21)]
