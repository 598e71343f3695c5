// An argument of a multiclass must be given.
multiclass M<int a> { def _x { int X = a; } }
defm D : M;
