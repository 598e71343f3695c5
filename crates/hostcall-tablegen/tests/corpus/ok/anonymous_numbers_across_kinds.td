// Numbers of anonymous records go on over all kinds of them.
class P<int x> { int X = x; }
def : P<1>;
def D { P A = P<2>; list<P> B = [P<3>, P<1>]; }
multiclass M { def : P<4>; }
defm : M;
