// `defvar` in a class and in a record.
class A<int n> { defvar twice = !mul(n, 2); int X = twice; list<int> L = [n, twice]; }
def D : A<4> { defvar own = "o"; string S = own # own; }
