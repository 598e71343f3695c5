// A multiclass makes records whose names begin with that of the `defm`.
multiclass M { def _a; def b { int X = 1; } def ""; }
defm Pre : M;
