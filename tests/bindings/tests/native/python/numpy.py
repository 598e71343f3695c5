"""A stand-in for NumPy's structured types: offsets and sizes are worked out and compared."""

SIZES = {"u1": 1, "i1": 1, "<u2": 2, "<i2": 2, "<u4": 4, "<i4": 4, "<f4": 4, "<u8": 8, "<i8": 8, "<f8": 8, "V16": 16}


def itemsize(form):
    if isinstance(form, dtype):
        return form.itemsize
    if isinstance(form, tuple):
        base, shape = form
        size = itemsize(base)
        for length in shape:
            size *= length
        return size
    return SIZES[form]


class dtype:
    def __init__(self, fields):
        assert set(fields) == {"names", "formats", "offsets", "itemsize"}
        assert len(set(fields["names"])) == len(fields["names"]) == len(fields["formats"]) == len(fields["offsets"])
        at = 0
        for form, offset in zip(fields["formats"], fields["offsets"]):
            assert offset == at, (fields, at)
            at += itemsize(form)
        assert at == fields["itemsize"]
        self.itemsize = at
        self.names = tuple(fields["names"])
