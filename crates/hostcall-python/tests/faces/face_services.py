"""The services that kernels of these tests call, and what a cubin with calls to them must have."""

import struct
from collections import Counter

import numpy as np

import hostcall as hc


@hc.service(batch=True)
def add42(x: hc.f32) -> hc.f32:
    return x + np.float32(42)


@hc.service
def log(message: str):
    pass


@hc.service
def note(x: hc.u64):
    pass


@hc.service
def nothing() -> hc.unit:
    pass


@hc.service
def small(a: hc.i8, b: hc.u16, yes: hc.bool, letter: hc.char) -> hc.i16:
    return a + b


@hc.service
def wide(a: hc.f64, b: hc.i64) -> hc.f64:
    return a + b


@hc.service
def is_odd(x: hc.u64) -> hc.bool:
    return x % 2 == 1


@hc.service
def split(x: hc.u64) -> hc.tuple(hc.u32, hc.bool):
    return (x >> 32, x % 2 == 1)


@hc.service
def measure(text: str, numbers: hc.slice(hc.f64)) -> hc.f64:
    return len(text) + float(np.sum(numbers))


@hc.service
def fill(value: hc.u16, out: hc.slice_mut(hc.u16)) -> hc.u32:
    out.write(np.full(len(out) // 2, value, np.uint16))
    return len(out)


SERVICES = [add42, log, note, nothing, small, wide, is_odd, split, measure, fill]
SCALAR = [add42, note, nothing, small, wide, is_odd]


def symbols(cubin):
    """The names in an ELF file's symbol table, with the number of times that each is there."""
    assert cubin[:4] == b"\x7fELF"
    at, size, count = struct.unpack_from("<Q", cubin, 40)[0], *struct.unpack_from("<HH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, at + i * size) for i in range(count)]
    found = Counter()
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind != 2:
            continue
        strings = sections[link][4]
        for entry in range(offset, offset + length, 24):
            name = strings + struct.unpack_from("<I", cubin, entry)[0]
            found[cubin[name : cubin.index(b"\0", name)].decode()] += 1
    return found


def assert_is_attachable(cubin, services):
    """The host finds what it patches by name, once each."""
    found = symbols(cubin)
    names = ["__hostcall_device", "__hostcall_abi"]
    for service in services:
        names += [f"__HOSTCALL__{service.definition.name}", f"__HOSTCALL_SIGNATURE__{service.definition.name}"]
    assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
