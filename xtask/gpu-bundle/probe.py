"""Kernels of PyTorch's extensions, Triton and CuPy that know nothing of hostcall, for `run-probe`: probe.py torch|triton|cupy

Each writes 64 x 64 numbers transposed, and prints `right` and ends with 0, or says what is wrong.
"""

import faulthandler
import sys

SIDE = 64
SOURCE = """
__global__ void rows(const float *in, float *out, int side) {
  int lane = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = 0; column < side; column++) out[column * side + lane] = in[lane * side + column];
}
"""
# What hangs says where.
faulthandler.dump_traceback_later(40)


def with_torch():
    import torch
    from torch.utils.cpp_extension import load_inline

    cuda = SOURCE + """
    void run(torch::Tensor in, torch::Tensor out) {
      rows<<<2, 32>>>(in.data_ptr<float>(), out.data_ptr<float>(), 64);
    }
    """
    declared = "#include <torch/extension.h>\nvoid run(torch::Tensor in, torch::Tensor out);"
    module = load_inline("probed", declared, cuda, functions=["run"], extra_cuda_cflags=["-lineinfo"])
    a = torch.arange(SIDE * SIDE, dtype=torch.float32, device="cuda").reshape(SIDE, SIDE)
    b = torch.zeros_like(a)
    module.run(a, b)
    return torch.equal(a.T, b)


if sys.argv[1] == "triton":
    # Triton's kernels name global functions only.
    import triton
    import triton.language as tl

    @triton.jit
    def rows(a, b, SIDE: tl.constexpr):
        row = tl.program_id(0)
        column = tl.arange(0, SIDE)
        tl.store(b + column * SIDE + row, tl.load(a + row * SIDE + column))


def with_triton():
    import torch

    a = torch.arange(SIDE * SIDE, dtype=torch.float32, device="cuda").reshape(SIDE, SIDE)
    b = torch.zeros_like(a)
    rows[(SIDE,)](a, b, SIDE=SIDE, num_warps=2)
    return torch.equal(a.T, b)


def with_cupy():
    import cupy as cp

    module = cp.RawModule(code='extern "C" ' + SOURCE.lstrip(), options=("-lineinfo",))
    a = cp.arange(SIDE * SIDE, dtype=cp.float32).reshape(SIDE, SIDE)
    b = cp.zeros_like(a)
    module.get_function("rows")((2,), (32,), (a, b, cp.int32(SIDE)))
    return bool((a.T == b).all())


right = {"torch": with_torch, "triton": with_triton, "cupy": with_cupy}[sys.argv[1]]()
print("right" if right else "wrong")
sys.exit(not right)
