// An integer has no fields.
def D { int X = 5; int Y = X.Z; }
