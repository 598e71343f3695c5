"""Makes OUTPUT.bc of `core.cu` and OUTPUT_assert.bc of `assert.cu`: `build.py OUTPUT.bc [INCLUDE]`, with clang 22 (`CLANG` names another).

The bitcode is for every NVIDIA GPU from sm_70 on, and for Triton's LLVM to optimise: what clang 22 wrote before any pass, without the marks of
a target and without the module's flags (`nvvm-reflect-ftz` conflicts with Triton's). Triton's LLVM reads bitcode of clang 22 if it is not older.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: No attributes that passes would infer, which differ between versions of LLVM, and no metadata that only they read.
FLAGS = "-std=c++17 -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_75 --cuda-feature=+ptx84 -Wall -Wextra -Werror"
PLAIN = "-O3 -fno-strict-aliasing -fno-ident -Xclang -disable-llvm-passes -Xclang -disable-lifetime-markers -S -emit-llvm"


def main(output, include=HERE.parent.parent.parent / "include"):
    output = Path(output)
    make("core.cu", output, include, without_target)
    make("assert.cu", output.with_stem(f"{output.stem}_assert"), include, lambda text: only_needed(without_target(text)))


def make(source, output, include, change):
    clang = os.environ.get("CLANG", "clang++-22")
    with tempfile.TemporaryDirectory() as directory:
        text = Path(directory, "made.ll")
        run(clang, *FLAGS.split(), *PLAIN.split(), "-I", include, HERE / source, "-o", text)
        text.write_text(change(text.read_text()))
        whole = Path(directory, "made.bc")
        run(clang, "--target=nvptx64-nvidia-cuda", "-x", "ir", "-c", "-emit-llvm", "-Wno-override-module", "-Xclang", "-disable-llvm-passes", text, "-o", whole)
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(whole.read_bytes())


def without_target(text):
    """Takes away what says for which GPU it is, in which directory it was made, and the module's flags."""
    text = re.sub(r'^source_filename = ".*/', 'source_filename = "', text, flags=re.MULTILINE)
    text = re.sub(r' "(target-cpu|target-features|frame-pointer|stack-protector-buffer-size)"="[^"]*"', "", text)
    return re.sub(r"^!llvm\.module\.flags = .*\n", "", text, flags=re.MULTILINE)


def only_needed(text):
    """Takes away the list of what is kept, which a linker adds to every kernel, needed or not. And gives CUDA's `__assertfail` its name: with
    `\\01` LLVM writes a name as it is, and takes it for another than the one without.
    """
    text = re.sub(r"^@llvm\.(compiler\.)?used = .*\n", "", text, flags=re.MULTILINE)
    return text.replace("@hostcall_assertfail_of_cuda(", '@"\\01__assertfail"(')


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
