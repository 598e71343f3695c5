"""Kernels of Triton's as PTX, for GPUs that need not be there: `triton_kernels.py DIRECTORY COUNT`."""

import itertools
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend
from triton.compiler import ASTSource

# PTX is all that is wanted of it.
CUDABackend.make_cubin = lambda *_: b""


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside, other=0), mask=inside)


@triton.jit
def softmax(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    row = tl.load(x + at, mask=inside, other=float("-inf")).to(tl.float32)
    row = tl.exp(row - tl.max(row, 0))
    tl.store(out + at, row / tl.sum(row, 0), mask=inside)


@triton.jit
def scan(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        value = tl.load(x + start + at, mask=start + at < n, other=0)
        tl.store(out + start + at, tl.cumsum(value, 0), mask=start + at < n)


@triton.jit
def histogram(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0).to(tl.int32)
    tl.atomic_add(y + (value & 15), 1.0, mask=at < n)
    tl.atomic_max(out + (value & 7), value.to(tl.float32))


@triton.jit
def gather(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(x + at, mask=at < n, other=0).to(tl.int32)
    tl.store(out + at, tl.load(y + where, mask=where < n, cache_modifier=".ca", eviction_policy="evict_last"), mask=at < n)


@triton.jit
def transpose(x, y, out, n, BLOCK: tl.constexpr):
    SIDE: tl.constexpr = 32
    rows, columns = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]
    tile = tl.load(x + rows * n + columns)
    tl.store(out + tl.arange(0, SIDE)[:, None] * n + tl.arange(0, SIDE)[None, :], tl.trans(tile))


@triton.jit
def matmul(x, y, out, n, BLOCK: tl.constexpr):
    SIDE: tl.constexpr = 64
    rows, columns, deep = tl.arange(0, SIDE), tl.arange(0, SIDE), tl.arange(0, 32)
    sum = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for k in range(0, n, 32):
        a = tl.load(x + rows[:, None] * n + k + deep[None, :], mask=(k + deep)[None, :] < n, other=0.0)
        b = tl.load(y + (k + deep)[:, None] * n + columns[None, :], mask=(k + deep)[:, None] < n, other=0.0)
        sum += tl.dot(a, b)
    tl.store(out + rows[:, None] * n + columns[None, :], sum)


@triton.jit
def layer_norm(x, y, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + row * n + start + at, mask=start + at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    for start in range(0, n, BLOCK):
        inside = start + at < n
        value = tl.load(x + row * n + start + at, mask=inside, other=0.0).to(tl.float32) - mean
        tl.store(out + row * n + start + at, value * tl.load(y + start + at, mask=inside), mask=inside)


@triton.jit
def sort(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


KERNELS = [add, softmax, scan, histogram, gather, transpose, matmul, layer_norm, sort]
TYPES = ["fp32", "fp16", "bf16", "i32", "i8", "fp64"]


def main(directory, count):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    made = failed = 0
    shapes = itertools.product([1, 4, 8], [128, 1024, 256], [90, 80, 100, 75], TYPES, KERNELS)
    # More elements for a warp than these take an assembler minutes.
    jobs = [(kernel, kind, arch, block, warps) for warps, block, arch, kind, kernel in shapes if block <= 256 * warps]
    # Neighbours in the list are alike: every so many of them are unlike.
    step = max(1, len(jobs) // count)
    for kernel, kind, arch, block, warps in jobs[::step][:count]:
        second = "fp32" if kernel in (histogram,) else kind
        third = "fp32" if kernel in (histogram, softmax, matmul, layer_norm) else kind
        signature = {"x": f"*{kind}", "y": f"*{second}", "out": f"*{third}", "n": "i32", "BLOCK": "constexpr"}
        attrs = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]], (3,): [["tt.divisibility", 16]]}
        source = ASTSource(fn=kernel, signature=signature, constexprs={"BLOCK": block}, attrs=attrs if warps > 1 else {})
        try:
            compiled = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": warps})
        except Exception as error:  # what it cannot compile is none of ours
            failed += 1
            print(f"not compiled: {kernel.__name__} {kind} sm_{arch}: {str(error).splitlines()[:1]}", file=sys.stderr)
            continue
        (directory / f"{kernel.__name__}-{kind}-sm{arch}-{block}-{warps}.ptx").write_text(compiled.asm["ptx"])
        made += 1
    print(f"triton {triton.__version__}: {made} kernels, {failed} not compiled")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
