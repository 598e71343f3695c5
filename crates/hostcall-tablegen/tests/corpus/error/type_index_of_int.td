// An integer has no elements.
def D { int X = 5; int Y = X[0]; }
