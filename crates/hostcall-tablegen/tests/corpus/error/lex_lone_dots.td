// Two dots are no token.
def D { list<int> L = [1..2]; }
