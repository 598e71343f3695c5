"""The package without the others."""

import subprocess
import sys
from importlib.resources import files

import pytest

FACES = {"cupy": "cupy-cuda13x", "cuda_core": "cuda-core[cu13]", "numba": "numba-cuda[cu13]", "triton": "triton", "warp": "warp-lang"}
#: Hides packages, as if they were not installed.
HIDE = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("cupy", "cuda", "numba", "numba_cuda", "triton", "torch", "warp"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hide())
"""


def run(code):
    return subprocess.run([sys.executable, "-c", HIDE + code], capture_output=True, text=True, timeout=60, check=False)


def test_it_imports_and_serves_without_any_of_them():
    done = run('import hostcall as hc\nwith hc.Server("sim"): pass\nprint(sorted(set(sys.modules) & {"cupy", "numba", "triton", "torch", "warp"}))')
    assert (done.stdout, done.stderr, done.returncode) == ("[]\n", "", 0)


@pytest.mark.parametrize("face", FACES)
def test_the_error_names_what_to_install(face):
    done = run(f"import hostcall.{face}")
    assert f"ImportError: hostcall.{face} needs " in done.stderr and f"pip install '{FACES[face]}'" in done.stderr


def test_pytorchs_is_asked_for_when_it_is_used():
    done = run("import hostcall.torch as t\nt.load_inline('x', '', '', services=[], kernel='k')")
    assert "hostcall.torch needs torch" in done.stderr and "pip install 'torch'" in done.stderr


def test_the_wheel_has_both_of_tritons_libraries():
    found = [(files("hostcall") / name).is_file() for name in ("_triton.bc", "_triton_assert.bc")]
    if found == [False, False]:
        pytest.skip("there is no _triton.bc: crates/hostcall-python/triton/build.py makes it")
    assert found == [True, True]
