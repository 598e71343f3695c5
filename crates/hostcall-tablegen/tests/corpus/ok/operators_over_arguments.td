// Operators over arguments are folded when the arguments are known.
class A<list<int> l, string s, dag d> { int N = !size(l); string F = !interleave(l, s); dag E = !con(d, d); list<int> T = !tail(l); }
def op;
def D : A<[1, 2, 3], ":", (op 1:$x)>;
