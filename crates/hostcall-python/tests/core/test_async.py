"""Services that are `async def`."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

import hostcall as hc

SOURCE = "HOSTCALL_KERNEL(k, unsigned* y, unsigned n) { auto i = hostcall::global_id(); if (i < n) y[i] = Host::work(y[i]).value_or(99); }"


def run(server: hc.Server, service: hc.Service, count: int) -> np.ndarray:
    module = hc.sim.Module(SOURCE, [service])
    server.register(service)
    server.attach(module)
    y = np.arange(count, dtype=np.uint32)
    module.launch("k", -(-count // 32), 32, y, count)
    return y


def test_lanes_wait_beside_each_other(server: hc.Server) -> None:
    together = 0

    @hc.service
    async def work(x: hc.u32) -> hc.u32:
        nonlocal together
        together += 1
        # Only if all lanes of the message run at once does this end.
        while together < 32:
            await asyncio.sleep(0.001)
        return x + 1

    y = run(server, work, 32)
    server.wait()
    assert (y == np.arange(32) + 1).all()


def test_a_batch_is_one_coroutine(server: hc.Server) -> None:
    threads = set()

    @hc.service(batch=True)
    async def work(x: hc.u32) -> hc.u32:
        threads.add(threading.current_thread().name)
        await asyncio.sleep(0.01)
        return x * 2

    y = run(server, work, 200)
    server.wait()
    assert (y == np.arange(200) * 2).all() and threads == {"hostcall-loop"}


def test_an_exception_fails_its_lane_and_the_loop_goes_on(server: hc.Server) -> None:
    @hc.service
    async def work(x: hc.u32) -> hc.u32:
        await asyncio.sleep(0)
        if x == 5:
            raise ValueError("five")
        return x + 1

    y = run(server, work, 64)
    with pytest.raises(hc.KernelFailed, match="ValueError: five"):
        server.wait()
    assert y[5] == 99 and y.sum() == (np.arange(64) + 1).sum() - 6 + 99


def test_services_run_on_the_loop_that_was_given() -> None:
    async def main() -> None:
        here = asyncio.get_running_loop()
        loops = set()

        @hc.service
        async def work(x: hc.u32) -> hc.u32:
            loops.add(asyncio.get_running_loop())
            return x + 1

        with hc.Server("sim", loop=here, stdout="nowhere") as server:
            y = run(server, work, 40)
            with pytest.raises(hc.HeldLockError, match="to_thread"):
                server.wait()
            await asyncio.to_thread(server.wait)
            assert (y == np.arange(40) + 1).all() and loops == {here}

    asyncio.run(main())


def test_a_loop_that_is_closed_fails_the_calls() -> None:
    loop = asyncio.new_event_loop()
    loop.close()

    @hc.service
    async def work(x: hc.u32) -> hc.u32:
        return x

    with hc.Server("sim", loop=loop, stdout="nowhere") as server:
        run(server, work, 1)
        with pytest.raises(hc.KernelFailed, match="closed"):
            server.wait()
