// A step of zero.
def D { list<int> L = !range(0, 4, 0); }
