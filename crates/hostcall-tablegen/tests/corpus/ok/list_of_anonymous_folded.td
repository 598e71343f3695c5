// Anonymous records in operators.
class P<int x> { int X = x; int Y = !add(x, 1); }
def D { list<P> L = !foreach(i, !range(3), P<i>); list<int> Ys = !foreach(p, L, p.Y); int Sum = !foldl(0, L, a, p, !add(a, p.Y)); }
