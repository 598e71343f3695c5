// Anonymous records as arguments of anonymous records.
class In<int x> { int X = x; } class Out<In i, list<In> l> { In I = i; int S = !foldl(i.X, l, a, e, !add(a, e.X)); }
def D { Out O = Out<In<1>, [In<2>, In<3>]>; int S = O.S; }
