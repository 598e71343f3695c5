"""Streams: what kernels send without an answer, as tables."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hostcall as hc

Point = hc.struct("Point", np.dtype([("x", "<f4"), ("y", "<f4")]))


@hc.stream
class Loss:
    """What a step has come to."""

    step: hc.u32
    value: hc.f32
    parts: hc.array[hc.u16, 2]


@hc.stream(policy="drop")
class Mark:
    number: hc.i64
    at: Point


@hc.service
def go_on() -> hc.unit:
    GATE.wait(60)


GATE = threading.Event()

KERNEL = """
HOSTCALL_KERNEL(train, unsigned steps) {
    const auto i = hostcall::global_id();
    for (unsigned step = 0; step < steps; step++)
        hostcall::send(Loss{step, (float)i, {{(hostcall::u16)step, (hostcall::u16)i}}});
}
HOSTCALL_KERNEL(halted, unsigned steps) {
    for (unsigned step = 0; step < steps; step++) hostcall::send(Loss{step, 0, {}});
    if (hostcall::global_id() == 0) Host::go_on();
    hostcall::send(Loss{steps, 0, {}});
}
HOSTCALL_KERNEL(marks, unsigned count) {
    const auto i = hostcall::global_id();
    for (unsigned n = 0; n < count; n++) hostcall::send(Mark{(long long)i * count + n, {1, 2}});
}
HOSTCALL_KERNEL(fails, unsigned steps) {
    for (unsigned step = 0; step < steps; step++) hostcall::send(Loss{step, 0, {}});
    hostcall::abort("on purpose");
}
"""


@pytest.fixture(scope="module")
def library() -> bytes:
    return hc.sim.compile(KERNEL, [Loss, Mark, go_on])


@pytest.fixture
def module(library: bytes, monkeypatch: pytest.MonkeyPatch) -> hc.sim.Module:
    monkeypatch.setattr(hc.sim, "compile", lambda *_: library)
    return hc.sim.Module(KERNEL, [Loss, Mark, go_on])


def test_every_value_is_a_row_with_who_sent_it(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams()
    server.attach(module)
    module.launch("train", 4, 64, np.uint32(100))
    server.wait()
    table = streams["Loss"].table()
    assert table.num_rows == len(streams[Loss]) == 4 * 64 * 100
    assert table.schema.field("parts").type == pa.list_(pa.field("item", pa.uint16(), nullable=False), 2)
    rows = set(zip(table["workgroup"].to_pylist(), table["value"].to_pylist(), table["step"].to_pylist()))
    assert rows == {(i // 64, float(i), step) for i in range(256) for step in range(100)}
    lanes = np.array(table["value"]).astype(int) % 64 % server.device["wave_size"]
    assert (np.array(table["lane"]) == lanes).all()
    assert table["parts"].to_pylist()[:2] == [[row["step"], int(row["value"])] for row in table.slice(0, 2).to_pylist()]
    # Reading takes nothing.
    assert pa.table(streams["Loss"]).equals(table)
    streams["Loss"].clear()
    assert streams["Loss"].table().num_rows == 0 and streams["Loss"].table().schema.equals(table.schema)


def test_batches_come_while_the_kernel_runs(server: hc.Server, module: hc.sim.Module) -> None:
    GATE.clear()
    server.register(go_on)
    streams = server.streams(Loss, rows=64, period=0.01)
    server.attach(module)
    module.launch("halted", 1, 64, np.uint32(50))
    rows, steps = 0, np.array([], np.uint32)
    for batch in streams["Loss"]:
        assert isinstance(batch, hc.RecordBatch) and len(batch) == batch.num_rows == pa.record_batch(batch).num_rows
        rows += len(batch)
        steps = np.append(steps, batch["step"])
        # Those that wait for the answer keep the kernel: what came before came while it ran.
        if rows >= 64 * 50:
            GATE.set()
    assert GATE.is_set() and rows == 64 * 51
    assert sorted(steps) == sorted(np.repeat(np.arange(51), 64))
    assert streams["Loss"].num_rows == 0, "they were taken"
    server.wait()


def test_columns_of_numbers_are_arrays_of_numpy(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams()
    server.attach(module)
    module.launch("train", 1, 32, np.uint32(1))
    (batch,) = streams["Loss"]
    assert batch["parts"].shape == (32, 2) and batch["parts"].dtype == np.uint16
    assert (batch["parts"][:, 1] == np.arange(32)).all() and batch["value"].dtype == np.float32
    assert batch["after_gap"].dtype == np.bool_
    with pytest.raises(KeyError, match="nothing"):
        batch["nothing"]
    module.launch("marks", 1, 1, np.uint32(1))
    (mark,) = streams["Mark"]
    with pytest.raises(hc.InvalidError, match="take it by pyarrow"):
        mark["at"]


def test_what_is_dropped_is_counted(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams(memory=1, threads=1)
    server.attach(module)
    module.launch("marks", 16, 64, np.uint32(500))
    server.wait()
    counts = streams["Mark"].counts
    messages = 16 * (64 // server.device["wave_size"]) * 500
    assert counts.sent == messages == counts.received + counts.dropped
    assert counts.values == streams["Mark"].num_rows
    assert f"{counts.dropped:,} dropped" in str(counts) and f"<td>{counts.dropped:,}</td>" in counts._repr_html_()
    assert str(counts) in repr(streams)


def test_the_host_chooses_policies_and_messages(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams(policy={"Mark": "block"}, filters=["Loss: groups=1..2"], memory=1, threads=1)
    server.attach(module)
    module.launch("marks", 16, 64, np.uint32(500))
    module.launch("train", 4, 32, np.uint32(3))
    server.wait()
    assert streams["Mark"].counts.dropped == 0 and streams["Mark"].num_rows == 16 * 64 * 500
    assert set(streams["Loss"].table()["workgroup"].to_pylist()) == {1}
    assert streams["Loss"].counts.filtered == 3 * 3 * (32 // server.device["wave_size"])


def test_programs_that_are_attached_already_are_heard(server: hc.Server, module: hc.sim.Module) -> None:
    server.attach(module)
    module.launch("train", 1, 32, np.uint32(5))
    server.wait()
    streams = server.streams()
    module.launch("train", 1, 32, np.uint32(7))
    server.wait()
    assert streams["Loss"].num_rows == 32 * 7


def test_recordings_and_parquet(module: hc.sim.Module, tmp_path: Path) -> None:
    with hc.Server("sim") as server:
        streams = server.streams(record=tmp_path / "run.hcs", parquet=tmp_path / "tables")
        server.attach(module)
        module.launch("train", 2, 32, np.uint32(10))
        server.wait()
        assert streams["Loss"].num_rows == 640
    assert (tmp_path / "run.hcs").read_bytes()[:4] != b"" and (tmp_path / "run.hcs").stat().st_size > 640 * 8
    files = [file for file in (tmp_path / "tables").rglob("*.parquet") if "Loss" in str(file)]
    import pyarrow.parquet

    assert sum(pyarrow.parquet.read_table(file, partitioning=None).num_rows for file in files) == 640
    # What has come outlives the server.
    assert streams["Loss"].table().num_rows == 640 and streams["Loss"].counts.values == 640


def test_a_kernel_that_fails_has_sent_what_it_sent(server: hc.Server, module: hc.sim.Module, caplog: pytest.LogCaptureFixture) -> None:
    streams = server.streams()
    server.attach(module)
    module.launch("fails", 1, 32, np.uint32(4))
    with caplog.at_level(logging.ERROR), pytest.raises(hc.KernelFailed, match="on purpose"):
        server.wait()
    assert streams["Loss"].num_rows == 128 and not caplog.records


def test_what_cannot_be_is_refused(server: hc.Server, module: hc.sim.Module, tmp_path: Path) -> None:
    with pytest.raises(hc.InvalidError, match="latest"):
        server.streams(policy="latest")  # type: ignore[arg-type]
    with pytest.raises(hc.InvalidError):
        server.streams(filters=["Loss: whatever=1"])
    with pytest.raises(hc.StreamError, match="cannot"):
        server.streams(record=tmp_path / "no" / "such" / "directory.hcs")
    streams = server.streams()
    with pytest.raises(hc.InvalidError, match="streams already"):
        server.streams()
    with pytest.raises(hc.NotFoundError, match="no attached program has a stream `Loss`"):
        streams["Loss"]
    with pytest.raises(hc.InvalidError, match="Plain is no stream: decorate it"):
        streams[type("Plain", (), {})]
    with pytest.raises(hc.InvalidError, match="camel case"):
        hc.stream(type("loss", (), {"__annotations__": {"x": hc.f32}}))
    with pytest.raises(hc.InvalidError):
        hc.stream(type("Words", (), {"__annotations__": {"x": hc.str}}))
    with pytest.raises(hc.InvalidError, match="two streams"):
        hc.cuda_source(Loss, Loss)


def test_a_stream_can_be_named_before_its_program_is_attached(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams(Loss)
    assert streams[Loss].counts.sent == 0 and streams.names() == ["Loss"]
    with pytest.raises(hc.InvalidError, match="no attached program"):
        streams[Loss].table()
    server.attach(module)
    assert streams[Loss].table().num_rows == 0


def test_of_rows_that_nobody_takes_the_last_are_kept_and_the_others_counted(server: hc.Server, module: hc.sim.Module) -> None:
    streams = server.streams(keep=1000)
    server.attach(module)
    for _ in range(5):
        module.launch("train", 1, 32, np.uint32(20))
        # What has come by then is a batch, or more.
        server.wait()
    loss = streams[Loss]
    assert loss.counts.values == 3200
    assert 0 < loss.num_rows <= 1000 and loss.num_rows + loss.forgotten == 3200
    table = loss.table()
    assert table.num_rows == loss.num_rows and max(table["step"].to_pylist()) == 19, "the last ones"
    loss.clear()
    assert loss.num_rows == 0 and loss.forgotten == 3200 - table.num_rows
    module.launch("train", 1, 32, np.uint32(3))
    server.wait()
    assert loss.num_rows == 96 and loss.counts.values == 3296
