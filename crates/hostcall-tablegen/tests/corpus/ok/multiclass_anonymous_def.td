// Unnamed records in a multiclass.
class A<int x> { int X = x; }
multiclass M<int x> { def : A<x>; def : A<!add(x, 1)>; }
defm D : M<1>;
