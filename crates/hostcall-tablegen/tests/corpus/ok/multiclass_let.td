// `let` in and around multiclasses.
class A { int X = 0; int Y = 0; }
multiclass M<int n> { let X = n in { def _a : A; def _b : A { let Y = X; } } }
let Y = 9 in defm D : M<5>;
defm E : M<6>;
