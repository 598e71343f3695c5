// An assertion in a record.
def D { int X = 1; assert !gt(X, 1), "X is " # X; }
