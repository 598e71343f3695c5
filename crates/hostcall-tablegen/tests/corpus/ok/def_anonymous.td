// Records without a name get one, and are numbered.
class P<int x> { int X = x; }
def : P<1>;
def : P<2>;
def;
