"""Kernels of Warp, which reads their sources. A module of its own, because a module has one set of options."""

import warp as wp
from face_services import SCALAR

from hostcall import warp as face

add42, note, nothing, small, wide, is_odd = (face.stub(service) for service in SCALAR)
wp.set_module_options({"extra_build_options": face.options(*SCALAR)})


@wp.kernel
def every_scalar(y: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = add42(y[i])
    if is_odd(wp.uint64(i)):
        y[i] = y[i] + wp.float32(small(wp.int8(-3), wp.uint16(7), True, wp.uint32(65)))
    out[i] = wide(wp.float64(2.5), wp.int64(-1))
    nothing()
    note(wp.uint64(i))
