// A fold over the fields of records.
class A<int v> { int V = v; }
def D { list<A> L = [A<2>, A<3>]; int Sum = !foldl(0, L, acc, r, !add(acc, r.V)); int Most = !foldl(0, L, acc, r, !if(!gt(r.V, acc), r.V, acc)); }
