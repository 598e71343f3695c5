// Elements that share no type.
def D { list<int> L = [1, "two"]; }
