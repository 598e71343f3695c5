// A value as text.
class A<int v> { int V = v; } def X : A<3>;
def D { string S = !repr([1, 2]); string T = !repr("quoted"); string U = !repr(0b101); string V = !repr(X); }
