"""Kernels of PyTorch's extensions, Triton and CuPy that call Python, for `run-beside`: beside.py torch|triton|cupy

Prints `right` and ends with 0, or says what is wrong. A profiler may run a kernel several times: what is asked is what
the kernel got, and that it called.
"""

import faulthandler
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python/crates/hostcall-python/tests/gpu"))

from gpu_host import SOURCE, Host  # noqa: E402

import hostcall as hc  # noqa: E402

N = 10_000
# What hangs says where.
faulthandler.dump_traceback_later(30)
host = Host()


def with_torch():
    import hostcall.torch as hc_torch
    import torch

    cuda = SOURCE.replace("#include <hostcall_services.cuh>", "") + """
    void run(torch::Tensor y) {
      const unsigned n = (unsigned)y.numel();
      demo<<<(n + 127) / 128, 128>>>(y.data_ptr<float>(), n);
    }
    """
    declared = "#include <torch/extension.h>\nvoid run(torch::Tensor y);"
    module = hc_torch.load_inline("hostcall_beside", declared, cuda, services=host.all, kernel="demo", functions=["run"])
    torch.zeros(1, device="cuda")
    with hc.Server() as server:
        server.register(*host.all)
        server.attach(module)
        y = torch.arange(N, dtype=torch.float32, device="cuda")
        module.run(y)
        server.wait(stream=torch.cuda.current_stream())
        return torch.equal(y, torch.arange(N, dtype=torch.float32, device="cuda") + 42)


if sys.argv[1] == "triton":
    # Triton's kernels name global functions only.
    import hostcall.triton as hc_triton
    import torch
    import triton
    import triton.language as tl

    twice = hc_triton.stub(host.twice)

    @triton.jit
    def lanes(y, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(y + i, twice(i.to(tl.uint32), mask=i % 3 == 0, other=5).to(tl.int32))


def with_triton():
    torch.zeros(1, device="cuda")
    with hc.Server() as server:
        server.register(*host.all)
        y = torch.zeros(512, dtype=torch.int32, device="cuda")
        lanes[(1,)](y, BLOCK=512, extern_libs=hc_triton.libs(host.twice))
        server.wait()
        return y.tolist() == [2 * i if i % 3 == 0 else 5 for i in range(512)]


def with_cupy():
    import cupy as cp
    import hostcall.cupy as hc_cupy

    cp.cuda.runtime.free(0)
    with hc.Server() as server:
        server.register(*host.all)
        module = cp.RawModule(code=SOURCE, options=hc_cupy.options(*host.all))
        server.attach(module)
        y = cp.zeros(256, cp.uint32)
        module.get_function("lanes")((4,), (64,), (y,))
        server.wait()
        return y.get().tolist() == [2 * i for i in range(256)]


right = {"torch": with_torch, "triton": with_triton, "cupy": with_cupy}[sys.argv[1]]()
print("right" if right else "wrong")
sys.exit(not right)
