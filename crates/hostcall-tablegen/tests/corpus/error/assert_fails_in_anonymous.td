// An assertion in an anonymous record.
class A<int x> { assert !gt(x, 0), "positive"; int X = x; }
def D { int Y = A<0>.X; }
