"""PyTorch's extensions."""

import pytest
from gpu_host import SOURCE, Host

import hostcall as hc

torch = pytest.importorskip("torch")
extension = pytest.importorskip("torch.utils.cpp_extension")
hc_torch = pytest.importorskip("hostcall.torch")

CUDA = SOURCE.replace("#include <hostcall_services.cuh>", "") + """
void run(torch::Tensor y) {
  const unsigned n = (unsigned)y.numel();
  demo<<<(n + 127) / 128, 128>>>(y.data_ptr<float>(), n);
}
"""


@pytest.fixture(scope="module")
def built():
    if extension.CUDA_HOME is None:
        pytest.skip("there is no nvcc")
    host = Host()
    module = hc_torch.load_inline(
        "hostcall_test", "#include <torch/extension.h>\nvoid run(torch::Tensor y);", CUDA, services=host.all, kernel="demo", functions=["run"]
    )
    return host, module


def test_an_extension_calls_python(built):
    host, module = built
    torch.zeros(1, device="cuda")
    with hc.Server() as server:
        server.register(*host.all)
        server.attach(module)
        y = torch.arange(10_000, dtype=torch.float32, device="cuda")
        module.run(y)
        server.wait(stream=torch.cuda.current_stream())
        assert torch.equal(y, torch.arange(10_000, dtype=torch.float32, device="cuda") + 42)
    assert sum(host.batches) == 10_000 and host.messages == ["the first lane is done"]
