"""A stand-in for the package: types know their units, and a definition's numbers are compared with those of its types."""


class Type:
    def __init__(self, units, size=None, variable=False):
        self.units = units
        self.size = size
        self.variable = variable


def of_bytes(size):
    return Type((size + 3) // 4, size)


u8 = i8 = of_bytes(1)
u16 = i16 = of_bytes(2)
u32 = i32 = f32 = of_bytes(4)
u64 = i64 = f64 = usize = isize = of_bytes(8)
u128 = i128 = of_bytes(16)
bool = char = Type(1)
unit = Type(0)
str = Type(1, variable=True)


class types:
    @staticmethod
    def array(element, count):
        assert element.size and count > 0
        return of_bytes(element.size * count)

    @staticmethod
    def tuple(*types):
        return Type(sum(member.units for member in types))

    @staticmethod
    def option(value):
        return Type(1 + value.units)

    @staticmethod
    def result(value, error):
        return Type(1 + max(value.units, error.units))

    @staticmethod
    def slice(element):
        assert element.size
        return Type(1, variable=True)

    slice_mut = slice


def struct(name, dtype, align):
    assert dtype.itemsize % align == 0
    made = of_bytes(dtype.itemsize)
    made.dtype = dtype
    return made


class Argument:
    def __init__(self, name, type):
        assert name.isidentifier()
        self.name = name
        self.type = type


DEFINITIONS = []


class Definition:
    def __init__(self, *, name, signature, text, arguments, result, takes_var, units, reply_units):
        assert len({argument.name for argument in arguments}) == len(arguments)
        assert takes_var == any(argument.type.variable for argument in arguments), name
        assert units == 2 * takes_var + sum(argument.type.units for argument in arguments), name
        assert reply_units == (None if result is None else result.units), name
        assert text.startswith("fn(")
        DEFINITIONS.append((name, signature))
