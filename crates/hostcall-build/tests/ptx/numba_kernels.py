"""Kernels of Numba's as PTX, for GPUs that need not be there: `numba_kernels.py DIRECTORY COUNT`."""

import itertools
import pathlib
import sys

from numba import cuda, float32, float64, int8, int32, int64, uint16


def copy(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


def columns(x, out):
    i, j = cuda.grid(2)
    if i < x.size and j < out.size:
        out[j] = x[i * 32 % x.size] + out[j]


def tiles(x, out):
    tile = cuda.shared.array(256, int32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    out[i] = tile[255 - i]


def atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, i % 7, x[i])
    cuda.atomic.max(out, i % 5, x[i])


def stacks(x, out):
    own = cuda.local.array(16, int32)
    for k in range(16):
        own[k] = k * x[k]
    out[cuda.grid(1)] = own[out[0] % 16]


def loops(x, out):
    total = 0
    for start in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[start]
        if total > 1000:
            break
    out[cuda.grid(1)] = total


def warps(x, out):
    value = x[cuda.grid(1)]
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 16)
    if cuda.laneid == 0:
        out[cuda.blockIdx.x] = value


def checked(x, out):
    i = cuda.grid(1)
    if x[i] == 0:
        raise ValueError("nothing")
    out[i] = 100 // x[i]


KERNELS = [copy, columns, tiles, atomics, stacks, loops, warps, checked]
TYPES = [int32, float32, float64, int64, uint16, int8]


def main(directory, count):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    made = failed = 0
    jobs = list(itertools.product([(9, 0), (8, 0), (7, 5)], [False, True], TYPES, KERNELS))
    step = max(1, len(jobs) // count)
    for arch, lines, kind, kernel in jobs[::step][:count]:
        try:
            ptx, _ = cuda.compile(kernel, (kind[::1], kind[:]), cc=arch, lineinfo=lines, abi="numba", device=False, debug=False, opt=True)
        except Exception as error:
            failed += 1
            print(f"not compiled: {kernel.__name__} {kind}: {str(error).splitlines()[:1]}", file=sys.stderr)
            continue
        (directory / f"{kernel.__name__}-{kind}-{arch[0]}{arch[1]}-{int(lines)}.ptx").write_text(ptx)
        made += 1
    import numba_cuda

    print(f"numba-cuda {numba_cuda.__version__}: {made} kernels, {failed} not compiled")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
