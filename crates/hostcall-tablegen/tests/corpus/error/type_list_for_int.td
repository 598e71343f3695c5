// A list where an integer belongs.
def D { int X = [1]; }
