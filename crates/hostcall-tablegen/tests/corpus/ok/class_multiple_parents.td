// Several parents; the later one overrides a field that both have.
class A<int x> { int X = x; int OnlyA = 1; }
class B<int x> { int X = x; int OnlyB = 2; }
def D : A<1>, B<2>;
