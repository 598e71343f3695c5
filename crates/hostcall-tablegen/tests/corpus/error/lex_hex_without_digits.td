// `0x` needs digits.
def D { int X = 0x; }
