// A `defm` may name several multiclasses.
multiclass M { def _m; } multiclass N<int x> { def _n { int X = x; } }
defm D : M, N<3>;
