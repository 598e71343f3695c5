// The first element, and all others.
def D { list<int> L = [1, 2, 3]; int H = !head(L); list<int> T = !tail(L); list<int> TT = !tail(!tail(L)); list<int> None = !tail([9]); }
