"""Lanes look keys up in something slow, which is asked for all of them at once."""

import asyncio
import time

import numpy as np

import hostcall as hc


@hc.service
async def lookup(key: hc.u32) -> hc.option[hc.u64]:
    await asyncio.sleep(0.05)  # a database, a web service
    return key * 1000 if key % 3 == 0 else None


KERNEL = """
HOSTCALL_KERNEL(ask, unsigned long long* found, unsigned n) {
    const auto i = (unsigned)hostcall::global_id();
    if (i >= n) return;
    const auto answer = Host::lookup(i);
    found[i] = answer.ok() ? answer.value.value_or(0) : ~0ull;
}
"""


def main() -> None:
    found = np.zeros(320, np.uint64)
    with hc.Server("sim") as server:
        server.register(lookup)
        kernels = hc.sim.Module(KERNEL, [lookup])
        server.attach(kernels)
        began = time.perf_counter()
        kernels.launch("ask", 10, 32, found, len(found))
        server.wait()
        print(f"{len(found)} lookups in {time.perf_counter() - began:.2f} s, {np.count_nonzero(found)} found")


if __name__ == "__main__":
    main()
