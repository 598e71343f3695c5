"""Calls of kernels in C++ on the simulator, answered by Python."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import hostcall as hc
from hostcall._serving import Serving

ADD = "HOSTCALL_KERNEL(add, float* y, unsigned long long n) { auto i = hostcall::global_id(); if (i < n) y[i] = Host::add42(y[i]).value_or(-1); }"
STATUS = """HOSTCALL_KERNEL(call, unsigned* status, unsigned* detail, unsigned* y, unsigned n) {
    auto i = hostcall::global_id();
    if (i >= n) return;
    auto answer = Host::work(y[i]);
    status[i] = (unsigned)answer.status; detail[i] = answer.detail; y[i] = answer.value_or(0);
}"""
# Statuses of the wire.
OK, HANDLER_FAILED = 0, 3


def call(server: hc.Server, service: hc.Service, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calls `work` from a lane for each value: statuses, details and results."""
    module = hc.sim.Module(STATUS, [service])
    with server.attach(module):
        status, detail, y = np.full(len(values), 99, np.uint32), np.zeros(len(values), np.uint32), values.astype(np.uint32)
        module.launch("call", -(-len(values) // 32), 32, status, detail, y, len(values))
        server.wait()
        return status, detail, y


def test_a_batch_is_answered_by_one_call_with_arrays(server: hc.Server) -> None:
    sizes = []

    @hc.service(batch=True)
    def add42(x: hc.f32) -> hc.f32:
        assert isinstance(x, np.ndarray) and x.dtype == np.float32 and x.ndim == 1
        sizes.append(len(x))
        return x + np.float32(42)

    module = hc.sim.Module(ADD, [add42])
    server.register(add42)
    server.attach(module)
    y = np.arange(1000, dtype=np.float32)
    module.launch("add", 32, 32, y, len(y))
    server.wait()
    assert (y == np.arange(1000) + 42).all()
    assert sum(sizes) == 1000
    assert server.stats()["Host::add42"].calls == 1000


def test_arguments_are_arrays_over_the_memory_of_the_messages(server: hc.Server) -> None:
    seen: list[np.ndarray] = []

    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        seen.append(x)
        assert x.base is not None and not x.flags.owndata
        return x

    server.register(work)
    assert (call(server, work, np.arange(64))[2] == np.arange(64)).all()
    # They are valid for as long as somebody has them.
    gc.collect()
    assert sorted(np.concatenate(seen).tolist()) == list(range(64))


@pytest.mark.parametrize(
    "given, text",
    [
        (None, "TypeError: Host::work(u32) -> u32 returned None: "),
        ("7", "TypeError: Host::work(u32) -> u32 returned '7': "),
        (1 << 40, "returned 1099511627776: 1099511627776 is no u32"),
    ],
)
def test_a_result_that_does_not_fit_is_told_with_the_service_and_what_it_returned(server: hc.Server, given: Any, text: str) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        return given

    server.register(work)
    with pytest.raises(hc.KernelFailed) as failed:
        call(server, work, np.arange(3))
    said = str(failed.value)
    assert text in said and "_serving.py" not in said and "failed in 3 lanes" in said


def test_a_float_that_has_no_room_is_told_and_infinity_goes_through(server: hc.Server) -> None:
    @hc.service
    def big(x: hc.f32) -> hc.f32:
        return 1e300 if x == 0 else float("inf")

    module = hc.sim.Module("HOSTCALL_KERNEL(k, float* y) { *y = Host::big(*y).value_or(-1); }", [big])
    server.register(big)
    server.attach(module)
    y = np.zeros(1, np.float32)
    module.launch("k", 1, 1, y)
    with pytest.raises(hc.KernelFailed, match=r"returned 1e\+300: 1e\+300 is no f32"):
        server.wait()
    y[0] = 1
    module.launch("k", 1, 1, y)
    server.wait()
    assert np.isinf(y[0])


class Watched:
    """A batch that notes the arrays over its memory: Rust's, which is handed over."""

    def __init__(self, batch: Any, given: list[np.ndarray]) -> None:
        self.batch, self.given = batch, given

    def __getattr__(self, name: str) -> Any:
        return getattr(self.batch, name)

    def note(self, memory: np.ndarray) -> np.ndarray:
        assert type(memory.base).__name__ == "PySliceContainer" and not memory.flags.owndata
        self.given.append(memory)
        return memory

    def rows(self) -> np.ndarray:
        return self.note(self.batch.rows())

    def slices(self) -> tuple[np.ndarray, Any]:
        data, places = self.batch.slices()
        return self.note(data), places


def test_no_copy_lies_between_a_batch_s_memory_and_the_arrays_of_its_service(server: hc.Server, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[np.ndarray] = []
    checked: list[str] = []
    columns = Serving.columns
    monkeypatch.setattr(Serving, "columns", lambda self, batch: columns(self, Watched(batch, given)))

    def inside(array: np.ndarray, memory: np.ndarray) -> bool:
        first, last = np.lib.array_utils.byte_bounds(array)
        begin, end = np.lib.array_utils.byte_bounds(memory)
        return begin <= first and last <= end and np.shares_memory(array, memory)

    @hc.service(batch=True)
    def alone(x: hc.u32) -> None:
        (rows,) = given
        assert x.ctypes.data == rows.ctypes.data and x.nbytes == rows.nbytes
        checked.append("alone")

    @hc.service(batch=True)
    def several(x: hc.u64, y: hc.f32, z: hc.array[hc.u16, Literal[4]]) -> None:
        (rows,) = given
        assert (z == [1, 2, 3, 4]).all() and x.tolist() == list(range(32)) and (y == 0.5).all()
        # Side by side: each begins where the one before it ends, in the first row.
        assert [array.ctypes.data - rows.ctypes.data for array in (x, y, z)] == [0, 8, 12] and all(inside(array, rows) for array in (x, y, z))
        assert x.nbytes + y.nbytes + z.nbytes == rows.nbytes
        checked.append("several")

    @hc.service(batch=True)
    def slices(x: hc.slice[hc.u32]) -> None:
        (data,) = given
        assert [part.tolist() for part in x] == [[lane, 7, 9] for lane in range(32)]
        assert all(inside(part, data) for part in x)
        # Each lane's bytes are padded to 16.
        assert [part.ctypes.data - data.ctypes.data for part in x] == [16 * lane for lane in range(32)]
        checked.append("slices")

    kernel = """HOSTCALL_KERNEL(all, unsigned which) {
        const unsigned i = (unsigned)hostcall::global_id();
        hostcall::array<hostcall::u16, 4> z;
        for (unsigned k = 0; k < 4; k++) z[k] = (hostcall::u16)(k + 1);
        hostcall::u32 numbers[3] = {i, 7, 9};
        if (which == 0) Host::alone(i);
        if (which == 1) Host::several(i, 0.5f, z);
        if (which == 2) Host::slices(hostcall::slice<hostcall::u32>(numbers, 3));
    }"""
    services = [alone, several, slices]
    module = hc.sim.Module(kernel, services)
    server.register(*services)
    server.attach(module)
    for which in range(len(services)):
        given.clear()
        module.launch("all", 1, 32, np.uint32(which))
        server.wait()
    assert checked == ["alone", "several", "slices"]


def test_a_lane_is_answered_by_one_call_with_scalars(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        assert type(x) is int
        return x * x

    server.register(work)
    status, _, y = call(server, work, np.arange(40))
    assert (y == np.arange(40) ** 2).all() and not status.any()


def test_a_batch_has_at_most_so_many_lanes_in_whole_messages(server: hc.Server) -> None:
    sizes = []

    @hc.service(batch=True, max_batch=50)
    def work(x: hc.u32) -> hc.u32:
        sizes.append(len(x))
        return x

    server.register(work)
    call(server, work, np.arange(640))
    assert max(sizes) <= 50 and sum(sizes) == 640


def test_lanes_of_a_batch_fail_with_codes_of_their_own(server: hc.Server) -> None:
    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        return hc.Lanes(x * 10, failed=x % 2 == 1, codes=x + 100, message="odd numbers are not wanted")

    server.register(work)
    with pytest.raises(hc.KernelFailed, match="odd numbers are not wanted"):
        call(server, work, np.arange(8))
    module = hc.sim.Module(STATUS, [work])
    server.attach(module, "again")
    status, detail, y = np.zeros(8, np.uint32), np.zeros(8, np.uint32), np.arange(8, dtype=np.uint32)
    module.launch("call", 1, 8, status, detail, y, 8)
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    assert status.tolist() == [OK, HANDLER_FAILED] * 4 and detail[1::2].tolist() == [101, 103, 105, 107] and y[::2].tolist() == [0, 20, 40, 60]
    assert sum(failure.lanes for failure in failed.value.report.handler_failures) == 4
    assert server.report() == failed.value.report


def test_an_exception_fails_its_batch_and_its_traceback_is_in_the_report(server: hc.Server) -> None:
    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        if x.max() > 100:
            raise ValueError("more than a hundred")
        return x + 1

    server.register(work)
    with pytest.raises(hc.KernelFailed) as failed:
        call(server, work, np.array([1, 200]))
    assert "more than a hundred" in str(failed.value) and 'raise ValueError("more than a hundred")' in str(failed.value)
    assert "_serving.py" not in str(failed.value)
    # The server goes on.
    assert call(server, work, np.array([1]))[2].tolist() == [2]


def test_an_exception_fails_its_lane_only(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        if x == 3:
            raise hc.Failure(77, "no threes")
        return 100 // (x - 5)

    server.register(work)
    module = hc.sim.Module(STATUS, [work])
    server.attach(module)
    status, detail, y = np.zeros(8, np.uint32), np.zeros(8, np.uint32), np.arange(8, dtype=np.uint32)
    module.launch("call", 1, 8, status, detail, y, 8)
    with pytest.raises(hc.KernelFailed) as failed:
        server.wait()
    # 0 to 4 give negative numbers, which are no u32; 3 its own code; 5 divides by zero.
    assert status.tolist() == [HANDLER_FAILED] * 6 + [OK] * 2 and detail.tolist() == [1, 1, 1, 77, 1, 1, 0, 0] and y[6:].tolist() == [100, 50]
    for text in ("no threes", "is no u32", "ZeroDivisionError"):
        assert text in str(failed.value)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (lambda x: x[:-1] if len(x) > 1 else np.zeros(2, np.uint32), "an array of shape"),
        (lambda x: x.astype(np.int64), "astype('uint32')"),
        (lambda x: x.astype(np.float64), "values of float64"),
        (lambda x: 7, "returned int, not an array"),
        (lambda x: None, "returned NoneType"),
        (lambda x: hc.Lanes(x, np.zeros(len(x) + 1, bool)), "a mask of"),
    ],
)
def test_results_of_another_shape_or_type_fail_the_batch(server: hc.Server, returned: object, text: str) -> None:
    wrong = True

    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        return returned(x) if wrong else x + 1  # type: ignore[operator]

    server.register(work)
    with pytest.raises(hc.KernelFailed) as failed:
        call(server, work, np.arange(32))
    assert text in str(failed.value)
    # The server goes on.
    wrong = False
    status, _, y = call(server, work, np.arange(32))
    assert not status.any() and (y == np.arange(1, 33)).all()


def test_lists_and_narrower_types_are_results_as_well(server: hc.Server) -> None:
    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        return [3] * len(x) if x[0] == 0 else np.full(len(x), 4, np.uint8)

    server.register(work)
    assert call(server, work, np.array([0]))[2].tolist() == [3]
    assert call(server, work, np.array([1]))[2].tolist() == [4]


def test_results_may_be_strided(server: hc.Server) -> None:
    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        return np.repeat(x, 2)[::2]

    server.register(work)
    assert (call(server, work, np.arange(64))[2] == np.arange(64)).all()


def test_posts_are_handled_before_the_wait_ends(server: hc.Server) -> None:
    noted: list[int] = []
    said: list[str] = []

    @hc.service(batch=True)
    def note(x: hc.u32) -> None:
        noted.extend(x.tolist())

    @hc.service
    def say(text: str, x: hc.u32):  # type: ignore[no-untyped-def]
        said.append(f"{text} {x}")

    module = hc.sim.Module('HOSTCALL_KERNEL(post) { auto i = (unsigned)hostcall::global_id(); Host::note(i); if (i % 50 == 0) Host::say("post", i); }', [note, say])
    server.register(note, say)
    server.attach(module)
    module.launch("post", 10, 32)
    server.wait()
    assert sorted(noted) == list(range(320)) and sorted(said) == sorted(f"post {i}" for i in range(0, 320, 50))


def test_a_post_that_fails_is_in_the_report(server: hc.Server) -> None:
    @hc.service
    def note(x: hc.u32) -> None:
        raise RuntimeError("not noted")

    module = hc.sim.Module("HOSTCALL_KERNEL(post) { Host::note(1); }", [note])
    server.register(note)
    server.attach(module)
    module.launch("post", 1, 4)
    with pytest.raises(hc.KernelFailed, match="not noted") as failed:
        server.wait()
    assert sum(failure.lanes for failure in failed.value.report.handler_failures) == 4


def test_services_come_and_go(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        return x + 1

    server.register(work)
    with pytest.raises(hc.RefusedError, match="Host__work|Host::work"):
        server.register(work)
    assert call(server, work, np.array([1]))[2].tolist() == [2]
    server.unregister(work)
    with pytest.warns(RuntimeWarning, match="nobody has registered Host::work"):
        status, _, _ = call(server, work, np.array([1]))
    assert status.tolist() != [OK]
    server.register(work)
    assert call(server, work, np.array([1]))[2].tolist() == [2]


def test_a_program_with_another_definition_is_refused_by_name(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u32) -> hc.u32:
        return x

    @hc.service(name="Host::work")
    def other(x: hc.u64) -> hc.u32:
        return 0

    module = hc.sim.Module("HOSTCALL_KERNEL(k) { Host::work(1); }", [other])
    server.register(work)
    with pytest.raises(hc.RefusedError) as refused:
        server.attach(module)
    assert "fn(u32) -> u32" in str(refused.value) and "fn(u64) -> u32" in str(refused.value)


def test_what_cannot_be_attached_is_said(server: hc.Server) -> None:
    with pytest.raises(hc.InvalidError, match="no way is known to attach a builtins.object"):
        server.attach(object())
    with pytest.raises(hc.InvalidError, match="cannot be attached to a server of simulator"):
        server.attach_cuda_module(1, "x")
    with pytest.raises(hc.InvalidError, match="null"):
        server.attach_cuda_function(0, "x")


def test_memory_stays_steady_over_many_batches(server: hc.Server) -> None:
    @hc.service(batch=True)
    def work(x: hc.u32) -> hc.u32:
        return x + 1

    server.register(work)
    module = hc.sim.Module("HOSTCALL_KERNEL(many, unsigned n) { for (unsigned i = 0; i < n; i++) Host::work(i); }", [work])
    server.attach(module)

    # Each call of a wave is a batch, or two waves' calls are one. A million of them, by hand:
    # HOSTCALL_TEST_BATCHES=1000000.
    batches = int(os.environ.get("HOSTCALL_TEST_BATCHES", "20000"))

    def run(calls: int) -> tuple[int, int]:
        module.launch("many", 2, 32, calls)
        server.wait()
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return len(gc.get_objects()) + sys.getallocatedblocks(), resident

    run(batches // 10)
    objects, resident = run(batches // 10)
    objects_after, resident_after = run(batches)
    print("grown by", objects_after - objects, "objects and", resident_after - resident, "bytes")
    # Not an object for two hundred batches, nor 100 bytes for each.
    assert objects_after - objects < 100
    assert resident_after - resident < 2 << 20
