// The first of several errors.
class A { int X = "one"; }
class B { string Y = 2; }
def D : Nothing;
