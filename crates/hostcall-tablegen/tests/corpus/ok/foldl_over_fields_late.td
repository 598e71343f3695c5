// Folds over a field that changes later.
class A { list<int> L = [1, 2]; int Sum = !foldl(0, L, a, x, !add(a, x)); list<int> Big = !filter(x, L, !gt(x, 1)); list<int> Sq = !foreach(x, L, !mul(x, x)); }
def D : A { let L = [5, 6, 7]; }
def E : A;
