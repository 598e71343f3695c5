#!/bin/sh
# Runs the tests of this directory on a machine with an NVIDIA GPU: run.sh OUT
#
# PYTHON is the interpreter in which the wheel is installed [python3]. Logs go to OUT, and a line for each file to
# standard output. Each file runs in a process of its own with a limit of LIMIT seconds, because a lost device stays
# lost for the process, and a hang is what some of them look for. Fails if a test failed, and if none passed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=$1
python=${PYTHON:-python3}
limit=${LIMIT:-240}
caches=$(mktemp -d)
trap 'rm -rf "$caches"' EXIT
mkdir -p "$out"
HOSTCALL_CACHE=$caches/hostcall
CUPY_CACHE_DIR=$caches/cupy
TRITON_CACHE_DIR=$caches/triton
TORCH_EXTENSIONS_DIR=$caches/torch
PYTHONUNBUFFERED=1
CUDA_MODULE_LOADING=EAGER
export HOSTCALL_CACHE CUPY_CACHE_DIR TRITON_CACHE_DIR TORCH_EXTENSIONS_DIR PYTHONUNBUFFERED CUDA_MODULE_LOADING

passed=0
failed=
for file in "$here"/test_*.py; do
    name=$(basename "$file" .py)
    log=$out/$name.log
    timeout --kill-after=10 "$limit" "$python" -X faulthandler -m pytest -q -p no:cacheprovider -ra --rootdir "$here" "$file" >"$log" 2>&1
    code=$?
    # As "8 passed, 1 skipped in 12.30s".
    said=$(tail -n 1 "$log")
    count=$(echo "$said" | sed -n 's/\(.* \)\{0,1\}\([0-9][0-9]*\) passed.*/\2/p')
    passed=$((passed + ${count:-0}))
    case $code:$said in
    0:*passed*) echo "ok   $name: $said" ;;
    # 5 is pytest's when a file as a whole is skipped.
    0:*skipped* | 5:*skipped*) echo "skip $name: $said" ;;
    *)
        [ $code -eq 124 ] && said="ended after $limit s"
        echo "FAIL $name (exit $code): $said"
        tail -n "${LINES_SHOWN:-25}" "$log"
        failed="$failed $name"
        ;;
    esac
    grep '^SKIPPED' "$log"
done
[ -z "$failed" ] || { echo "$passed tests passed; failed:$failed"; exit 1; }
[ $passed -gt 0 ] || { echo "no test ran"; exit 1; }
echo "$passed tests passed, none failed"
