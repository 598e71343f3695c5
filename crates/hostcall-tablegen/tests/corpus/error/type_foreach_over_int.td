// `!foreach` over an integer.
def D { list<int> L = !foreach(x, 5, x); }
