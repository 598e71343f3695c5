// A `defm` without a name.
class A<int x> { int X = x; }
multiclass M<int x> { def named # x : A<x>; }
defm : M<4>;
