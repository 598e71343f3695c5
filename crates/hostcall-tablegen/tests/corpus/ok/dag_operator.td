// Reading and replacing the operator.
class O<int v> { int V = v; } def o1 : O<1>; def o2 : O<2>;
def D { dag A = (o1 1, 2:$x); O Op = !getdagop<O>(A); int V = !getdagop<O>(A).V; dag B = !setdagop(A, o2); dag C = !dag(!getdagop(A), [9], ["n"]); }
