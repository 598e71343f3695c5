"""A kernel calls a Python function, on the simulator."""

import numpy as np

import hostcall as hc


@hc.service(batch=True)  # called once for all lanes that wait, with arrays
def add42(x: hc.f32) -> hc.f32:
    return x + np.float32(42)


@hc.service  # called for each lane, with Python's values
def log(message: str) -> None:
    print("the kernel says:", message)


KERNEL = """
HOSTCALL_KERNEL(demo, float* y, unsigned long long n) {
    const auto i = hostcall::global_id();
    if (i < n) y[i] = Host::add42(y[i]).value_or(-1);
    if (i == 0) Host::log("the first lane is done");
}
"""


def main() -> None:
    y = np.arange(100, dtype=np.float32)
    with hc.Server("sim") as server:
        server.register(add42, log)
        kernels = hc.sim.Module(KERNEL, [add42, log])
        server.attach(kernels)
        kernels.launch("demo", 4, 32, y, len(y))
        server.wait()
        print(server.stats())
    print(y[:5])


if __name__ == "__main__":
    main()
