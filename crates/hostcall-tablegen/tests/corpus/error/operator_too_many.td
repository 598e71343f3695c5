// Too many operands.
def D { int X = !sub(1, 2, 3); }
