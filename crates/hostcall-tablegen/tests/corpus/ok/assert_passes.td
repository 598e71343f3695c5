// Assertions that hold, at the top, in a class and in a record.
assert !eq(1, 1), "never said";
class A<int x> { assert !gt(x, 0), "x must be positive"; int X = x; assert !lt(X, 10), "X must be small"; }
def D : A<5> { assert !eq(X, 5), "five"; }
