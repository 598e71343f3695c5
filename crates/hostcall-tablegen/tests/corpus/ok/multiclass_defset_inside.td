// Loops and `if` around a `defm`.
class A<int x> { int X = x; }
multiclass M<int x> { def _m : A<x>; }
foreach i = 0...2 in { if !ne(i, 1) then defm D # i : M<i>; }
