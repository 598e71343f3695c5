// An index below zero.
def D { list<int> L = [1, 2]; list<int> X = L[-1]; }
