"""The programs of the pages ``python-faces.md``, and Triton's of ``asserts.md``, as they are there."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from doc_programs import asserts, program  # noqa: E402

PROGRAMS = {
    "numba": (["Numba"], ["numba", "numba_cuda"], "[42. 43. 44. 45.]"),
    "cupy and cuda.core": (["CuPy", "cuda.core"], ["cupy", "cuda.core"], "[42. 43. 44. 45.]"),
    "triton": (["Triton"], ["torch", "triton"], "tensor([42., 43., 44., 45.]"),
    "warp": (["Warp"], ["warp"], "[42. 43. 44. 45.]"),
    "pytorch": (["PyTorch"], ["torch"], "tensor([42., 43., 44., 45.]"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_runs(name, tmp_path):
    headings, needs, prints = PROGRAMS[name]
    run(program(*headings), needs, prints, tmp_path)


def test_the_program_of_asserts_runs(tmp_path):
    run(asserts(), ["torch", "triton"], "assertion `a row of the table` failed 28", tmp_path)


def run(source, needs, prints, tmp_path):
    for package in needs:
        if importlib.util.find_spec(package.split(".")[0]) is None:
            pytest.skip(f"there is no {package}")
    file = tmp_path / "program.py"
    # numba-cuda 0.30 asks for a name that NumPy 2.5 no longer has.
    file.write_text("import numpy\nnumpy.row_stack = numpy.vstack\n" + source)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    assert prints in done.stdout, done.stdout
