// The one division that overflows.
def D { int X = !div(-9223372036854775808, -1); }
