"""Kernels in Triton, which reads their source from a file."""

import triton
import triton.language as tl
from face_services import SCALAR

from hostcall import triton as face

add42, note, nothing, small, wide, is_odd = (face.stub(service) for service in SCALAR)


@triton.jit
def every_scalar(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    y = add42(tl.load(x + i, mask=inside), mask=inside, other=-1)
    note(i.to(tl.uint64), mask=i == 0)
    nothing(mask=i == 1)
    y += small(-3, tl.full((BLOCK,), 7, tl.uint16), inside, 65).to(tl.float32)
    y += wide(y.to(tl.float64), -1).to(tl.float32)
    y += is_odd(i.to(tl.uint64)).to(tl.float32)
    tl.store(x + i, y, mask=inside)


@triton.jit
def too_few_elements(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, add42(tl.load(x + i)))


@triton.jit
def a_scalar(x, BLOCK: tl.constexpr):
    tl.store(x, add42(tl.load(x)))


@triton.jit
def another_type(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, add42(tl.load(x + i).to(tl.float64)))


@triton.jit(debug=True)
def lookup(out, table, index, rows, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(index + i)
    tl.device_assert(row < rows, "a row of the table")
    tl.store(out + i, tl.load(table + row))


@triton.jit(debug=True)
def lookup_and_call(out, table, index, rows, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(index + i)
    tl.device_assert(row < rows)
    tl.device_print("row", row)
    tl.store(out + i, add42(tl.load(table + row)))


@triton.jit
def asserts_nothing(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_print("x", i)
    tl.store(x + i, tl.extra.cuda.libdevice.sinh(tl.load(x + i)))
