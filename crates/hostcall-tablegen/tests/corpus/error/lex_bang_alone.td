// A bang that names no operator.
def D { int X = !; }
