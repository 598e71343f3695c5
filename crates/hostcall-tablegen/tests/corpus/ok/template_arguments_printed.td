// How template arguments and their defaults are printed.
class R; def r : R;
class A<int a, bit b = 1, bits<3> c = 5, string d = "s", list<int> e = [1], dag f = (r 1), R g = r, code h = [{x}], list<list<string>> i = [["a"]], int j = ?> { int X = a; bits<3> Y = c; }
class B<int x> : A<x, 0, !add(x, 1), j = x> { int Z = x; }
