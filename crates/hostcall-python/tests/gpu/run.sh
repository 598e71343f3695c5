#!/bin/sh
# Runs the tests of this directory on a machine with an NVIDIA GPU: run.sh WHEEL OUT
#
# WHEEL is hostcall's; nothing else is installed. It goes into a directory of its own. Logs go to OUT, and the end of each to standard output.
# Each file runs in a process of its own with a limit, because a lost device stays lost for the process, and a hang is what some of them look for.
set -u
here=$(cd "$(dirname "$0")" && pwd)
wheel=$1
out=$2
python=${PYTHON:-python3}
site=$(mktemp -d)
mkdir -p "$out"
trap 'rm -rf "$site"' EXIT

"$python" -m pip install --quiet --no-deps --no-index --target "$site" "$wheel" || exit 1
PYTHONPATH=$site${PYTHONPATH:+:$PYTHONPATH}
HOSTCALL_CACHE=$site/cache
CUPY_CACHE_DIR=$site/cupy
TRITON_CACHE_DIR=$site/triton
TORCH_EXTENSIONS_DIR=$site/torch
PYTHONUNBUFFERED=1
CUDA_MODULE_LOADING=EAGER
export PYTHONPATH HOSTCALL_CACHE CUPY_CACHE_DIR TRITON_CACHE_DIR TORCH_EXTENSIONS_DIR PYTHONUNBUFFERED CUDA_MODULE_LOADING

failed=
for file in "$here"/test_*.py; do
    name=$(basename "$file" .py)
    echo "== $name"
    # 124: it hung, and was ended.
    timeout --kill-after=10 "${LIMIT:-180}" "$python" -X faulthandler -m pytest -p no:cacheprovider -ra --rootdir "$here" "$file" >"$out/$name.log" 2>&1
    code=$?
    tail -n "${LINES_SHOWN:-25}" "$out/$name.log"
    [ $code -eq 0 ] || failed="$failed $name($code)"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "all passed"
