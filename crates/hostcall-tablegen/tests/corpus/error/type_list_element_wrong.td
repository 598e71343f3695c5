// Elements of another type than the list's.
def D { list<string> L = [1, 2]; }
