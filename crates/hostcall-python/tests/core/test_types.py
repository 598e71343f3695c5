"""Every type of the wire, there and back, with definitions that Rust wrote."""

from __future__ import annotations

import numpy as np
import pytest

import hostcall as hc

from .conftest import ROOT

NAMESPACE: dict[str, object] = {}
exec(hc.bindings((ROOT / "examples/cuda/services.rs").read_text()), NAMESPACE)
Host = NAMESPACE["Host"]


def test_annotations_make_the_definitions_that_rust_has() -> None:
    @hc.service(name="Host::mixed")
    def mixed(a: hc.u8) -> hc.tuple(hc.u8, hc.i64, hc.bool, hc.char):  # type: ignore[valid-type]
        return 0, 0, True, "x"

    @hc.service(name="Host::measure")
    def measure(text: str, numbers: hc.slice[hc.u32]) -> hc.tuple[hc.u32, hc.u64]:  # type: ignore[type-arg]
        return 0, 0

    @hc.service(name="Host::lookup")
    def lookup(key: hc.u64) -> hc.option[hc.u64]:
        return None

    for service in (mixed, measure, lookup):
        theirs = getattr(Host, service.definition.function)
        ours = service.definition
        assert (ours.name, ours.signature, ours.text) == (theirs.name, theirs.signature, theirs.text)
        assert (ours.units, ours.reply_units, ours.takes_var) == (theirs.units, theirs.reply_units, theirs.takes_var)


def test_every_shape_of_argument_and_result_goes_there_and_back() -> None:
    seen = {"notes": 0, "logs": 0, "bytes": 0}

    def per_lane(definition: hc.Definition):  # type: ignore[no-untyped-def]
        return hc.service(definition)

    host = Host

    @per_lane(host.add42)
    def add42(x):
        return x + 42

    @per_lane(host.nothing)
    def nothing():
        return None

    @per_lane(host.sum)
    def sum_(a, b):
        return (a + b) & 0xFFFFFFFFFFFFFFFF

    @per_lane(host.scale)
    def scale(a, b):
        return a * b

    @per_lane(host.mixed)
    def mixed(a):
        return a, -a, a % 2 == 1, chr(ord("a") + a % 26)

    @per_lane(host.lookup)
    def lookup(key):
        return key * key if key % 3 == 0 else None

    @per_lane(host.half)
    def half(n):
        return hc.Ok(n // 2) if n % 2 == 0 else hc.Err(n)

    @per_lane(host.digest)
    def digest(block):
        assert block.shape == (64,) and block.dtype == np.uint8
        return [int(block.sum()), len(block)]

    @per_lane(host.step)
    def step(particle, seconds):
        out = particle.copy()
        out["place"] += np.float32(seconds)
        out["number"] += 1
        return out

    @per_lane(host.measure)
    def measure(text, numbers):
        return len(text.encode()), int(numbers.astype(np.uint64).sum())

    @per_lane(host.echo)
    def echo(data, back):
        back[:] = data
        return int(data.astype(np.uint32).sum())

    @per_lane(host.fill)
    def fill(block, out):
        out[:] = block
        return hc.Ok(len(out)) if block % 2 == 0 else hc.Err(block)

    @per_lane(host.small)
    def small(a, b, yes, letter):
        assert isinstance(yes, bool) and isinstance(letter, str)
        return np.int16(a + b + (ord(letter) if yes else 0))

    @per_lane(host.note)
    def note(value):
        seen["notes"] += value

    @per_lane(host.log)
    def log(message):
        seen["logs"] += 1
        seen["bytes"] += len(message.encode())

    services = [add42, nothing, sum_, scale, mixed, lookup, half, digest, step, measure, echo, fill, small, note, log]
    with hc.Server("sim", stdout="nowhere", stderr="nowhere") as server:
        server.register(*services)
        module = hc.sim.Module(KERNEL, services)
        server.attach(module)
        wrong = np.zeros(64, np.uint32)
        module.launch("types", 2, 32, wrong)
        server.wait()
        assert wrong.tolist() == [0] * 64
    assert seen == {"notes": 64, "logs": 64, "bytes": 64 * len("a lane says: é".encode())}


# Each lane notes in bits which answers were not the right ones.
KERNEL = r"""
static const char TEXT[] = "a lane says: \xc3\xa9";
HOSTCALL_KERNEL(types, unsigned* wrong) {
    const unsigned i = (unsigned)hostcall::global_id();
    unsigned bad = 0, bit = 1;
    auto expect = [&](bool right) { if (!right) bad |= bit; bit <<= 1; };
    expect(Host::add42((float)i).value_or(-1) == (float)i + 42);
    expect(Host::nothing().ok());
    expect(Host::sum(1ull << 63, i).value_or(0) == (1ull << 63) + i);
    expect(Host::scale(-(int)i, 0.5).value_or(1) == -0.5 * i);
    auto mixed = Host::mixed((unsigned char)i);
    expect(mixed.ok() && mixed.value._0 == i && mixed.value._1 == -(long long)i && mixed.value._2 == (i % 2 == 1) && mixed.value._3 == U'a' + i % 26);
    auto found = Host::lookup(i);
    expect(found.ok() && found.value.has == (i % 3 == 0) && (!found.value.has || found.value.value == (hostcall::u64)i * i));
    auto half = Host::half(i);
    expect(half.ok() && half.value.ok == (i % 2 == 0) && (half.value.ok ? half.value.value == i / 2 : half.value.error == i));
    hostcall::array<hostcall::u8, 64> block;
    unsigned sum = 0;
    for (unsigned k = 0; k < 64; k++) { block[k] = (hostcall::u8)(i + k); sum += (hostcall::u8)(i + k); }
    auto digest = Host::digest(block);
    expect(digest.ok() && digest.value[0] == sum && digest.value[1] == 64);
    Particle particle;
    particle.place[0] = 1; particle.place[1] = 2; particle.place[2] = (float)i; particle.mass = 5; particle.number = 1ull << 40 | i;
    auto moved = Host::step(particle, 0.5f);
    expect(moved.ok() && moved.value.place[0] == 1.5f && moved.value.place[2] == (float)i + 0.5f && moved.value.mass == 5 && moved.value.number == (1ull << 40 | i) + 1);
    hostcall::u32 numbers[300];
    for (unsigned k = 0; k < 300; k++) numbers[k] = k + i;
    auto measured = Host::measure(TEXT, hostcall::slice<hostcall::u32>(numbers, 3 + i % 2 * 290));
    hostcall::u64 expected = 0;
    for (unsigned k = 0; k < 3 + i % 2 * 290; k++) expected += k + i;
    expect(measured.ok() && measured.value._0 == sizeof TEXT - 1 && measured.value._1 == expected);
    hostcall::u8 data[200], back[200];
    hostcall::u32 total = 0, returned = 0;
    for (unsigned k = 0; k < 200; k++) { data[k] = (hostcall::u8)(3 * k + i); back[k] = 0; total += data[k]; }
    auto echoed = Host::echo(hostcall::slice<hostcall::u8>(data, 200), hostcall::slice_mut<hostcall::u8>(back, 200, &returned));
    bool same = echoed.ok() && echoed.value == total && returned == 200;
    for (unsigned k = 0; k < 200; k++) same = same && back[k] == data[k];
    expect(same);
    hostcall::u16 filled[5] = {9, 9, 9, 9, 9};
    auto fill = Host::fill(i, hostcall::slice_mut<hostcall::u16>(filled, 5, &returned));
    expect(fill.ok() && filled[4] == i && fill.value.ok == (i % 2 == 0) && (fill.value.ok ? fill.value.value == 5 : fill.value.error == i));
    expect(Host::small((signed char)-5, (unsigned short)i, i % 2 == 0, U'x').value_or(0) == -5 + (int)i + (i % 2 == 0 ? 'x' : 0));
    Host::note(1);
    Host::log(TEXT);
    wrong[i] = bad;
}
"""


def test_batches_have_arrays_of_every_type(server: hc.Server) -> None:
    host = Host

    @hc.service(host.step, batch=True)
    def step(particle, seconds):
        assert particle.dtype.names == ("place", "mass", "number") and seconds.dtype == np.float32
        out = particle.copy()
        out["place"] += seconds[:, None]
        return out

    @hc.service(host.mixed, batch=True)
    def mixed(a):
        assert a.dtype == np.uint8
        return a, -a.astype(np.int64), a % 2 == 1, a.astype(np.uint32) + ord("a")

    @hc.service(host.lookup, batch=True)
    def lookup(key):
        return np.ma.masked_array(key * key, mask=key % 3 != 0)

    @hc.service(host.half, batch=True)
    def half(n):
        out = np.zeros(len(n), half.definition.result.dtype)
        out["is_err"] = n % 2 == 1
        out["value"][n % 2 == 0] = n[n % 2 == 0] // 2
        out["error"][n % 2 == 1] = n[n % 2 == 1]
        return out

    @hc.service(host.measure, batch=True)
    def measure(text, numbers):
        assert isinstance(text, list) and isinstance(numbers, list)
        return np.array([len(t) for t in text], np.uint32), np.array([n.sum() for n in numbers], np.uint64)

    @hc.service(host.echo, batch=True)
    def echo(data, back):
        for given, out in zip(data, back):
            out.write(given[:3])
        return np.array([len(given) for given in data], np.uint32)

    services = [step, mixed, lookup, half, measure, echo]
    module = hc.sim.Module(BATCH_KERNEL, services)
    server.register(*services)
    server.attach(module)
    wrong = np.zeros(320, np.uint32)
    module.launch("types", 10, 32, wrong)
    server.wait()
    assert wrong.tolist() == [0] * 320


BATCH_KERNEL = r"""
HOSTCALL_KERNEL(types, unsigned* wrong) {
    const unsigned i = (unsigned)hostcall::global_id();
    unsigned bad = 0, bit = 1;
    auto expect = [&](bool right) { if (!right) bad |= bit; bit <<= 1; };
    Particle particle;
    particle.place[0] = 1; particle.place[1] = 2; particle.place[2] = (float)i; particle.mass = 5; particle.number = i;
    auto moved = Host::step(particle, (float)i);
    expect(moved.ok() && moved.value.place[0] == 1.0f + i && moved.value.place[2] == 2.0f * i && moved.value.number == i);
    auto mixed = Host::mixed((unsigned char)(i % 20));
    expect(mixed.ok() && mixed.value._0 == i % 20 && mixed.value._1 == -(long long)(i % 20) && mixed.value._2 == (i % 20 % 2 == 1) && mixed.value._3 == U'a' + i % 20);
    auto found = Host::lookup(i);
    expect(found.ok() && found.value.has == (i % 3 == 0) && (!found.value.has || found.value.value == (hostcall::u64)i * i));
    auto half = Host::half(i);
    expect(half.ok() && half.value.ok == (i % 2 == 0) && (half.value.ok ? half.value.value == i / 2 : half.value.error == i));
    hostcall::u32 numbers[3] = {i, 1, 2};
    auto measured = Host::measure("four", hostcall::slice<hostcall::u32>(numbers, 3));
    expect(measured.ok() && measured.value._0 == 4 && measured.value._1 == i + 3);
    hostcall::u8 data[8] = {1, 2, 3, 4, 5, 6, 7, (hostcall::u8)i}, back[8] = {0, 0, 0, 9, 9, 9, 9, 9};
    hostcall::u32 returned = 0;
    auto echoed = Host::echo(hostcall::slice<hostcall::u8>(data, 8), hostcall::slice_mut<hostcall::u8>(back, 8, &returned));
    expect(echoed.ok() && echoed.value == 8 && returned == 3 && back[2] == 3 && back[3] == 9);
    wrong[i] = bad;
}
"""


def test_numbers_of_128_bits_are_python_s(server: hc.Server) -> None:
    @hc.service
    def work(x: hc.u128, y: hc.i128) -> hc.i128:
        return y - (x >> 64)

    module = hc.sim.Module(
        """HOSTCALL_KERNEL(wide, unsigned* wrong) {
            hostcall::u128 x; x.low = 1; x.high = 5;
            hostcall::i128 y; y.low = 3; y.high = 0;
            auto z = Host::work(x, y);
            *wrong = !(z.ok() && z.value.low == (hostcall::u64)-2 && (long long)z.value.high == -1);
        }""",
        [work],
    )
    server.register(work)
    server.attach(module)
    wrong = np.full(1, 9, np.uint32)
    module.launch("wide", 1, 1, wrong)
    server.wait()
    assert wrong.tolist() == [0]


def test_structs_have_the_layout_that_is_said_or_are_refused() -> None:
    with pytest.raises(hc.InvalidError, match="padding before 'b'"):
        hc.struct("Padded", np.dtype([("a", "u1"), ("b", "<u4")], align=True))
    with pytest.raises(hc.InvalidError, match="no type of the wire"):
        hc.struct("Big", np.dtype([("a", ">u4")]))
    with pytest.raises(hc.InvalidError, match="struct without a name"):
        hc.struct("Outer", np.dtype([("a", [("x", "<u4"), ("unnamed", "<u4")])]))
    point = hc.struct("PointOfTest", np.dtype([("x", "<f4"), ("y", "<f4")]))

    @hc.service
    def move(p: point, by: hc.array(point, 2)) -> point:  # type: ignore[valid-type]
        return p

    assert move.definition.text == "fn(PointOfTest, [PointOfTest; 2]) -> PointOfTest" and move.definition.units == 6


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: hc.service(lambda x: x), "has no annotation"),
        (lambda: hc.service(_with(x=list)), "no type of the wire"),
        (lambda: hc.array(hc.bool, 3), "no array of 3 times bool"),
        (lambda: hc.slice(hc.option(hc.u8)), "no slice of Option<u8>"),
        (lambda: hc.service(name="nothing")(_with(x=hc.u32)), "names no service"),
        (lambda: hc.service(name="host::add")(_with(x=hc.u32)), "camel case"),
        (lambda: hc.service(batch=True, max_batch=0)(_with(x=hc.u32)), "at least one lane"),
    ],
)
def test_what_cannot_be_a_service_is_said(make: object, text: str) -> None:
    with pytest.raises(hc.InvalidError, match=text):
        make()  # type: ignore[operator]


def _with(**annotations: object):  # type: ignore[no-untyped-def]
    def f(x):
        return None

    f.__annotations__ = annotations
    return f
