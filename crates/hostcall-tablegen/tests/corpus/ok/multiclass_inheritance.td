// A multiclass from other multiclasses.
class A<int x> { int X = x; }
multiclass B1<int x> { def _b1 : A<x>; }
multiclass B2 { def _b2 : A<2>; }
multiclass M<int x> : B1<!add(x, 1)>, B2 { def _own : A<x>; }
defm D : M<10>;
