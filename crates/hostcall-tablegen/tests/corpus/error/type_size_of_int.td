// An integer has no size.
def D { int X = !size(5); }
