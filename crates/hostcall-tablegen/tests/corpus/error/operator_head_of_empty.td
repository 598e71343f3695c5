// An empty list has no head.
def D { int X = !head([]<int>); }
