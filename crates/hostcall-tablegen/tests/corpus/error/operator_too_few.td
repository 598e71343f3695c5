// Too few operands.
def D { int X = !sub(1); }
