// An empty list has no tail.
def D { list<int> X = !tail([]<int>); }
