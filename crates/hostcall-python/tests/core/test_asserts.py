"""Asserts of kernels that know nothing of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import hostcall as hc

from .conftest import ROOT

SOURCE = r"""
#include <hostcall_assert.cuh>
HOSTCALL_KERNEL(check, unsigned* after, unsigned most, unsigned n) {
  const unsigned i = hostcall::global_id();
  if (i >= n) return;
  assert(i < most);
  after[i] = i + 1;
  printf("%u\n", i);
}
"""


def run(most: int, **options: object) -> np.ndarray:
    after = np.zeros(8, np.uint32)
    module = hc.sim.Module(SOURCE)
    with hc.asserts(module, device="sim", **options):
        module.launch("check", 2, 4, after, most, 8)
    return after


def test_a_failing_assert_is_raised_with_its_values_and_the_lanes_that_failed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(hc.KernelFailed) as raised:
        run(5)
    (panic,) = raised.value.panics
    assert panic.message.startswith("assertion `i < most` failed\n  left: ") and "\n right: 5\n" in panic.message
    assert panic.lanes == 3
    assert sorted(capsys.readouterr().out.split()) == ["0", "1", "2", "3", "4"]


def test_it_is_printed_instead_and_what_holds_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(5, raises=False).tolist() == [1, 2, 3, 4, 5, 0, 0, 0]
    assert "and 2 more lanes: assertion `i < most` failed" in capsys.readouterr().err
    assert run(8).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert capsys.readouterr().err == ""


def test_what_the_block_raises_comes_first() -> None:
    module = hc.sim.Module(SOURCE)
    with pytest.raises(KeyError), hc.asserts(module, device="sim"):
        module.launch("check", 1, 4, np.zeros(8, np.uint32), 0, 4)
        raise KeyError("mine")


@pytest.mark.parametrize("context", [None, 1])
def test_packages_that_compile_are_linked_with_reports_while_the_block_lasts(context: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is a context of CUDA's, and not on the simulator."""
    said: list[str] = []

    @contextmanager
    def link() -> Iterator[None]:
        said.append("linked")
        yield
        said.append("not any more")

    @contextmanager
    def server(device: str | None) -> Iterator[SimpleNamespace]:
        yield SimpleNamespace(device={"context": context}, wait=lambda: said.append("waited"))

    monkeypatch.setattr(hc._asserts, "LINKED", [link])
    monkeypatch.setattr(hc._asserts, "Server", server)
    with hc.asserts():
        said.append("launched")
    assert said == (["launched", "waited"] if context is None else ["linked", "launched", "not any more", "waited"])


def test_the_page_s_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/guide/asserts.md").read_text()
    (section,) = re.findall(r"^## Python\n(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    (program,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    exec(compile(program, "docs/guide/asserts.md", "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("assertion `y[i] >= 0` failed\n  left: -3.0\n right: 0\n") and said.endswith(" 1\n")
