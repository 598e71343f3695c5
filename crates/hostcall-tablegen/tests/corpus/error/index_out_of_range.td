// An index beyond the list.
def D { list<int> L = [1, 2]; int X = L[2]; }
